"""Describe the times at which Hookline's plugin in OpenCode asks. They have OpenCode's names of plugin hooks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import rows
from hookline.dialects.family.rows import CALL, EventRow, same
from hookline.model import events as e
from hookline.model.events import Capability
from hookline.model.policy import FAIL_CLOSED

NAME: Final = "opencode"
TIMEOUT: Final = 600.0

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        "session.created": EventRow(e.SESSION_START, {}),
        "chat.message": EventRow(
            e.USER_PROMPT_SUBMIT, same("prompt"), Capability.BLOCK, policy={"block_means": "reject_prompt"},
            remark="ends the run with an error where it is refused",
        ),
        "tool.execute.before": EventRow(
            e.PRE_TOOL_USE, CALL, Capability.BLOCK | Capability.REWRITE, policy={"block_means": "deny_call"}
        ),
        "tool.execute.after": EventRow(
            e.POST_TOOL_USE, {**CALL, **same("tool_response")},
            Capability.BLOCK | Capability.REWRITE | Capability.CONTEXT, policy={"block_means": "beside_output"},
        ),
        "session.idle": EventRow(e.STOP, {}),
    }
)  # fmt: skip


def events() -> Mapping[str, DialectEvent]:
    """Return its events. The plugin throws where it gets no answer, so nothing runs unasked."""
    return rows.dialect_events(ROWS, TIMEOUT, failures=FAIL_CLOSED, block_means="cancel")
