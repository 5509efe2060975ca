"""What a hook is told: environment variables at every event, a document on stdin at four of them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, cast
from uuid import uuid4

from hookline.dialects.codewhale.conditions import current_mode
from hookline.dialects.codewhale.texts import (
    FIELD_CHARS,
    METADATA_BYTES,
    TOLD_CUT,
    at_most,
    cleaned,
    encodable,
    prefix,
    told,
)
from hookline.dialects.codewhale.vocabulary import BY_NAME, mode_of
from hookline.dialects.payload_json import written
from hookline.matching.conditions import exit_code_of
from hookline.matching.fields import read
from hookline.model.scene import Scene
from hookline.model.wire import Call

DOCUMENT_BYTES = 32 << 10
_TEXT_BYTES = 5_000
_JSON_BYTES = 10_000
_PREVIEW_BYTES = 2_048

#: These two are told under a second prefix as well.
_ALIASED = frozenset({"SESSION_ID", "TOOL_CALL_ID"})

Now = Callable[[], datetime]


def environment(call: Call) -> dict[str, str]:
    """The variables of this event that have a value. Never more than what any system lets through."""
    env: dict[str, str] = {}
    for name in BY_NAME[call.hook.policy.spelled].variables:
        value = _VARIABLES[name](call.payload, call.scene)
        if value is not None:
            env[f"DEEPSEEK_{name}"] = value
            if name in _ALIASED:
                env[f"CODEWHALE_{name}"] = value
    return env


def document(call: Call, now: Now) -> bytes:
    """What stands on stdin: one JSON document and a newline, or nothing at all."""
    tell = _DOCUMENTS.get(call.hook.policy.spelled)
    return b"" if tell is None else tell(call, now)


def _metadata(value: Any) -> str | None:
    return told(value, METADATA_BYTES) if isinstance(value, str) and value else None


def _extra(scene: Scene, name: str) -> Any:
    return scene.extra.get(name) if scene.extra is not None else None


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def workspace_of(scene: Scene) -> str:
    return scene.project_dir or scene.cwd


def _workspace(_payload: Any, scene: Scene) -> str | None:
    # Not made encodable: a directory whose name is not UTF-8 must reach the hook as it is.
    return workspace_of(scene)[:METADATA_BYTES] or None


def _total_tokens(_payload: Any, scene: Scene) -> str | None:
    tokens = _whole_number(_extra(scene, "total_tokens"))
    return None if tokens is None else str(tokens)


def _session_cost(payload: Any, scene: Scene) -> str | None:
    cost = read(payload, "cost_usd")
    cost = _extra(scene, "session_cost") if cost is None else cost
    return f"{cost:.6f}" if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _arguments(payload: Any, _scene: Scene) -> str | None:
    arguments = read(payload, "tool_input")
    if not arguments and (command := read(payload, "command")):
        arguments = {"command": command}
    return told(_json(arguments if arguments is not None else {}), _JSON_BYTES)


def _json(value: Any) -> str:
    return written({"": value})[4:-1].decode()


def _result(payload: Any, _scene: Scene) -> str | None:
    result = read(payload, "error")
    if result is None:
        result = read(payload, "tool_response")
    if result is None:
        return None if read(payload, "tool_name") is None else ""
    return told(result if isinstance(result, str) else _json(result), _JSON_BYTES)


def _success(payload: Any, _scene: Scene) -> str | None:
    if read(payload, "tool_name") is None:
        return None
    return "true" if read(payload, "error") is None else "false"


def _exit_code(payload: Any, _scene: Scene) -> str | None:
    code = exit_code_of(payload)
    return None if code is None else str(code)


def _message(payload: Any, _scene: Scene) -> str | None:
    text = read(payload, "last_assistant_message")
    text = read(payload, "prompt") if text is None else text
    return told(text, _TEXT_BYTES) if isinstance(text, str) else None


def _error(payload: Any, _scene: Scene) -> str | None:
    text = read(payload, "error")
    text = read(payload, "message") if text is None else text
    return told(text, _TEXT_BYTES) if isinstance(text, str) else None


def _previous_mode(payload: Any, _scene: Scene) -> str | None:
    mode = read(payload, "old_mode")
    return _metadata(mode_of(mode)) if isinstance(mode, str) else None


_VARIABLES: Mapping[str, Callable[[Any, Scene], str | None]] = MappingProxyType(
    {
        "SESSION_ID": lambda _payload, scene: _metadata(scene.session_id),
        "WORKSPACE": _workspace,
        "MODEL": lambda _payload, scene: _metadata(scene.model),
        "MODE": lambda payload, scene: _metadata(current_mode(payload, scene)),
        "TOTAL_TOKENS": _total_tokens,
        "SESSION_COST": _session_cost,
        "MESSAGE": _message,
        "ERROR": _error,
        "PREVIOUS_MODE": _previous_mode,
        "TOOL_NAME": lambda payload, _scene: _metadata(read(payload, "tool_name")),
        "TOOL_CALL_ID": lambda payload, _scene: _metadata(read(payload, "tool_use_id")),
        "TOOL_ARGS": _arguments,
        "TOOL_RESULT": _result,
        "TOOL_SUCCESS": _success,
        "TOOL_EXIT_CODE": _exit_code,
    }
)


def _scene_fields(call: Call, most: int = METADATA_BYTES) -> dict[str, Any]:
    scene = call.scene
    return {
        "session_id": told(scene.session_id, most),
        "workspace": told(workspace_of(scene), most),
        "mode": told(current_mode(call.payload, scene), most),
        "model": None if scene.model is None else told(scene.model, most),
        "total_tokens": _whole_number(_extra(scene, "total_tokens")),
    }


def _submitted(call: Call, _now: Now) -> bytes:
    """The message, or the longest beginning of it that fits when all the rest is told."""
    text = encodable(str(read(call.payload, "prompt") or ""))
    size = len(text.encode())
    rest = _rest_that_leaves_room(call, size)
    whole = _submit_document(text[:DOCUMENT_BYTES], size, rest)
    if len(whole) <= DOCUMENT_BYTES and len(text) <= DOCUMENT_BYTES:
        return whole
    fits, too_much = 0, min(len(text), DOCUMENT_BYTES) + 1
    while too_much - fits > 1:
        middle = (fits + too_much) // 2
        if len(_submit_document(text[:middle], size, rest)) <= DOCUMENT_BYTES:
            fits = middle
        else:
            too_much = middle
    return _submit_document(text[:fits], size, rest)


def _rest_that_leaves_room(call: Call, size: int) -> dict[str, Any]:
    """What is told beside the message, shortened or left out where it would crowd the message out."""
    for most in (METADATA_BYTES, 1024, 256):
        rest = _scene_fields(call, most)
        if len(_submit_document("", size, rest)) <= DOCUMENT_BYTES // 2:
            return rest
    return dict.fromkeys(("session_id", "workspace", "mode", "model", "total_tokens"))


def _submit_document(text: str, original: int, rest: Mapping[str, Any]) -> bytes:
    kept = len(text.encode())
    return _line(
        {
            "event": "message_submit",
            "text": text,
            "text_bytes": kept,
            "text_original_bytes": original,
            "text_truncated": kept < original,
            **rest,
        }
    )


def _line(fields: Mapping[str, Any]) -> bytes:
    return written(fields) + b"\n"


_USAGE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "input_tokens": (),
        "output_tokens": (),
        "prompt_cache_hit_tokens": ("cache_read_input_tokens",),
        "prompt_cache_miss_tokens": (),
        "prompt_cache_write_tokens": ("cache_creation_input_tokens",),
        "reasoning_tokens": (),
        "reasoning_replay_tokens": (),
    }
)
_TOTALS = ("session_tokens", "conversation_tokens", "input_tokens", "output_tokens")


def _counts(value: Any, names: Mapping[str, tuple[str, ...]]) -> dict[str, int | None]:
    given: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    counts: dict[str, int | None] = {}
    for name, others in names.items():
        found = next((given[each] for each in (name, *others) if each in given), None)
        counts[name] = _whole_number(found)
    return counts


def _settled(call: Call, now: Now) -> bytes:
    payload, scene = call.payload, call.scene
    backed = _extra(scene, "model_backed") is not False
    usage = _counts(read(payload, "usage"), _USAGE)
    totals = _counts(read(payload, "totals"), dict.fromkeys(_TOTALS, ()))
    told_fields = _scene_fields(call)
    error = read(payload, "error")
    fields: dict[str, Any] = {
        "event": "turn_end",
        **{key: told_fields[key] for key in ("session_id", "workspace", "mode")},
        "created_at": _extra(scene, "created_at") or now().isoformat(),
        "model_backed": backed,
        "provider": _extra(scene, "provider") if backed else None,
        "billing_surface": _extra(scene, "billing_surface") if backed else None,
        "model": told_fields["model"],
        "turn_id": read(payload, "turn_id") or _turn_id(payload, backed=backed),
        "status": str(read(payload, "status") or "completed"),
        "error": at_most(cleaned(encodable(error)), FIELD_CHARS) if isinstance(error, str) else None,
        "duration_ms": _whole_number(read(payload, "duration_ms")) or 0,
        "usage": {**usage, **{key: usage[key] or 0 for key in ("input_tokens", "output_tokens")}},
        "totals": {key: count or 0 for key, count in totals.items()},
        "tool_count": _whole_number(read(payload, "tool_count")) or 0,
        "queued_message_count": _whole_number(read(payload, "queued_message_count")) or 0,
        # Reserved there for hooks that send the agent back to work; today nothing sets it.
        "stop_hook_active": False,
    }
    return _line(fields)


def _turn_id(payload: Any, *, backed: bool) -> str:
    return f"turn_{read(payload, 'turn') or 1}" if backed else f"lifecycle_{uuid4()}"


def _spawned(call: Call, _now: Now) -> bytes:
    shown, was_cut = _preview(read(call.payload, "prompt"))
    return _line({**_subagent(call), "prompt_preview": shown, "prompt_truncated": was_cut})


def _completed(call: Call, _now: Now) -> bytes:
    shown, was_cut = _preview(read(call.payload, "last_assistant_message"))
    status = str(read(call.payload, "status") or "unknown")
    return _line(
        {**_subagent(call), "result_preview": shown, "result_truncated": was_cut, "status": told(status, 256)}
    )


def _subagent(call: Call) -> dict[str, Any]:
    agent = str(read(call.payload, "agent_id") or "")
    return {
        "event": call.hook.policy.spelled,
        "agent_id": told(agent, METADATA_BYTES),
        **_scene_fields(call),
    }


def _preview(text: Any) -> tuple[str, bool]:
    kept, was_cut = prefix(encodable(text), _PREVIEW_BYTES) if isinstance(text, str) else ("", False)
    return (kept + TOLD_CUT if was_cut else kept), was_cut


_DOCUMENTS: Mapping[str, Callable[[Call, Now], bytes]] = MappingProxyType(
    {
        "message_submit": _submitted,
        "turn_end": _settled,
        "subagent_spawn": _spawned,
        "subagent_complete": _completed,
    }
)
