"""Describe the 21 events of Cursor: Hookline's event for each, its payload, and what its hooks may do.

Several of them are about one tool. Each is a tool call to Hookline, and its hooks run for that tool alone.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import rows
from hookline.dialects.family.rows import CALL, EventRow, same
from hookline.model import events as e
from hookline.model.events import Capability
from hookline.model.policy import FAIL_OPEN, BlockLimit

NAME: Final = "cursor"
TIMEOUT: Final = 60.0
#: Characters of text for the model; a longer one is dropped as a whole.
CONTEXT_LIMIT: Final = 10_000
#: Times in a row that a hook may send the agent back to work, if its entry does not say.
LOOP_LIMIT: Final = 5

_BLOCK, _CONTEXT = Capability.BLOCK, Capability.CONTEXT
#: An answer that cannot be read denies, "for safety".
_GATE: Final[Mapping[str, Any]] = {
    "failures": MappingProxyType({**FAIL_OPEN, "unreadable": "block", "truncated": "block"}),
    "block_means": "deny_call",
}  # fmt: skip
_GOES_ON: Final[Mapping[str, Any]] = {"block_means": "continue_turn", "limit": BlockLimit(LOOP_LIMIT)}

#: The one tool that an event is about, and the keys of its payload that are arguments of it.
TOOLS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "beforeShellExecution": ("Shell", ("command", "cwd")),
        "afterShellExecution": ("Shell", ("command",)),
        "beforeMCPExecution": ("MCP:", ()),
        "afterMCPExecution": ("MCP:", ()),
        "beforeReadFile": ("Read", ("file_path",)),
        "afterFileEdit": ("Write", ("file_path", "edits")),
        "beforeTabFileRead": ("TabRead", ("file_path",)),
        "afterTabFileEdit": ("TabWrite", ("file_path", "edits")),
        "subagentStart": ("Task", ("task", "subagent_type", "subagent_id")),
    }
)
#: The text that a matcher is tested on where it is always the same.
FIXED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "beforeReadFile": "Read", "afterFileEdit": "Write", "beforeTabFileRead": "TabRead",
        "afterTabFileEdit": "TabWrite", "beforeSubmitPrompt": "UserPromptSubmit", "stop": "Stop",
        "afterAgentResponse": "AgentResponse", "afterAgentThought": "AgentThought",
    }
)  # fmt: skip
_ONE_CALL: Final = same("tool_use_id")
_AGENT: Final = {"subagent_id": "agent_id", "subagent_type": "agent_type"}

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        "sessionStart": EventRow(e.SESSION_START, {}, _CONTEXT, subjects=()),
        "sessionEnd": EventRow(e.SESSION_END, same("reason", "duration_ms"), exit_2_blocks=False, subjects=()),
        "beforeSubmitPrompt": EventRow(
            e.USER_PROMPT_SUBMIT, same("prompt"), _BLOCK | _CONTEXT, policy={"block_means": "reject_prompt"}
        ),
        # An ask lets the call run, so hooks may not permit there.
        "preToolUse": EventRow(e.PRE_TOOL_USE, CALL, _BLOCK | Capability.REWRITE | _CONTEXT, policy=_GATE),
        "postToolUse": EventRow(
            e.POST_TOOL_USE, {**CALL, "tool_output": "tool_response", "duration": "duration_ms"},
            _CONTEXT | Capability.REWRITE, exit_2_blocks=False,
        ),
        "postToolUseFailure": EventRow(
            e.POST_TOOL_USE_FAILURE, {**CALL, "error_message": "error", "is_interrupt": "is_interrupt"}, _CONTEXT,
            exit_2_blocks=False,
        ),
        "beforeShellExecution": EventRow(e.PRE_TOOL_USE, _ONE_CALL, _BLOCK | Capability.PERMIT, policy=_GATE),
        "afterShellExecution": EventRow(
            e.POST_TOOL_USE, {**_ONE_CALL, "output": "tool_response"}, exit_2_blocks=False
        ),
        "beforeMCPExecution": EventRow(
            e.PRE_TOOL_USE, {**same("tool_name", "tool_input"), **_ONE_CALL}, _BLOCK, policy=_GATE
        ),
        "afterMCPExecution": EventRow(
            e.POST_TOOL_USE, {**same("tool_name", "tool_input"), **_ONE_CALL, "result_json": "tool_response"},
            exit_2_blocks=False,
        ),
        "beforeReadFile": EventRow(
            e.PRE_TOOL_USE, _ONE_CALL, _BLOCK, policy=_GATE,
            remark="fires when the file was read already; a denial withholds its content",
        ),
        "afterFileEdit": EventRow(e.POST_TOOL_USE, _ONE_CALL, exit_2_blocks=False),
        "beforeTabFileRead": EventRow(e.PRE_TOOL_USE, {}, _BLOCK, policy=_GATE),
        "afterTabFileEdit": EventRow(e.POST_TOOL_USE, {}, exit_2_blocks=False),
        "subagentStart": EventRow(
            e.PRE_TOOL_USE, {"tool_call_id": "tool_use_id"}, _BLOCK, policy=_GATE, remark="is a call of the tool Task",
        ),
        "subagentStop": EventRow(
            e.SUBAGENT_STOP,
            {**_AGENT, "status": "status", "summary": "last_assistant_message",
             "agent_transcript_path": "agent_transcript_path"},
            _BLOCK, exit_2_blocks=False, policy=_GOES_ON,
        ),
        "preCompact": EventRow(e.PRE_COMPACT, same("trigger"), exit_2_blocks=False, subjects=()),
        "stop": EventRow(e.STOP, {}, _BLOCK, exit_2_blocks=False, policy=_GOES_ON),
        "afterAgentResponse": EventRow(e.POST_MODEL_CALL, {"text": "response"}, exit_2_blocks=False),
        "afterAgentThought": EventRow(e.POST_MODEL_CALL, {"text": "reasoning"}, exit_2_blocks=False),
        "workspaceOpen": EventRow(e.SETUP, {}, exit_2_blocks=False, subjects=()),
    }
)  # fmt: skip


def events() -> Mapping[str, DialectEvent]:
    """Return its events: all matching hooks start together, and what they say is joined in the order of the files."""
    return rows.dialect_events(
        ROWS,
        TIMEOUT,
        reasons="joined",
        failures=FAIL_OPEN,
        leftovers="leave",
        async_line=False,
        block_means="cancel",
    )
