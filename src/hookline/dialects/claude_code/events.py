"""Describe Claude Code's events: Hookline's event for each, and how Claude Code behaves there. All of it
data.

The behaviour is that of client 2.1.327.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model import events as e
from hookline.model.events import Capability, EventSpec
from hookline.model.policy import FAIL_CLOSED, FAIL_OPEN, BlockLimit, Cause, Policy, Reaction

NAME: Final = "claude-code"
#: The client's text for a hook that blocks and gives no reason.
NO_REASON: Final = "Blocked by hook"

#: Events whose output is ignored: failures are silent.
_SILENT: Final[Mapping[Cause, Reaction]] = MappingProxyType(
    {cause: "block" if cause == "cancelled" else "pass" for cause in FAIL_OPEN}
)

_ALL_KINDS: Final = ("command", "http", "mcp_tool", "prompt", "agent")
_NO_MODEL: Final = ("command", "http", "mcp_tool")
_LOCAL: Final = ("command", "mcp_tool")

#: Seconds by handler kind, where neither the entry nor the event says otherwise.
KIND_TIMEOUTS: Final[Mapping[str, float]] = MappingProxyType({"prompt": 30.0, "agent": 60.0})
_USUAL_TIMEOUT: Final = 600.0

#: The seconds all SessionEnd hooks share, and the maximum that a timeout in a settings file can set.
SESSION_END_BUDGET: Final = 1.5
SESSION_END_MOST: Final = 60.0

_NOTIFICATIONS: Final = (
    "permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog", "elicitation_url_dialog",
    "elicitation_complete", "elicitation_response", "agent_needs_input", "agent_completed",
)  # fmt: skip
_ERRORS: Final = (
    "rate_limit", "overloaded", "authentication_failed", "oauth_org_not_allowed", "billing_error",
    "invalid_request", "model_not_found", "server_error", "max_output_tokens", "unknown",
)  # fmt: skip
_CONFIG_SOURCES: Final = ("user_settings", "project_settings", "local_settings", "policy_settings", "skills")

#: Values that Claude Code names differently, by event and Hookline's value.
WORDS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "StopFailure": {
            "auth_failed": "authentication_failed",
            "billing": "billing_error",
            "server": "server_error",
            "max_tokens": "max_output_tokens",
        }
    }
)

#: Tools that had another name: a matcher that says the old one still matches.
OLD_TOOL_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"Agent": ("Task",)})


class EventRow(Struct, frozen=True, eq=False):
    """One event of Claude Code."""

    event: EventSpec[Any]
    #: The handler kinds that run here.
    kinds: tuple[str, ...] = _NO_MODEL
    #: None: the event has a matcher, and its subject can be any text.
    subjects: tuple[str, ...] | None = None
    #: False where a matcher is ignored.
    matched: bool = True
    #: The effect of exit 2: a block, or a message to the user.
    exit_2_blocks: bool = False
    #: True if `decision: "block"` at the top of an answer is read.
    decision: bool = False
    #: True if plain text on stdout reaches the model.
    plain_context: bool = False
    #: The fields read here of those that all events share.
    reads: tuple[str, ...] = ("systemMessage", "continue")
    #: True if answers are read at all.
    reads_answers: bool = True
    #: True if an `if` can hold.
    about_tool: bool = False
    on_failure: bool = True
    policy: Mapping[str, Any] = {}
    timeout: float | None = None


_NOTHING: Final = ()
_MESSAGE: Final = ("systemMessage",)
_KEEPS_GOING: Final = {"block_means": "continue_turn", "reasons": "joined"}
_NEXT_TO_RESULT: Final = {"block_means": "beside_output", "placement": "tool_result", "reasons": "joined"}
_IN_RESULT: Final = {"placement": "tool_result"}
_REJECTS: Final = {"block_means": "reject_prompt"}
_CANCELS: Final = {"block_means": "cancel"}
#: Exit 2 and `decision: "block"` both block.
_BLOCKS: Final[dict[str, Any]] = {"exit_2_blocks": True, "decision": True}
_TOOL: Final[dict[str, Any]] = {"kinds": _ALL_KINDS, "about_tool": True}
_NOT_AWAITED: Final[dict[str, Any]] = {"waits": False, "failures": _SILENT}
_NO_MATCHER: Final[dict[str, Any]] = {"kinds": _ALL_KINDS, "matched": False}
#: A turn that is not over: a failing hook does not keep it going.
_AT_END: Final[dict[str, Any]] = {"on_failure": False, "policy": _KEEPS_GOING}

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        "SessionStart": EventRow(e.SESSION_START, _LOCAL, e.SESSION_SOURCES, plain_context=True, reads=_MESSAGE),
        "Setup": EventRow(e.SETUP, _LOCAL, ("init", "maintenance"), reads=_MESSAGE),
        "InstructionsLoaded": EventRow(
            e.INSTRUCTIONS_LOADED, subjects=e.INSTRUCTIONS_LOADED.subjects, reads=_NOTHING, reads_answers=False,
            policy=_NOT_AWAITED,
        ),
        "UserPromptSubmit": EventRow(
            e.USER_PROMPT_SUBMIT, plain_context=True, policy=_REJECTS, timeout=30.0, **_NO_MATCHER, **_BLOCKS
        ),
        "UserPromptExpansion": EventRow(
            e.USER_PROMPT_EXPANSION, _ALL_KINDS, plain_context=True, policy=_REJECTS, **_BLOCKS
        ),
        "MessageDisplay": EventRow(e.MESSAGE_DISPLAY, matched=False, reads=_NOTHING, timeout=10.0),
        "PreToolUse": EventRow(e.PRE_TOOL_USE, policy=_IN_RESULT, **_BLOCKS, **_TOOL),
        "PermissionRequest": EventRow(e.PERMISSION_REQUEST, policy=_IN_RESULT, **_TOOL),
        "PermissionDenied": EventRow(e.PERMISSION_DENIED, policy=_IN_RESULT, **_TOOL),
        "PostToolUse": EventRow(e.POST_TOOL_USE, policy=_NEXT_TO_RESULT, **_BLOCKS, **_TOOL),
        "PostToolUseFailure": EventRow(e.POST_TOOL_USE_FAILURE, policy=_NEXT_TO_RESULT, **_BLOCKS, **_TOOL),
        "PostToolBatch": EventRow(
            e.POST_TOOL_BATCH, policy={"block_means": "end_turn"}, **_NO_MATCHER, **_BLOCKS
        ),
        "Notification": EventRow(e.NOTIFICATION, subjects=_NOTIFICATIONS, reads=_NOTHING),
        "SubagentStart": EventRow(e.SUBAGENT_START),
        "SubagentStop": EventRow(e.SUBAGENT_STOP, _ALL_KINDS, **_BLOCKS, **_AT_END),
        "TaskCreated": EventRow(e.TASK_CREATED, policy=_CANCELS, **_NO_MATCHER, **_BLOCKS),
        "TaskCompleted": EventRow(
            e.TASK_COMPLETED, exit_2_blocks=True, on_failure=False, policy=_CANCELS, **_NO_MATCHER
        ),
        "Stop": EventRow(e.STOP, **_NO_MATCHER, **_BLOCKS, **_AT_END),
        "StopFailure": EventRow(
            e.STOP_FAILURE, subjects=_ERRORS, reads=_NOTHING, reads_answers=False, policy=_NOT_AWAITED
        ),
        "TeammateIdle": EventRow(e.TEAMMATE_IDLE, exit_2_blocks=True, **_NO_MATCHER, **_AT_END),
        "ConfigChange": EventRow(
            e.CONFIG_CHANGE, subjects=_CONFIG_SOURCES, reads=_NOTHING, policy=_CANCELS, **_BLOCKS
        ),
        "CwdChanged": EventRow(e.CWD_CHANGED, matched=False, reads=_MESSAGE),
        "FileChanged": EventRow(e.FILE_CHANGED, reads=_MESSAGE),
        "DirectoryAdded": EventRow(
            e.DIRECTORY_ADDED, subjects=("slash_command", "register_repo_root"), reads=_MESSAGE,
            policy={"waits": False},
        ),
        "WorktreeCreate": EventRow(
            e.WORKTREE_CREATE, matched=False, exit_2_blocks=True, reads=_NOTHING,
            policy={"block_means": "cancel", "failures": FAIL_CLOSED},
        ),
        "WorktreeRemove": EventRow(e.WORKTREE_REMOVE, matched=False, reads=_NOTHING),
        "PreCompact": EventRow(
            e.PRE_COMPACT, subjects=e.COMPACT_TRIGGERS, plain_context=True, reads=_NOTHING,
            policy={"block_means": "cancel", "placement": "transient", "lifetime": "call"}, **_BLOCKS,
        ),
        "PostCompact": EventRow(e.POST_COMPACT, subjects=e.COMPACT_TRIGGERS, reads=_NOTHING),
        "PreModelSwitch": EventRow(
            e.PRE_MODEL_SWITCH, subjects=e.SWITCH_SOURCES, exit_2_blocks=True, policy=_CANCELS
        ),
        "PostModelSwitch": EventRow(e.POST_MODEL_SWITCH, subjects=e.SWITCH_SOURCES),
        "Elicitation": EventRow(e.ELICITATION, exit_2_blocks=True, reads=_NOTHING, policy=_CANCELS),
        "ElicitationResult": EventRow(e.ELICITATION_RESULT, exit_2_blocks=True, reads=_NOTHING, policy=_CANCELS),
        "SessionEnd": EventRow(
            e.SESSION_END, subjects=e.SESSION_END.subjects, reads=_NOTHING,
            policy={"budget": SESSION_END_BUDGET},
        ),
    }
)  # fmt: skip

#: Capabilities that two rows lack although their event has them: they are not read there.
_NOT_HERE: Final[Mapping[str, Capability]] = MappingProxyType(
    {
        "UserPromptSubmit": Capability.REWRITE,
        "PermissionDenied": Capability.CONTEXT,
        "Notification": Capability.CONTEXT,
        "TaskCompleted": Capability.CONTEXT,
        "PostCompact": Capability.CONTEXT,
        "PreCompact": Capability.ANSWER,
    }
)
#: Hooks keep a turn from ending at most this often in a row; a tool call resets the count.
_STOP_CAP: Final = 8
_CAPPED: Final = frozenset({"Stop", "SubagentStop"})


def session_end_budget(env: Mapping[str, str]) -> float | None:
    """Return the value in the environment, which overrides the settings files."""
    try:
        value = float(env.get("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", ""))
    except ValueError:
        return None
    return value / 1000 if 0 < value < 1e9 else None


def _stop_cap(env: Mapping[str, str]) -> int:
    given = env.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "")
    return int(given) if given.isascii() and given.isdecimal() and 0 < len(given) < 6 else _STOP_CAP


def _policy(name: str, row: EventRow, env: Mapping[str, str]) -> Policy:
    habits: dict[str, Any] = {"placement": "conversation", "lifetime": "session", **row.policy}
    if name in _CAPPED:
        habits["limit"] = BlockLimit(_stop_cap(env), "pass", "call")
    if name == "SessionEnd":
        habits["budget"] = session_end_budget(env) or SESSION_END_BUDGET
    return Policy(
        event_name=name,
        may=row.event.may & ~_NOT_HERE.get(name, Capability.NOTHING),
        leftovers="leave",
        rewakes_wait=True,
        **habits,
    )


def dialect_events(env: Mapping[str, str]) -> Mapping[str, DialectEvent]:
    """Return every event under Claude Code's name; its policy is one object for all hooks of an engine."""
    return MappingProxyType(
        {
            name: DialectEvent(row.event, _policy(name, row, env), row.timeout or _USUAL_TIMEOUT)
            for name, row in ROWS.items()
        }
    )


def default_timeout(name: str, kind: str) -> float:
    """Return the seconds for an entry that gives none: by the kind of a model's hook, else by the event."""
    return KIND_TIMEOUTS.get(kind) or ROWS[name].timeout or _USUAL_TIMEOUT
