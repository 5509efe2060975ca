"""What a hook is told: environment variables at every event, a document on stdin at four of them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, cast
from uuid import uuid4

from hookline.dialects.codewhale.conditions import current_mode
from hookline.dialects.codewhale.events import BY_NAME, Row, mode_of
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
from hookline.dialects.json_text import LenientJsonError, read_lenient, written
from hookline.matching.conditions import exit_code_of
from hookline.matching.nearest import nearest
from hookline.model import payloads as p
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.events import EventSpec, field_of
from hookline.model.scene import Scene
from hookline.model.wire import Call, Parsed

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
    for name in BY_NAME[call.hook.policy.event_name].variables:
        value = _VARIABLES[name](call.payload, call.scene)
        if value is not None:
            env[f"DEEPSEEK_{name}"] = value
            if name in _ALIASED:
                env[f"CODEWHALE_{name}"] = value
    return env


def document(call: Call, now: Now) -> bytes:
    """What stands on stdin: one JSON document and a newline, or nothing at all."""
    tell = _DOCUMENTS.get(call.hook.policy.event_name)
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
    cost = field_of(payload, "cost_usd")
    cost = _extra(scene, "session_cost") if cost is None else cost
    return f"{cost:.6f}" if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _arguments(payload: Any, _scene: Scene) -> str | None:
    arguments = field_of(payload, "tool_input")
    if not arguments and (command := field_of(payload, "command")):
        arguments = {"command": command}
    return told(_json(arguments if arguments is not None else {}), _JSON_BYTES)


def _json(value: Any) -> str:
    return written({"": value})[4:-1].decode()


def _result(payload: Any, _scene: Scene) -> str | None:
    result = field_of(payload, "error")
    if result is None:
        result = field_of(payload, "tool_response")
    if result is None:
        return None if field_of(payload, "tool_name") is None else ""
    return told(result if isinstance(result, str) else _json(result), _JSON_BYTES)


def _success(payload: Any, _scene: Scene) -> str | None:
    if field_of(payload, "tool_name") is None:
        return None
    return "true" if field_of(payload, "error") is None else "false"


def _exit_code(payload: Any, _scene: Scene) -> str | None:
    code = exit_code_of(payload)
    return None if code is None else str(code)


def _message(payload: Any, _scene: Scene) -> str | None:
    text = field_of(payload, "last_assistant_message")
    text = field_of(payload, "prompt") if text is None else text
    return told(text, _TEXT_BYTES) if isinstance(text, str) else None


def _error(payload: Any, _scene: Scene) -> str | None:
    text = field_of(payload, "error")
    text = field_of(payload, "message") if text is None else text
    return told(text, _TEXT_BYTES) if isinstance(text, str) else None


def _previous_mode(payload: Any, _scene: Scene) -> str | None:
    mode = field_of(payload, "old_mode")
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
        "TOOL_NAME": lambda payload, _scene: _metadata(field_of(payload, "tool_name")),
        "TOOL_CALL_ID": lambda payload, _scene: _metadata(field_of(payload, "tool_use_id")),
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
    text = encodable(str(field_of(call.payload, "prompt") or ""))
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
    usage = _counts(field_of(payload, "usage"), _USAGE)
    totals = _counts(field_of(payload, "totals"), dict.fromkeys(_TOTALS, ()))
    told_fields = _scene_fields(call)
    error = field_of(payload, "error")
    fields: dict[str, Any] = {
        "event": "turn_end",
        **{key: told_fields[key] for key in ("session_id", "workspace", "mode")},
        "created_at": _extra(scene, "created_at") or now().isoformat(),
        "model_backed": backed,
        "provider": _extra(scene, "provider") if backed else None,
        "billing_surface": _extra(scene, "billing_surface") if backed else None,
        "model": told_fields["model"],
        "turn_id": field_of(payload, "turn_id") or _turn_id(payload, backed=backed),
        "status": str(field_of(payload, "status") or "completed"),
        "error": at_most(cleaned(encodable(error)), FIELD_CHARS) if isinstance(error, str) else None,
        "duration_ms": _whole_number(field_of(payload, "duration_ms")) or 0,
        "usage": {**usage, **{key: usage[key] or 0 for key in ("input_tokens", "output_tokens")}},
        "totals": {key: count or 0 for key, count in totals.items()},
        "tool_count": _whole_number(field_of(payload, "tool_count")) or 0,
        "queued_message_count": _whole_number(field_of(payload, "queued_message_count")) or 0,
        # Reserved there for hooks that send the agent back to work; today nothing sets it.
        "stop_hook_active": False,
    }
    return _line(fields)


def _turn_id(payload: Any, *, backed: bool) -> str:
    return f"turn_{field_of(payload, 'turn') or 1}" if backed else f"lifecycle_{uuid4()}"


def _spawned(call: Call, _now: Now) -> bytes:
    shown, was_cut = _preview(field_of(call.payload, "prompt"))
    return _line({**_subagent(call), "prompt_preview": shown, "prompt_truncated": was_cut})


def _completed(call: Call, _now: Now) -> bytes:
    shown, was_cut = _preview(field_of(call.payload, "last_assistant_message"))
    status = str(field_of(call.payload, "status") or "unknown")
    return _line(
        {**_subagent(call), "result_preview": shown, "result_truncated": was_cut, "status": told(status, 256)}
    )


def _subagent(call: Call) -> dict[str, Any]:
    agent = str(field_of(call.payload, "agent_id") or "")
    return {
        "event": call.hook.policy.event_name,
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


_PREFIXES = ("CODEWHALE_", "DEEPSEEK_")
_EXTRAS = ("total_tokens", "session_cost", "provider", "billing_surface", "model_backed", "created_at")


def parse_payload(document: Mapping[str, Any]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    told = _Told(document)
    name = told.text("event")
    if not name:
        raise _wrong("event is missing")
    row = BY_NAME.get(name)
    if row is None:
        raise UnknownEventError(name, nearest(name, BY_NAME))
    event, payload = _PAYLOADS[name](told, row)
    return Parsed(event, payload, _scene(told))


class _Told:
    """The fields of a document, by their plain names, each with the type it must have."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.fields: dict[str, Any] = {}
        for start in _PREFIXES:
            found = {key: value for key, value in document.items() if key.startswith(start)}
            self.fields.update({key.removeprefix(start).lower(): value for key, value in found.items()})
        self.fields.update(document)

    def __contains__(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def text(self, name: str, otherwise: str = "") -> str:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise _wrong(f"{name} is not text")
        return otherwise if value is None else value

    def number(self, name: str) -> int | None:
        """A whole number; a variable holds it as text."""
        value = self.fields.get(name)
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 20:
            return int(value)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise _wrong(f"{name} is not a whole number")
        return value

    def count(self, name: str) -> int:
        return self.number(name) or 0

    def object(self, name: str) -> Mapping[str, Any]:
        value = self.fields.get(name)
        if isinstance(value, str):
            value = _decoded(name, value)
        if value is not None and not isinstance(value, Mapping):
            raise _wrong(f"{name} is not an object")
        return cast("Mapping[str, Any]", value) if value is not None else {}

    def required(self, name: str) -> str:
        if name not in self:
            raise _wrong(f"{name} is missing")
        return self.text(name)


def _decoded(name: str, text: str) -> Any:
    if text.endswith(TOLD_CUT):
        # Judging half of the arguments would be worse than not judging them.
        raise _wrong(f"{name} was cut off by CodeWhale, so nobody can know what it says")
    try:
        return read_lenient(text)
    except LenientJsonError as error:
        raise _wrong(f"{name} is not JSON: {error}") from None


def _scene(told: _Told) -> Scene:
    workspace = told.text("workspace")
    extra = {name: told.fields[name] for name in _EXTRAS if told.fields.get(name) is not None}
    if "total_tokens" in extra:
        extra["total_tokens"] = told.number("total_tokens")
    if "session_cost" in extra:
        extra["session_cost"] = _cost(told)
    return Scene(
        session_id=told.text("session_id"),
        cwd=workspace,
        project_dir=workspace or None,
        permission_mode=mode_of(told.text("mode")) or "default",
        model=told.text("model") or None,
        extra=extra or None,
    )


Found = tuple[EventSpec[Any], Any]


def _session_start(told: _Told, row: Row) -> Found:
    return row.events[0], p.SessionStarted(model=told.text("model") or None)


def _session_end(told: _Told, row: Row) -> Found:
    return row.events[0], p.SessionEnded(cost_usd=_cost(told))


def _cost(told: _Told) -> float | None:
    cost = told.fields.get("session_cost")
    try:
        return None if cost is None else float(cost)
    except (TypeError, ValueError, OverflowError):
        raise _wrong("session_cost is not a number") from None


def _message_submit(told: _Told, row: Row) -> Found:
    if told.fields.get("text_truncated") is True:
        raise _wrong("text was cut off by CodeWhale, so nobody can know what it says")
    return row.events[0], p.Prompt(prompt=told.required("text" if "text" in told else "message"))


def _call(told: _Told) -> dict[str, Any]:
    return {
        "tool_name": told.required("tool_name"),
        "tool_input": told.object("tool_args"),
        "tool_use_id": told.text("tool_call_id") or None,
    }


def _tool_call_before(told: _Told, row: Row) -> Found:
    return row.events[0], p.ToolCall(**_call(told))


def _failed(told: _Told) -> p.ToolFailure:
    error = told.text("error") or told.text("tool_result")
    return p.ToolFailure(**_call(told), error=error, exit_code=told.number("tool_exit_code"))


def _tool_call_after(told: _Told, row: Row) -> Found:
    succeeded, failed = row.events
    if told.fields.get("tool_success") in ("false", False):
        return failed, _failed(told)
    response: Any = told.text("tool_result")
    code = told.number("tool_exit_code")
    if code is not None:
        response = {"output": response, "exit_code": code}
    return succeeded, p.ToolResult(**_call(told), tool_response=response)


def _mode_change(told: _Told, row: Row) -> Found:
    old, new = mode_of(told.required("previous_mode")), mode_of(told.required("mode"))
    return row.events[0], p.ModeMove(old_mode=old, new_mode=new)


def _on_error(told: _Told, row: Row) -> Found:
    happened, failed = row.events
    if "tool_name" in told:
        return failed, _failed(told)
    return happened, p.RunError(message=told.required("error"))


def _turn_end(told: _Told, row: Row) -> Found:
    return row.events[0], p.TurnSummary(
        status=told.text("status", "completed"),
        turn_id=told.text("turn_id") or None,
        error=told.text("error") or None,
        duration_ms=told.count("duration_ms"),
        usage=told.object("usage"),
        totals=told.object("totals"),
        tool_count=told.count("tool_count"),
        queued_message_count=told.count("queued_message_count"),
    )


def _subagent_spawn(told: _Told, row: Row) -> Found:
    prompt = told.text("prompt_preview") or told.text("message")
    return row.events[0], p.SubagentBegun(agent_id=told.required("agent_id"), prompt=prompt)


def _subagent_complete(told: _Told, row: Row) -> Found:
    result = told.text("result_preview") or told.text("message")
    agent, status = told.required("agent_id"), told.text("status", "unknown")
    return row.events[0], p.SubagentEnded(agent_id=agent, status=status, last_assistant_message=result)


def _shell_env(told: _Told, row: Row) -> Found:
    given = told.object("tool_args")
    command = given.get("command")
    return row.events[0], p.ShellStart(
        tool_name=told.text("tool_name", "exec_shell"),
        command=command if isinstance(command, str) else "",
        tool_input=given,
    )


_PAYLOADS: Mapping[str, Callable[[_Told, Row], Found]] = MappingProxyType(
    {
        "session_start": _session_start,
        "session_end": _session_end,
        "message_submit": _message_submit,
        "tool_call_before": _tool_call_before,
        "tool_call_after": _tool_call_after,
        "mode_change": _mode_change,
        "on_error": _on_error,
        "turn_end": _turn_end,
        "subagent_spawn": _subagent_spawn,
        "subagent_complete": _subagent_complete,
        "shell_env": _shell_env,
    }
)


def _wrong(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])
