"""A native payload document read back: which event, what is known, where it happened."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

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
