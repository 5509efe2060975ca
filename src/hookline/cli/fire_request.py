"""From words and a payload file to the event to fire, its payload and its scene."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from hookline.dialects.native.parsing import parse_payload
from hookline.documents.strict_json import StrictJsonError, read_strict
from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.scene import Scene
from hookline.model.wire import Parsed


class RequestError(Exception):
    """What was asked for cannot be fired; the message says why and what to do."""


def read_request(
    words: Sequence[str], payload_file: str | None, cwd: str, events: Mapping[str, EventSpec[Any]]
) -> Parsed:
    """The event to fire. Words win over what the payload file says."""
    names = [word for word in words if "=" not in word]
    settings = [word.partition("=") for word in words if "=" in word]
    document = _document(payload_file) if payload_file is not None else {}
    if names:
        document["hook_event_name"] = names[0]
    if not document.get("hook_event_name"):
        raise RequestError("say which event to fire: hookline fire EVENT ...; `hookline events` lists them")
    if len(names) > 2:
        raise RequestError(f"do not know what to do with {names[2]!r}: settings are written key=value")
    event = _row(document["hook_event_name"], events)
    _lay_over(document, event, names[1] if len(names) > 1 else None, settings)
    document.setdefault("session_id", "fire")
    document.setdefault("cwd", cwd)
    parsed = parse_payload(_converted(document, event), events)
    return Parsed(parsed.event, parsed.payload, _placed(parsed.scene, cwd))


def _document(file: str) -> dict[str, Any]:
    try:
        if file == "-":
            raw = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as stream:
                raw = stream.read()
        value = read_strict(raw)
    except OSError as problem:
        raise RequestError(f"cannot read the payload {file}: {problem.strerror}") from None
    except StrictJsonError as problem:
        raise RequestError(f"the payload {file} cannot be read as JSON: {problem}") from None
    if not isinstance(value, dict):
        raise RequestError(f"the payload {file} is not a JSON object")
    return cast("dict[str, Any]", value)


def _row(name: Any, events: Mapping[str, EventSpec[Any]]) -> EventSpec[Any]:
    row = events.get(name) if isinstance(name, str) else None
    if row is None:
        raise UnknownEventError(str(name), nearest(str(name), events))
    return row


def _lay_over(
    document: dict[str, Any],
    event: EventSpec[Any],
    tool: str | None,
    settings: Sequence[tuple[str, str, str]],
) -> None:
    target = document
    if tool is not None:
        if not hasattr(event.payload, "tool_name"):
            raise RequestError(f"{event.name} has no tool, so {tool!r} is one word too many")
        document["tool_name"] = tool
        if settings:
            target = document.setdefault("tool_input", {})
    for key, _, value in settings:
        _set(target, key.split("."), _value(value))


def _set(target: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        inner = target.setdefault(key, {})
        if not isinstance(inner, dict):
            raise RequestError(f"{'.'.join(path)}: {key} is not an object")
        target = cast("dict[str, Any]", inner)
    target[path[-1]] = value


def _value(text: str) -> Any:
    """Text stays text, unless it is plainly JSON: an object, a list, a number, true, false or null."""
    if (
        text[:1] in "{["
        or text in ("true", "false", "null")
        or text.lstrip("-").replace(".", "", 1).isdigit()
    ):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _converted(document: dict[str, Any], event: EventSpec[Any]) -> dict[str, Any]:
    """A number typed for a text field is that text: `prompt=42`."""
    texts = {
        field.encode_name
        for field in (
            msgspec.structs.fields(event.payload) if issubclass(event.payload, msgspec.Struct) else ()
        )
        if field.type in (str, str | None)
    }
    return {
        key: str(value) if key in texts and isinstance(value, int | float) else value
        for key, value in document.items()
    }


def _placed(scene: Scene, cwd: str) -> Scene:
    return msgspec.structs.replace(
        scene, cwd=scene.cwd or cwd, project_dir=scene.project_dir or cwd, attended=False
    )


def working_directory(cwd: str | None) -> str:
    where = os.path.abspath(cwd or os.curdir)
    if not os.path.isdir(where):
        raise RequestError(f"there is no directory {where}")
    return where
