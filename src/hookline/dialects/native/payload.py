"""A payload as the document and the environment that external code gets."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.native.truncation import fitted
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, HooklineError, UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.scene import Scene
from hookline.model.wire import Call, Encoded, Parsed

#: What a hook is given at most.
STDIN_LIMIT = 8 << 20

#: Payload fields that hooks rely on even when they are at their default.
_ALWAYS = ("tool_input", "stop_hook_active")
_WHEN_SET = ("agent_id", "agent_type", "parent_agent_id", "prompt_id", "model", "turn")


class PayloadError(HooklineError):
    """A payload that cannot be told to external code."""


def tell(call: Call, limit: int = STDIN_LIMIT) -> Encoded:
    document = payload_document(call.event, call.hook.policy.event_name, call.payload, call.scene)
    try:
        text = _encoded(document)
        if len(text) >= limit:
            text = fitted(text, lambda: msgspec.to_builtins(document, enc_hook=_plain), limit - 1, _encoded)
        if text is None:
            raise PayloadError(f"the payload needs more than {limit:,} bytes, and has no long texts to cut")
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError(f"the payload cannot be written as JSON: {error}") from None
    return Encoded(text + b"\n", environment(call.hook.policy.event_name, call.scene))


def payload_document(event: EventSpec[Any], event_name: str, payload: Any, scene: Scene) -> dict[str, Any]:
    """The native payload: where and who first, then what is known at this event."""
    document: dict[str, Any] = {
        "session_id": scene.session_id,
        "transcript_path": scene.transcript_path,
        "cwd": scene.cwd,
        "hook_event_name": event_name,
        "permission_mode": scene.permission_mode,
    }
    for name in _WHEN_SET:
        value = getattr(scene, name)
        if value is not None:
            document[name] = value
    document.update(_fields(event, payload))
    return document


def environment(event_name: str, scene: Scene) -> dict[str, str]:
    project = scene.project_dir or scene.cwd
    return {
        "HOOKLINE_EVENT": event_name,
        "HOOKLINE_SESSION_ID": scene.session_id,
        "HOOKLINE_CWD": scene.cwd,
        "HOOKLINE_PROJECT_DIR": project,
        # A native file may be one that was written for Claude Code.
        "CLAUDE_PROJECT_DIR": project,
    }


def _fields(event: EventSpec[Any], payload: Any) -> dict[str, Any]:
    if isinstance(payload, Mapping):
        return dict(cast("Mapping[str, Any]", payload))
    if isinstance(payload, Struct):
        return _struct_fields(event, payload)
    import dataclasses  # noqa: PLC0415 - only hosts with rows of their own have such payloads

    if dataclasses.is_dataclass(payload) and not isinstance(payload, type):
        return {each.name: getattr(payload, each.name) for each in dataclasses.fields(payload)}
    raise PayloadError(f"a payload of type {type(payload).__name__} is no record and no mapping")


def _struct_fields(event: EventSpec[Any], payload: Struct) -> dict[str, Any]:
    """Left at its default, a field is not sent, unless a matcher, a rewrite or a usual script reads it."""
    try:
        told: dict[str, Any] = msgspec.to_builtins(payload, enc_hook=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError(f"the payload cannot be written as JSON: {error}") from None
    names = payload.__struct_fields__
    for name in (*_ALWAYS, event.subject, event.rewrites):
        if name in names and name not in told:
            told[name] = getattr(payload, name)
    return told


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def _encoded(document: Any) -> bytes:
    try:
        return _encoder.encode(document)
    except UnicodeEncodeError:
        # A directory whose name is not UTF-8 holds lone surrogates: told as JSON escapes, not refused.
        import json  # noqa: PLC0415 - rare

        return json.dumps(msgspec.to_builtins(document, enc_hook=_plain), separators=(",", ":")).encode()


#: What every payload document may say of the scene, beside its number of the turn.
SCENE_TEXTS = (
    "session_id",
    "transcript_path",
    "cwd",
    "permission_mode",
    "model",
    "prompt_id",
    "agent_id",
    "agent_type",
    "parent_agent_id",
)


def parse_payload(document: Mapping[str, Any], events: Mapping[str, EventSpec[Any]]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = document.get("hook_event_name")
    if not isinstance(name, str):
        raise _wrong("hook_event_name is missing" if name is None else "hook_event_name is not text")
    event = events.get(name)
    if event is None:
        # Only for this message.
        from hookline.matching.nearest import nearest  # noqa: PLC0415 - see above

        raise UnknownEventError(name, nearest(name, events))
    return Parsed(event, payload_of(event, document), _scene(document))


def payload_of(event: EventSpec[Any], document: Mapping[str, Any]) -> Any:
    """The event's payload out of a document that may hold more."""
    if issubclass(event.payload, Mapping):
        return {key: value for key, value in document.items() if key not in (*SCENE_TEXTS, "hook_event_name")}
    try:
        return msgspec.convert(dict(document), event.payload)
    except msgspec.ValidationError as error:
        raise _wrong(f"the payload of {event.name}: {_named(str(error))}") from None


def _scene(document: Mapping[str, Any]) -> Scene:
    known: dict[str, Any] = {}
    for name in SCENE_TEXTS:
        value = document.get(name)
        if value is not None and not isinstance(value, str):
            raise _wrong(f"{name} is not text")
        if value is not None:
            known[name] = value
    turn = document.get("turn")
    if isinstance(turn, int):
        known["turn"] = turn
    return Scene(**known)


def _named(problem: str) -> str:
    """msgspec's sentence with the field first: ``Expected `str`, got `int` - at `$.tool_name` ``."""
    said, found, place = problem.partition(" - at `$.")
    if problem.startswith("Object missing required field"):
        missing = said.split("`")[1]
        return f"{missing} is missing" if not found else f"{place.rstrip('`')}.{missing} is missing"
    said = said.replace("`", "")
    return f"{place.rstrip('`')}: {said[:1].lower()}{said[1:]}" if found else said


def _wrong(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])
