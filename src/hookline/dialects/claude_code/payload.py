"""Which keys Claude Code sends at each of its events, in its order."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import UNSET, Struct

#: Sent only when it is known.
KNOWN: Final = UNSET


class Key(Struct, frozen=True):
    name: str
    #: What is sent where nobody knows better; KNOWN: nothing.
    default: Any = KNOWN


def _keys(*names: str, **defaults: Any) -> tuple[Key, ...]:
    """`name?` is sent when it is known, every other name always."""
    return tuple(
        Key(name.rstrip("?"), KNOWN if name.endswith("?") else defaults.get(name, "")) for name in names
    )


_CALL: Final = _keys("tool_name", "tool_input", tool_input={})
_ENDING: Final = _keys(
    "last_assistant_message?", "background_tasks", "session_crons", background_tasks=[], session_crons=[]
)
_TASK: Final = _keys("task_id", "task_subject", "task_description?", "teammate_name?", "team_name?")
_SWITCH: Final = _keys(
    "from_model", "to_model", "requested_model", "source", "context_tokens", "prompt_cache_warm",
    "cache_ttl", "estimated_cache_write_usd", "pricing",
    requested_model=None, context_tokens=0, prompt_cache_warm=False, cache_ttl="5m",
    estimated_cache_write_usd=0, pricing="default",
)  # fmt: skip

#: What an event says beyond what all events say.
OWN: Final[Mapping[str, tuple[Key, ...]]] = MappingProxyType(
    {
        "SessionStart": _keys(
            "source", "model?", "session_title?", "seconds_since_last_response?", "context_tokens?",
            "prompt_cache_likely_expired?", "estimated_cache_write_usd?",
        ),
        "Setup": _keys("trigger"),
        "InstructionsLoaded": _keys(
            "file_path", "memory_type", "load_reason", "globs?", "trigger_file_path?", "parent_file_path?"
        ),
        "UserPromptSubmit": _keys("prompt", "source?", "session_title?"),
        "UserPromptExpansion": _keys(
            "expansion_type", "command_name", "command_args", "command_source?", "prompt"
        ),
        "MessageDisplay": _keys("turn_id", "message_id", "index", "final", "delta"),
        "PreToolUse": (*_CALL, *_keys("tool_use_id", "mcp_server?")),
        "PermissionRequest": (*_CALL, *_keys("permission_suggestions?", "mcp_server?")),
        "PermissionDenied": (*_CALL, *_keys("tool_use_id", "reason", "mcp_server?")),
        "PostToolUse": (
            *_CALL, *_keys("tool_response", "tool_use_id", "duration_ms?", "mcp_server?", tool_response=None)
        ),
        "PostToolUseFailure": (
            *_CALL,
            *_keys("tool_use_id", "error", "is_interrupt", "duration_ms?", "mcp_server?", is_interrupt=False),
        ),
        "PostToolBatch": _keys("tool_calls", tool_calls=[]),
        "Notification": _keys("message", "title?", "notification_type"),
        "SubagentStart": _keys("agent_id", "agent_type"),
        "SubagentStop": (
            *_keys("stop_hook_active", "agent_id", "agent_type", "agent_transcript_path"), *_ENDING
        ),
        "TaskCreated": _TASK,
        "TaskCompleted": _TASK,
        "Stop": (*_keys("stop_hook_active"), *_ENDING),
        "StopFailure": _keys("error", "error_details?", "last_assistant_message?"),
        "TeammateIdle": _keys("teammate_name", "team_name"),
        "ConfigChange": _keys("source", "file_path?"),
        "CwdChanged": _keys("old_cwd", "new_cwd"),
        "FileChanged": _keys("file_path", "event"),
        "DirectoryAdded": _keys("directory", "source"),
        "WorktreeCreate": _keys("name"),
        "WorktreeRemove": _keys("worktree_path"),
        "PreCompact": _keys("trigger", "custom_instructions", custom_instructions=None),
        "PostCompact": _keys("trigger", "compact_summary"),
        "PreModelSwitch": _SWITCH,
        "PostModelSwitch": _SWITCH,
        "Elicitation": _keys(
            "mcp_server_name", "message", "mode", "url?", "elicitation_id?", "requested_schema?"
        ),
        "ElicitationResult": _keys(
            "mcp_server_name", "action", "mode", "elicitation_id?", "content?", mode="form"
        ),
        "SessionEnd": _keys("reason"),
    }
)  # fmt: skip

_IN_TURN: Final = frozenset(
    {
        "PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure",
        "PostToolBatch", "Stop", "SubagentStop", "TeammateIdle",
    }
)  # fmt: skip
#: Events that say in which permission mode they happened, and those that say the effort of the model.
WITH_MODE: Final = _IN_TURN | {"UserPromptSubmit", "UserPromptExpansion"}
WITH_EFFORT: Final = _IN_TURN | {"StopFailure"}
#: Events whose hooks may set variables for the commands of the session, in a file.
WITH_ENV_FILE: Final = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})
#: Reasons for which an instruction file is loaded within a turn.
LOADED_IN_TURN: Final = frozenset({"nested_traversal", "path_glob_match"})

#: Arguments of tools that are always told as absolute paths.
PATH_ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("Read", "Write", "Edit", "MultiEdit"), "file_path"),
        **dict.fromkeys(("NotebookEdit", "NotebookRead"), "notebook_path"),
    }
)
