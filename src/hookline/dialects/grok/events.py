"""Describe the events of Grok Build. Its payloads have every key in two spellings."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import rows
from hookline.dialects.family.rows import CALL, EventRow, same
from hookline.model import events as e
from hookline.model.events import Capability
from hookline.model.policy import FAIL_OPEN, BlockLimit

NAME: Final = "grok"
#: Seconds for a hook whose entry does not say, at events with a tool or none; a prompt; others.
TIMEOUT, PROMPT_TIMEOUT, LONG_TIMEOUT = 5.0, 30.0, 600.0
_BLOCK, _CONTEXT = Capability.BLOCK, Capability.CONTEXT
_AGENT = same("agent_id", "agent_type")

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        # It reads no context here, nor with a prompt: the model gets none of it.
        "SessionStart": EventRow(e.SESSION_START, same("source", "model"), exit_2_blocks=False),
        "SessionEnd": EventRow(e.SESSION_END, same("reason"), exit_2_blocks=False),
        "UserPromptSubmit": EventRow(
            e.USER_PROMPT_SUBMIT, same("prompt"), _BLOCK, timeout=PROMPT_TIMEOUT,
            policy={"block_means": "reject_prompt"},
        ),
        "PreToolUse": EventRow(
            e.PRE_TOOL_USE, CALL, _BLOCK | Capability.PERMIT | Capability.REWRITE | _CONTEXT,
            policy={"block_means": "deny_call"},
        ),
        "PostToolUse": EventRow(
            e.POST_TOOL_USE, {**CALL, **same("tool_response", "duration_ms"), "toolResult": "tool_response"},
            _BLOCK | Capability.REWRITE | _CONTEXT,
            timeout=LONG_TIMEOUT, policy={"block_means": "beside_output"},
        ),
        "PostToolUseFailure": EventRow(
            e.POST_TOOL_USE_FAILURE, {**CALL, **same("error")}, _CONTEXT, exit_2_blocks=False
        ),
        "PermissionDenied": EventRow(e.PERMISSION_DENIED, {**CALL, **same("reason")}, exit_2_blocks=False),
        "Stop": EventRow(
            e.STOP, {"stopHookActive": "stop_hook_active"}, _BLOCK, timeout=LONG_TIMEOUT,
            policy={"block_means": "continue_turn", "limit": BlockLimit(8)},
        ),
        "StopFailure": EventRow(e.STOP_FAILURE, same("error"), exit_2_blocks=False),
        "StopCancelled": EventRow(e.INTERRUPT, {}, exit_2_blocks=False),
        "Notification": EventRow(e.NOTIFICATION, same("message", "notification_type"), exit_2_blocks=False),
        "SubagentStart": EventRow(e.SUBAGENT_START, _AGENT, _CONTEXT, exit_2_blocks=False),
        "SubagentStop": EventRow(
            e.SUBAGENT_STOP, {**_AGENT, "stopHookActive": "stop_hook_active"}, _BLOCK,
            timeout=LONG_TIMEOUT, policy={"block_means": "continue_turn", "limit": BlockLimit(8)},
        ),
        "PreCompact": EventRow(e.PRE_COMPACT, same("trigger"), exit_2_blocks=False),
        "PostCompact": EventRow(e.POST_COMPACT, same("trigger"), exit_2_blocks=False),
    }
)  # fmt: skip


def events() -> Mapping[str, DialectEvent]:
    """Return its events: hooks run in order, each on the original input, until one denies."""
    return rows.dialect_events(
        ROWS, TIMEOUT, run="serial", stop_on="block", failures=FAIL_OPEN, leftovers="leave", async_line=False,
        block_means="cancel",
    )  # fmt: skip
