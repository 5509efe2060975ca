"""`key=value` and `key:=JSON` on the command line of `fire`, and what they set."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.native.parsing import SCENE_TEXTS
from hookline.matching.nearest import nearest
from hookline.model.events import EventSpec

#: What every payload document may say beside the event's own fields.
_SCENE_TYPES: Mapping[str, Any] = {**dict.fromkeys(SCENE_TEXTS, str), "turn": int}
_DEEPEST = 32


class RequestError(Exception):
    """What was asked for cannot be fired; the message says why and what to do."""


class Setting(Struct, frozen=True):
    path: tuple[str, ...]
    text: str
    is_json: bool

    @property
    def key(self) -> str:
        return ".".join(self.path)


def read_setting(word: str) -> Setting:
    key, _, text = word.partition("=")
    is_json = key.endswith(":")
    path = tuple(key.removesuffix(":").split("."))
    if not all(path):
        raise RequestError(f"{word!r} has no key: settings are written key=value")
    if len(path) > _DEEPEST:
        raise RequestError(f"a key goes {len(path)} levels deep; {_DEEPEST} are read")
    return Setting(path, text, is_json)


def set_input(document: dict[str, Any], settings: Sequence[Setting]) -> None:
    """With a tool, keys are those of its input, and text stays text: nobody knows better what the tool takes."""
    for setting in settings:
        value = _json(setting) if setting.is_json else setting.text
        _set(document, ("tool_input", *setting.path), value)


def set_fields(
    document: dict[str, Any], event: EventSpec[Any], settings: Sequence[Setting]
) -> dict[str, Any]:
    """Without one, keys are fields of the payload or the scene. Returned is what was said of the scene."""
    fields = _field_types(event)
    scene: dict[str, Any] = {}
    for setting in settings:
        name = setting.path[0]
        if fields is not None and name not in fields and name not in _SCENE_TYPES:
            raise RequestError(_no_such_field(event, name, fields))
        in_scene = name in _SCENE_TYPES and len(setting.path) == 1
        types = fields if fields is not None and name in fields else _SCENE_TYPES
        value = _value(setting, types.get(name, Any))
        if in_scene and value is not None:
            scene[name] = _checked(setting, value)
        _set(document, setting.path, value)
    return scene


def _field_types(event: EventSpec[Any]) -> Mapping[str, Any] | None:
    """None where the payload takes any key."""
    if not issubclass(event.payload, msgspec.Struct):
        return None
    return {field.encode_name: field.type for field in msgspec.structs.fields(event.payload)}


def _no_such_field(event: EventSpec[Any], name: str, fields: Mapping[str, Any]) -> str:
    meant = nearest(name, (*_SCENE_TYPES, *fields))
    hint = f"did you mean {meant!r}?" if meant else f"`hookline events {event.name}` lists them"
    return f"{event.name} has no field {name!r}; {hint}"


def _value(setting: Setting, declared: Any) -> Any:
    """A field that takes text gets the text as it was typed; any other one gets what the text is as JSON."""
    if setting.is_json:
        return _json(setting)
    if len(setting.path) > 1:
        return setting.text
    try:
        msgspec.convert(setting.text, declared)
    except msgspec.ValidationError:
        with suppress(RequestError):  # the check of the payload says better what the field takes
            return _json(setting)
    return setting.text


def _checked(setting: Setting, value: Any) -> Any:
    declared = _SCENE_TYPES[setting.key]
    if not isinstance(value, declared) or isinstance(value, bool):
        wanted = "text" if declared is str else "a whole number"
        raise RequestError(f"{setting.key}: {setting.text!r} is not {wanted}")
    return value


def _json(setting: Setting) -> Any:
    # Only what is not plain text needs it.
    from hookline.documents.strict_json import StrictJsonError, read_strict

    try:
        return read_strict(setting.text.encode("utf-8", "surrogateescape"))
    except StrictJsonError as problem:
        raise RequestError(f"{setting.key}:= takes JSON: {problem}") from None


def _set(target: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for depth, key in enumerate(path[:-1], 1):
        inner = target.setdefault(key, {})
        if not isinstance(inner, dict):
            whole, part = ".".join(path), ".".join(path[:depth])
            raise RequestError(f"{whole} cannot be set: {part} of the payload is not an object")
        target = cast("dict[str, Any]", inner)
    target[path[-1]] = value
