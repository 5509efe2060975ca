"""Payload documents, both ways: which keys an event sends, and which event a document is about."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from hookline.dialects.json_text import written
from hookline.dialects.surrogates import converted
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, HooklineError, UnknownEventError
from hookline.model.events import EventSpec, field_of
from hookline.model.scene import SCENE_TEXTS, Scene


class PayloadError(HooklineError):
    """A payload that has no JSON form."""


class Key(Struct, frozen=True):
    """One key of a document."""

    name: str
    #: Sent where the value is not known; UNSET: the key is left out then.
    default: Any = UNSET
    #: An empty value is sent too; only None is left out.
    keeps_empty: bool = False


def encoded(document: Mapping[str, Any]) -> bytes:
    """Raises `PayloadError`."""
    try:
        return written(document)
    except (TypeError, ValueError) as error:
        raise PayloadError(f"the payload cannot be written as JSON: {error}") from None


def scene_document(event_name: str, scene: Scene) -> dict[str, Any]:
    """The keys every payload begins with."""
    return {
        "session_id": scene.session_id,
        "transcript_path": scene.transcript_path,
        "cwd": scene.cwd,
        "hook_event_name": event_name,
        "permission_mode": scene.permission_mode,
    }


def key_values(
    keys: Iterable[Key],
    payload: Any,
    *,
    otherwise: Callable[[str], Any],
    is_empty: Callable[[Any], bool],
) -> dict[str, Any]:
    """The keys an event sends. `otherwise` gives the value of a key that the payload does not have."""
    values: dict[str, Any] = {}
    for key in keys:
        value = field_of(payload, key.name)
        if value is None or is_empty(value):
            known = otherwise(key.name)
            value = value if known is None else known
        if value is not None and (key.keeps_empty or not is_empty(value)):
            values[key.name] = value
        elif key.default is not UNSET:
            values[key.name] = key.default
    return values


def event_name(document: Mapping[str, Any], known: Iterable[str], key: str = "hook_event_name") -> str:
    """Which event a document is about. Raises `ConfigError` or `UnknownEventError`."""
    name = document.get(key)
    if not isinstance(name, str):
        raise bad_payload(f"{key} is missing" if name is None else f"{key} is not text")
    if name not in known:
        from hookline.matching.nearest import nearest  # noqa: PLC0415 - only for this message

        raise UnknownEventError(name, nearest(name, known))
    return name


def payload_record(
    event: EventSpec[Any], name: str, values: Mapping[str, Any], keys: Mapping[str, str] | None = None
) -> Any:
    """The event's payload out of a document that may hold more; `keys` are the document's names of its fields.

    Raises `ConfigError` that names the field.
    """
    try:
        return converted(values, event.payload)
    except msgspec.ValidationError as error:
        field, blank, problem = field_first(str(error)).partition(" ")
        field = (keys or {}).get(field, field)
        raise bad_payload(f"the payload of {name}: {field}{blank}{problem}") from None
    except RecursionError:
        raise bad_payload(f"the payload of {name} is nested too deeply") from None


def scene_texts(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What a document says of the scene, all of it text. Raises `ConfigError` that names the field."""
    known: dict[str, Any] = {}
    for name in names:
        value = document.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise bad_payload(f"{name} is not text")
        known[name] = value
    return known


def bad_payload(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])


def field_first(problem: str) -> str:
    """msgspec's sentence with the field first: ``Expected `str`, got `int` - at `$.tool_name` ``."""
    said, found, place = problem.partition(" - at `$.")
    if problem.startswith("Object missing required field"):
        missing = said.split("`")[1]
        return f"{missing} is missing" if not found else f"{place.rstrip('`')}.{missing} is missing"
    said = said.replace("`", "")
    return f"{place.rstrip('`')}: {said[:1].lower()}{said[1:]}" if found else said


def payload_of(event: EventSpec[Any], document: Mapping[str, Any]) -> Any:
    """The event's payload out of a document that may hold more."""
    if issubclass(event.payload, Mapping):
        return {key: value for key, value in document.items() if key not in (*SCENE_TEXTS, "hook_event_name")}
    return payload_record(event, event.name, dict(document))
