"""Describe the events of Copilot CLI under both of their names.

Under Claude Code's names, which files of Claude Code use, payloads have its keys and answers its form.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import rows
from hookline.dialects.family.rows import EventRow, same
from hookline.model import events as e
from hookline.model.events import Capability
from hookline.model.policy import FAIL_OPEN, BlockLimit

NAME: Final = "copilot-cli"
TIMEOUT: Final = 30.0
_BLOCK, _CONTEXT, _REWRITE = Capability.BLOCK, Capability.CONTEXT, Capability.REWRITE
_CALL: Final = {"toolName": "tool_name", "toolArgs": "tool_input", "toolCallId": "tool_use_id"}
_THEIR_CALL: Final = same("tool_name", "tool_input", "tool_use_id")
_ASKED: Final = {"toolName": "tool_name", "toolInput": "tool_input"}
_STOPPED: Final = same("stop_hook_active")
_AGENT: Final = {"agentId": "agent_id", "agentType": "agent_type"}
_OBSERVES: Final[Mapping[str, Any]] = {"exit_2_blocks": False}
#: A guard that broke denies; one that took too long, or that cannot be read, does not.
_GATE: Final[Mapping[str, Any]] = {
    "failures": MappingProxyType(
        {**FAIL_OPEN, **dict.fromkeys(("crashed", "signalled", "not_started"), "block")}
    ),
    "block_means": "deny_call",
}  # fmt: skip
_GOES_ON: Final[Mapping[str, Any]] = {"block_means": "continue_turn", "limit": BlockLimit(8)}
_DECIDES: Final = _BLOCK | Capability.PERMIT

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        "sessionStart": EventRow(e.SESSION_START, same("source"), _CONTEXT, **_OBSERVES),
        "sessionEnd": EventRow(e.SESSION_END, same("reason"), **_OBSERVES),
        "userPromptSubmitted": EventRow(
            e.USER_PROMPT_SUBMIT, same("prompt"), _CONTEXT | _REWRITE, remark="cannot reject the prompt", **_OBSERVES
        ),
        "userPromptTransformed": EventRow(
            e.USER_PROMPT_EXPANSION, {"prompt": "command_name", "transformedPrompt": "prompt"}, **_OBSERVES
        ),
        "preToolUse": EventRow(e.PRE_TOOL_USE, _CALL, _DECIDES | _REWRITE | _CONTEXT, policy=_GATE),
        "permissionRequest": EventRow(
            e.PERMISSION_REQUEST, _ASKED, _DECIDES, policy={"block_means": "deny_call"},
            remark="fires on every shell call, also where all tools are allowed", **_OBSERVES,
        ),
        "postToolUse": EventRow(
            e.POST_TOOL_USE, {**_CALL, "toolResult": "tool_response"}, _CONTEXT | _REWRITE,
            policy={"placement": "tool_result"}, **_OBSERVES,
        ),
        "errorOccurred": EventRow(e.ERROR, {"error": "message", "errorContext": "error_type"}, **_OBSERVES),
        "agentStop": EventRow(e.STOP, _STOPPED, _BLOCK, policy=_GOES_ON, **_OBSERVES),
        "subagentStart": EventRow(e.SUBAGENT_START, _AGENT, **_OBSERVES),
        "subagentStop": EventRow(
            e.SUBAGENT_STOP, {**_AGENT, **_STOPPED, "response": "last_assistant_message"}, _BLOCK, policy=_GOES_ON,
            **_OBSERVES,
        ),
        "SessionStart": EventRow(e.SESSION_START, same("source"), **_OBSERVES),
        "SessionEnd": EventRow(e.SESSION_END, same("reason"), **_OBSERVES),
        "UserPromptSubmit": EventRow(e.USER_PROMPT_SUBMIT, same("prompt"), **_OBSERVES),
        "PreToolUse": EventRow(e.PRE_TOOL_USE, _THEIR_CALL, _DECIDES, policy=_GATE),
        "PermissionRequest": EventRow(
            e.PERMISSION_REQUEST, _ASKED, _DECIDES, policy={"block_means": "deny_call"}, **_OBSERVES
        ),
        "PostToolUse": EventRow(e.POST_TOOL_USE, {**_THEIR_CALL, "tool_result": "tool_response"}, **_OBSERVES),
        "Stop": EventRow(e.STOP, _STOPPED, _BLOCK, policy=_GOES_ON, **_OBSERVES),
    }
)  # fmt: skip


def is_native(name: str) -> bool:
    return name[:1].islower()


def events() -> Mapping[str, DialectEvent]:
    """Return its events: hooks run in order, and the first denial ends it."""
    return rows.dialect_events(
        ROWS, TIMEOUT, run="serial", stop_on="block", failures=FAIL_OPEN, leftovers="leave", async_line=False,
        block_means="cancel",
    )  # fmt: skip
