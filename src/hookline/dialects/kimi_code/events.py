"""Describe the events of Kimi Code. Hooks can deny a call, reject a prompt and continue a turn, and nothing more."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import rows
from hookline.dialects.family.rows import EventRow, same
from hookline.model import events as e
from hookline.model.events import Capability
from hookline.model.policy import FAIL_OPEN, BlockLimit

NAME: Final = "kimi-code"
TIMEOUT: Final = 30.0
_CALL: Final = {"tool_name": "tool_name", "tool_input": "tool_input", "tool_call_id": "tool_use_id"}
_AGENT: Final = same("agent_id", "agent_type")
_OBSERVES: Final[Mapping[str, Any]] = {"exit_2_blocks": False}

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        "SessionStart": EventRow(e.SESSION_START, same("source", "model"), **_OBSERVES),
        "SessionEnd": EventRow(e.SESSION_END, same("reason"), remark="did not fire without a terminal", **_OBSERVES),
        "SessionHeartbeat": EventRow(e.USER_INPUT_WAITING, {}, **_OBSERVES),
        "UserPromptSubmit": EventRow(
            e.USER_PROMPT_SUBMIT, same("prompt"), Capability.BLOCK | Capability.CONTEXT, plain="context",
            policy={"block_means": "reject_prompt"},
        ),
        "UserPromptQueued": EventRow(e.NOTIFICATION, {"prompt": "message"}, **_OBSERVES),
        "TurnStarted": EventRow(e.TURN_START, same("prompt"), **_OBSERVES),
        "PreToolUse": EventRow(e.PRE_TOOL_USE, _CALL, Capability.BLOCK, policy={"block_means": "deny_call"}),
        "PermissionRequest": EventRow(e.PERMISSION_REQUEST, _CALL, **_OBSERVES),
        "PermissionResult": EventRow(e.PERMISSION_DENIED, {**_CALL, **same("reason")}, **_OBSERVES),
        "PostToolUse": EventRow(
            e.POST_TOOL_USE, {**_CALL, "tool_output": "tool_response"}, policy={"waits": False},
            remark="is not waited for: what its hooks say is not read", **_OBSERVES,
        ),
        "PostToolUseFailure": EventRow(
            e.POST_TOOL_USE_FAILURE, {**_CALL, "error": "error"}, remark="fires after a denied call too", **_OBSERVES
        ),
        "Stop": EventRow(
            e.STOP, same("stop_hook_active"), Capability.BLOCK,
            policy={"block_means": "continue_turn", "limit": BlockLimit(1)},
        ),
        "StopFailure": EventRow(e.STOP_FAILURE, {}, **_OBSERVES),
        "Interrupt": EventRow(e.INTERRUPT, {}, **_OBSERVES),
        "SubagentStart": EventRow(e.SUBAGENT_START, _AGENT, **_OBSERVES),
        "SubagentStop": EventRow(e.SUBAGENT_STOP, _AGENT, **_OBSERVES),
        "TaskStarted": EventRow(e.TASK_CREATED, same("task_id"), **_OBSERVES),
        "PreCompact": EventRow(e.PRE_COMPACT, same("trigger"), **_OBSERVES),
        "PostCompact": EventRow(e.POST_COMPACT, same("trigger"), **_OBSERVES),
        "Notification": EventRow(e.NOTIFICATION, same("message", "notification_type"), **_OBSERVES),
    }
)  # fmt: skip


def events() -> Mapping[str, DialectEvent]:
    """Return its events: all matching hooks start together, and the first block in config order gives the reason."""
    return rows.dialect_events(
        ROWS, TIMEOUT, failures=FAIL_OPEN, leftovers="leave", async_line=False, block_means="cancel"
    )
