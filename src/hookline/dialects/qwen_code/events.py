"""Describe the events of Qwen Code."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import rows
from hookline.dialects.family.rows import CALL, EventRow, same
from hookline.model import events as e
from hookline.model.events import Capability
from hookline.model.policy import FAIL_OPEN, BlockLimit

NAME: Final = "qwen-code"
TIMEOUT: Final = 60.0
_BLOCK, _CONTEXT, _STOP = Capability.BLOCK, Capability.CONTEXT, Capability.STOP
_AGENT = same("agent_id", "agent_type")
_TODO = {"todo_id": "task_id", "todo_content": "task_subject"}

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        "SessionStart": EventRow(
            e.SESSION_START, same("source", "model"), _CONTEXT, plain="context", exit_2_blocks=False,
            policy={"placement": "system"},
        ),
        "SessionEnd": EventRow(e.SESSION_END, same("reason"), exit_2_blocks=False),
        "SessionDelete": EventRow(
            e.NOTIFICATION, {"deleted_session_id": "message"}, exit_2_blocks=False,
            remark="fires after the user has deleted a past session",
        ),
        "InstructionsLoaded": EventRow(
            e.INSTRUCTIONS_LOADED, same("file_path", "memory_type", "load_reason"), exit_2_blocks=False
        ),
        "Notification": EventRow(
            e.NOTIFICATION, same("message", "notification_type", "title"), exit_2_blocks=False
        ),
        "UserPromptSubmit": EventRow(
            e.USER_PROMPT_SUBMIT, same("prompt"), _BLOCK | _CONTEXT, plain="context",
            policy={"block_means": "reject_prompt"},
            remark="fires again, with an empty prompt, for every round of tool results",
        ),
        "UserPromptExpansion": EventRow(
            e.USER_PROMPT_EXPANSION, same("command_name", "command_args", "prompt"), _BLOCK | _CONTEXT, plain="context",
            policy={"block_means": "reject_prompt"},
        ),
        "MessageDisplay": EventRow(
            e.MESSAGE_DISPLAY, {"message_id": "message_id", "displayed_text": "delta", "is_final": "final"},
            exit_2_blocks=False,
        ),
        "PreToolUse": EventRow(
            e.PRE_TOOL_USE, CALL, _BLOCK | Capability.PERMIT, policy={"block_means": "deny_call"},
            remark="fires after the permission rules: a call that they refuse is not reported",
        ),
        "PermissionRequest": EventRow(
            e.PERMISSION_REQUEST, CALL, _BLOCK | Capability.PERMIT | Capability.REWRITE,
            policy={"block_means": "deny_call"}, remark="does not fire without a terminal",
        ),
        "PermissionDenied": EventRow(e.PERMISSION_DENIED, {**CALL, **same("reason")}, exit_2_blocks=False),
        # A block changes nothing there.
        "PostToolUse": EventRow(
            e.POST_TOOL_USE, {**CALL, **same("tool_response", "duration_ms")}, _CONTEXT, exit_2_blocks=False,
            policy={"placement": "tool_result"},
        ),
        "PostToolUseFailure": EventRow(
            e.POST_TOOL_USE_FAILURE, {**CALL, **same("error", "is_interrupt", "duration_ms")}, _CONTEXT,
            exit_2_blocks=False, policy={"placement": "tool_result"},
        ),
        "PostToolBatch": EventRow(
            e.POST_TOOL_BATCH, same("tool_calls"), _BLOCK | _CONTEXT,
            policy={"block_means": "replace_output", "placement": "tool_result"},
        ),
        "TodoCreated": EventRow(
            e.TASK_CREATED, {**_TODO, "todo_status": "status"}, _BLOCK, policy={"block_means": "cancel"}
        ),
        "TodoCompleted": EventRow(e.TASK_COMPLETED, _TODO, _BLOCK, policy={"block_means": "cancel"}),
        "Stop": EventRow(
            e.STOP, same("stop_hook_active", "last_assistant_message"), _BLOCK,
            policy={"block_means": "continue_turn", "limit": BlockLimit(8)},
        ),
        "StopFailure": EventRow(e.STOP_FAILURE, same("error"), exit_2_blocks=False),
        "SubagentStart": EventRow(e.SUBAGENT_START, _AGENT, _CONTEXT, exit_2_blocks=False),
        "SubagentStop": EventRow(
            e.SUBAGENT_STOP,
            {**_AGENT, **same("agent_transcript_path", "last_assistant_message", "stop_hook_active")}, _BLOCK,
            policy={"block_means": "continue_turn", "limit": BlockLimit(8)},
        ),
        "PreCompact": EventRow(e.PRE_COMPACT, same("trigger"), exit_2_blocks=False),
        "PostCompact": EventRow(e.POST_COMPACT, same("trigger"), exit_2_blocks=False),
    }
)  # fmt: skip


def events() -> Mapping[str, DialectEvent]:
    """Return its events: hooks run at once, unless a group says `sequential`, and their reasons are joined."""
    return rows.dialect_events(
        ROWS, TIMEOUT, run="serial_if_asked", reasons="blocks_joined", failures=FAIL_OPEN, leftovers="kill",
        async_line=False, block_means="cancel",
    )  # fmt: skip
