"""Read and write payloads of Claude Code's events, and set the variables its hooks find."""

import os
import posixpath
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import UNSET

from hookline.dialects.claude_code.events import ROWS, WORDS
from hookline.dialects.family import wire as family
from hookline.dialects.family.wire import PayloadKey, encoded, info_texts, key_values, payload_record
from hookline.model.events import EventSpec, field_of
from hookline.model.session_info import SessionInfo
from hookline.model.wire import Encoded, HookInvocation, Parsed


def _keys(*names: str, **defaults: Any) -> tuple[PayloadKey, ...]:
    """Make keys: `name?` is sent when it is known, every other name always."""
    return tuple(
        PayloadKey(name.rstrip("?"), UNSET if name.endswith("?") else defaults.get(name, ""))
        for name in names
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

#: The keys of an event beyond those that all events have.
OWN: Final[Mapping[str, tuple[PayloadKey, ...]]] = MappingProxyType(
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
#: Events with the permission mode; `WITH_EFFORT` are those with the effort of the model.
WITH_MODE: Final = _IN_TURN | {"UserPromptSubmit", "UserPromptExpansion"}
WITH_EFFORT: Final = _IN_TURN | {"StopFailure"}
#: Events whose hooks may set variables for the commands of the session, in a file.
WITH_ENV_FILE: Final = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})
#: Reasons for which an instruction file is loaded within a turn.
LOADED_IN_TURN: Final = frozenset({"nested_traversal", "path_glob_match"})

#: Arguments of tools that are always sent as absolute paths.
PATH_ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("Read", "Write", "Edit", "MultiEdit"), "file_path"),
        **dict.fromkeys(("NotebookEdit", "NotebookRead"), "notebook_path"),
    }
)


_EMPTY: Final = (None, "", ())
#: Variables that show that a program runs under Claude Code, and those the client sets for its own commands.
_SIGNS: Final = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_CHILD_SESSION": "1",
    "COREPACK_ENABLE_AUTO_PIN": "0",
    "NoDefaultCurrentDirectoryInExePath": "1",
}


def encode_payload(call: HookInvocation) -> Encoded:
    """Write one line of JSON, as the client does. Raises `PayloadError` for a payload that has no JSON form."""
    event_name = call.hook.policy.event_name
    document = payload_document(event_name, call.payload, call.info)
    return Encoded(encoded(document) + b"\n", environment(event_name, call.payload, call.info))


