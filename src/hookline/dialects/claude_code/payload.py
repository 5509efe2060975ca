"""Payloads of Claude Code's events, both ways, and the variables its hooks find."""

import os
import posixpath
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import UNSET

from hookline.dialects.claude_code.events import ROWS, WORDS
from hookline.dialects.family import wire as family
from hookline.dialects.family.wire import Key, encoded, key_values, payload_record, scene_texts
from hookline.model.events import EventSpec, field_of
from hookline.model.scene import Scene
from hookline.model.wire import Call, Encoded, Parsed


def _keys(*names: str, **defaults: Any) -> tuple[Key, ...]:
    """`name?` is sent when it is known, every other name always."""
    return tuple(
        Key(name.rstrip("?"), UNSET if name.endswith("?") else defaults.get(name, "")) for name in names
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

#: Arguments of tools that are always sent as absolute paths.
PATH_ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("Read", "Write", "Edit", "MultiEdit"), "file_path"),
        **dict.fromkeys(("NotebookEdit", "NotebookRead"), "notebook_path"),
    }
)


_EMPTY: Final = (None, "", ())
#: Variables that say a program runs under Claude Code, and those the client sets for its own commands.
_SIGNS: Final = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_CHILD_SESSION": "1",
    "COREPACK_ENABLE_AUTO_PIN": "0",
    "NoDefaultCurrentDirectoryInExePath": "1",
}


def encode_payload(call: Call) -> Encoded:
    """One line of JSON, as the client writes it. Raises `PayloadError` for a payload that has no JSON form."""
    event_name = call.hook.policy.event_name
    document = payload_document(event_name, call.payload, call.scene)
    return Encoded(encoded(document) + b"\n", environment(event_name, call.payload, call.scene))


def payload_document(event_name: str, payload: Any, scene: Scene) -> dict[str, Any]:
    """Where and who first, then what this event is about."""
    extra = scene.extra or {}
    document = _scene_document(event_name, payload, scene) | key_values(
        OWN[event_name], payload, otherwise=extra.get, is_empty=lambda value: value in _EMPTY
    )
    if event_name in WORDS:
        document["error"] = WORDS[event_name].get(document["error"], document["error"])
    return _with_absolute_path(document, scene.cwd)


def _scene_document(event_name: str, payload: Any, scene: Scene) -> dict[str, Any]:
    document: dict[str, Any] = {
        "session_id": scene.session_id,
        "transcript_path": scene.transcript_path,
        "cwd": scene.cwd,
    }
    if scene.prompt_id is not None:
        document["prompt_id"] = scene.prompt_id
    if event_name in WITH_MODE:
        document["permission_mode"] = scene.permission_mode
    for name in ("agent_id", "agent_type"):
        value = field_of(payload, name) or getattr(scene, name)
        if value:
            document[name] = value
    effort = _effort(event_name, payload, scene)
    if effort:
        document["effort"] = {"level": effort}
    document["hook_event_name"] = event_name
    return document


def environment(event_name: str, payload: Any, scene: Scene) -> dict[str, str]:
    """The variables a hook gets in addition to those of its parent process."""
    variables = {
        **_SIGNS,
        "CLAUDE_PROJECT_DIR": scene.project_dir or scene.cwd,
        "CLAUDE_CODE_SESSION_ID": scene.session_id,
        "CLAUDE_CODE_ENTRYPOINT": "cli" if scene.attended else "sdk-cli",
    }
    effort = _effort(event_name, payload, scene)
    if effort:
        variables["CLAUDE_EFFORT"] = effort
    if event_name in WITH_ENV_FILE:
        env_file = (scene.extra or {}).get("env_file")
        # A hook that writes there must not fail because this host reads no such file.
        variables["CLAUDE_ENV_FILE"] = env_file if isinstance(env_file, str) and env_file else os.devnull
    return variables


def _effort(event_name: str, payload: Any, scene: Scene) -> str | None:
    in_turn = event_name in WITH_EFFORT or (
        event_name == "InstructionsLoaded" and field_of(payload, "load_reason") in LOADED_IN_TURN
    )
    effort = (scene.extra or {}).get("effort")
    return effort if in_turn and isinstance(effort, str) and effort else None


def _with_absolute_path(document: dict[str, Any], cwd: str) -> dict[str, Any]:
    """The paths of file tools are always sent absolute, also where the model wrote a relative one."""
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


_SCENE_TEXTS: Final = (
    "session_id", "transcript_path", "cwd", "permission_mode", "prompt_id", "agent_id", "agent_type", "model",
)  # fmt: skip


def parse_payload(document: Mapping[str, Any]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = family.event_name(document, ROWS)
    event = ROWS[name].event
    words = {claude: ours for ours, claude in WORDS.get(name, {}).items()}
    given = dict(document)
    if words and isinstance(given.get("error"), str):
        given["error"] = words.get(given["error"], given["error"])
    payload = payload_record(event, name, given)
    return Parsed(event, payload, _scene(name, event, document))


def _scene(name: str, event: EventSpec[Any], document: Mapping[str, Any]) -> Scene:
    known = scene_texts(document, _SCENE_TEXTS)
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
    return Scene(**known, extra=extra or None)


#: Where the result of a tool has the text that the model reads.
_RESULT_TEXT: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"Bash": ("stdout",), "Read": ("file", "content"), "Grep": ("content",), "WebFetch": ("result",)}
)


def tool_result(payload: Any, value: Any) -> Any:
    """A new result in the form the client takes for this tool; None if it has none, and the client would drop it.

    A tool of a server takes anything, every other an object with the keys of its own. Text stands for the whole
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
    """Flags and numbers that were left out stay, texts become empty; else the client would not take it."""
    for name, before in old.items():
        if name not in new:
            if not isinstance(before, str | bool | int | float | None):
                return None
            new = {**new, name: "" if isinstance(before, str) else before}
        elif before is not None and not isinstance(new[name], type(before)):
            return None
    return dict(new)