def payload_document(event_name: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    """Make the document: session and directory first, then the facts of this event."""
    extra = info.extra or {}
    document = _info_document(event_name, payload, info) | key_values(
        OWN[event_name], payload, otherwise=extra.get, is_empty=lambda value: value in _EMPTY
    )
    if event_name in WORDS:
        document["error"] = WORDS[event_name].get(document["error"], document["error"])
    return _with_absolute_path(document, info.cwd)


def _info_document(event_name: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    document: dict[str, Any] = {
        "session_id": info.session_id,
        "transcript_path": info.transcript_path,
        "cwd": info.cwd,
    }
    if info.prompt_id is not None:
        document["prompt_id"] = info.prompt_id
    if event_name in WITH_MODE:
        document["permission_mode"] = info.permission_mode
    for name in ("agent_id", "agent_type"):
        value = field_of(payload, name) or getattr(info, name)
        if value:
            document[name] = value
    effort = _effort(event_name, payload, info)
    if effort:
        document["effort"] = {"level": effort}
    document["hook_event_name"] = event_name
    return document


def environment(event_name: str, payload: Any, info: SessionInfo) -> dict[str, str]:
    """Return the variables a hook gets in addition to those of its parent process."""
    variables = {
        **_SIGNS,
        "CLAUDE_PROJECT_DIR": info.project_dir or info.cwd,
        "CLAUDE_CODE_SESSION_ID": info.session_id,
        "CLAUDE_CODE_ENTRYPOINT": "cli" if info.attended else "sdk-cli",
    }
    effort = _effort(event_name, payload, info)
    if effort:
        variables["CLAUDE_EFFORT"] = effort
    if event_name in WITH_ENV_FILE:
        env_file = (info.extra or {}).get("env_file")
        # A hook that writes there must not fail because this host reads no such file.
        variables["CLAUDE_ENV_FILE"] = env_file if isinstance(env_file, str) and env_file else os.devnull
    return variables


def _effort(event_name: str, payload: Any, info: SessionInfo) -> str | None:
    in_turn = event_name in WITH_EFFORT or (
        event_name == "InstructionsLoaded" and field_of(payload, "load_reason") in LOADED_IN_TURN
    )
    effort = (info.extra or {}).get("effort")
    return effort if in_turn and isinstance(effort, str) and effort else None


def _with_absolute_path(document: dict[str, Any], cwd: str) -> dict[str, Any]:
    """Make the paths of file tools absolute, also where the model wrote a relative one."""
    argument = PATH_ARGUMENTS.get(document.get("tool_name", ""))
    given = document.get("tool_input")
    if argument is None or not isinstance(given, Mapping):
        return document
    arguments = cast("Mapping[str, Any]", given)
    path = arguments.get(argument)
    if isinstance(path, str) and path and not path.startswith(("/", "~")) and cwd.startswith("/"):
        whole = posixpath.normpath(posixpath.join(cwd, path))
        document["tool_input"] = {**arguments, argument: whole}
    return document


_INFO_TEXTS: Final = (
    "session_id", "transcript_path", "cwd", "permission_mode", "prompt_id", "agent_id", "agent_type", "model",
)  # fmt: skip


def parse_payload(document: Mapping[str, Any]) -> Parsed:
    """Parse a payload. Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = family.event_name(document, ROWS)
    event = ROWS[name].event
    words = {claude: ours for ours, claude in WORDS.get(name, {}).items()}
    given = dict(document)
    if words and isinstance(given.get("error"), str):
        given["error"] = words.get(given["error"], given["error"])
    payload = payload_record(event, name, given)
    return Parsed(event, payload, _info(name, event, document))


def _info(name: str, event: EventSpec[Any], document: Mapping[str, Any]) -> SessionInfo:
    known = info_texts(document, _INFO_TEXTS)
    fields: tuple[str, ...] = getattr(event.payload, "__struct_fields__", ())
    extra = {
        key.name: document[key.name]
        for key in OWN[name]
        if key.name not in fields and document.get(key.name) is not None
    }
    effort = document.get("effort")
    if isinstance(effort, Mapping):
        level = cast("Mapping[str, Any]", effort).get("level")
        if isinstance(level, str):
            extra["effort"] = level
    return SessionInfo(**known, extra=extra or None)


#: The fields of a tool's result with the text that the model reads.
_RESULT_TEXT: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"Bash": ("stdout",), "Read": ("file", "content"), "Grep": ("content",), "WebFetch": ("result",)}
)


def tool_result(payload: Any, value: Any) -> Any:
    """Return a new result in the form the client takes for this tool; None if it has none, and the client
    would drop it.

    A tool of a server takes anything, every other an object with its own keys. Text replaces the whole
    result: nothing of the earlier one is shown beside it.
    """
    tool, before = field_of(payload, "tool_name"), field_of(payload, "tool_response")
    served = field_of(payload, "mcp_server") is not None or (
        isinstance(tool, str) and tool.startswith("mcp__")
    )
    if before is None or served:
        return value
    if not isinstance(before, Mapping):
        return value if isinstance(value, type(before)) else None
    old = cast("Mapping[str, Any]", before)
    if isinstance(value, str):
        path = _RESULT_TEXT.get(str(tool), ())
        return _with_text(old, path, value) if path else None
    return _with_all_keys(old, cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else None


def _with_text(old: Mapping[str, Any], path: tuple[str, ...], text: str) -> dict[str, Any] | None:
    name, *rest = path
    inner = old.get(name)
    if rest:
        new = (
            _with_text(cast("Mapping[str, Any]", inner), tuple(rest), text)
            if isinstance(inner, Mapping)
            else None
        )
        return None if new is None else {**old, name: new}
    if not isinstance(inner, str):
        return None
    if name == "stdout":
        # Also what led to the whole output in a file.
        old = {key: each for key, each in old.items() if not isinstance(each, str)} | {"stderr": ""}
    return {**old, name: text}


def _with_all_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any] | None:
    """Keep flags and numbers that were left out, and empty texts; else the client would not take it."""
    for name, before in old.items():
        if name not in new:
            if not isinstance(before, str | bool | int | float | None):
                return None
            new = {**new, name: "" if isinstance(before, str) else before}
        elif before is not None and not isinstance(new[name], type(before)):
            return None
    return dict(new)
