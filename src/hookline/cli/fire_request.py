"""From words and a payload file to the event to fire, its payload and its scene."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec
from msgspec import Struct

from hookline.cli.event_names import unknown_event
from hookline.cli.fire_settings import RequestError, Setting, read_setting, set_fields, set_input
from hookline.dialects.native.parsing import parse_payload, payload_of
from hookline.model.events import EventSpec
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect


class Request(Struct, frozen=True):
    """One event to fire; `spelled` when it was named as a dialect names it, so that only those hooks run."""

    event: EventSpec[Any]
    payload: Any
    scene: Scene
    dialect: str | None = None
    spelled: str | None = None


class _Words(Struct, frozen=True):
    event: str | None
    tool: str | None
    settings: tuple[Setting, ...]


def read_request(
    words: Sequence[str],
    payload_file: str | None,
    cwd: str,
    events: Mapping[str, EventSpec[Any]],
    dialect: "Dialect | None" = None,
    others: "Iterable[Dialect]" = (),
) -> Request:
    """The event to fire. Words win over what the payload file says.

    A dialect that was named knows its own events and payloads; others are asked for a name nobody else has.
    """
    said = _words(words)
    document = _document(payload_file) if payload_file is not None else {}
    named = said.event or document.get("hook_event_name")
    if dialect is not None and (said.event in dialect.spellings or (said.event is None and document)):
        return _foreign(document, said, cwd, dialect)
    if isinstance(named, str) and named in events:
        return _native(document, named, said, cwd, events)
    if not named:
        raise RequestError(
            "say which event to fire: EVENT [TOOL] [key=value ...]; `hookline events` lists them"
        )
    spelled: list[str] = []
    for other in others if said.event is not None else ():
        if said.event in other.spellings:
            return _foreign(document, said, cwd, other)
        spelled += other.spellings
    raise unknown_event(str(named), events, spelled if dialect is None else dialect.spellings)


def _words(words: Sequence[str]) -> _Words:
    names = [word for word in words if "=" not in word]
    if len(names) > 2:
        raise RequestError(f"do not know what to do with {names[2]!r}: settings are written key=value")
    settings = tuple(read_setting(word) for word in words if "=" in word)
    return _Words(names[0] if names else None, names[1] if len(names) > 1 else None, settings)


def _native(
    document: dict[str, Any], name: str, said: _Words, cwd: str, events: Mapping[str, EventSpec[Any]]
) -> Request:
    event = events[name]
    document["hook_event_name"] = name
    _lay_over(document, event, said)
    parsed = parse_payload(document, events)
    return Request(parsed.event, parsed.payload, _placed(parsed.scene, cwd))


def _foreign(document: dict[str, Any], said: _Words, cwd: str, dialect: "Dialect") -> Request:
    """A payload in the agent's own shape, or made of words under the agent's own event name."""
    spelled = dialect.spellings.get(said.event) if said.event is not None else None
    if document:
        parsed = dialect.wire.parse(document)
        if said.tool is not None or said.settings:
            fields: dict[str, Any] = msgspec.to_builtins(parsed.payload)
            scene = msgspec.structs.replace(parsed.scene, **_lay_over(fields, parsed.event, said))
            parsed = Parsed(parsed.event, payload_of(parsed.event, fields), scene)
        name = spelled.name if spelled is not None else _own_name(document, dialect)
        return Request(parsed.event, parsed.payload, _placed(parsed.scene, cwd), dialect.name, name)
    if spelled is None:
        raise RequestError(f"say which event to fire; {dialect.name} has {', '.join(dialect.spellings)}")
    fields = {}
    scene = Scene(**_lay_over(fields, spelled.event, said))
    payload = payload_of(spelled.event, fields)
    return Request(spelled.event, payload, _placed(scene, cwd), dialect.name, spelled.name)


def _own_name(document: Mapping[str, Any], dialect: "Dialect") -> str | None:
    """The name the payload gives its event, under the key that agents have for it."""
    named = (document.get(key) for key in ("hook_event_name", "event"))
    return next((name for name in named if isinstance(name, str) and name in dialect.spellings), None)


def _document(file: str) -> dict[str, Any]:
    from hookline.documents.strict_json import StrictJsonError, read_strict

    try:
        if file == "-":
            raw = _standard_input()
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


def _standard_input() -> bytes:
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise RequestError("cannot read the payload: standard input is closed")
    return stream.buffer.read()


def _lay_over(document: dict[str, Any], event: EventSpec[Any], said: _Words) -> dict[str, Any]:
    """Put the words into the document. Returned is what they say of the scene."""
    if said.tool is None:
        return set_fields(document, event, said.settings)
    if not hasattr(event.payload, "tool_name"):
        raise RequestError(f"{event.name} has no tool, so {said.tool!r} is one word too many")
    document["tool_name"] = said.tool
    set_input(document, said.settings)
    return {}


def _placed(scene: Scene, cwd: str) -> Scene:
    return msgspec.structs.replace(
        scene,
        session_id=scene.session_id or "fire",
        cwd=scene.cwd or cwd,
        project_dir=scene.project_dir or cwd,
        attended=False,
    )


def working_directory(cwd: str | None) -> str:
    where = os.path.abspath(cwd or os.curdir)
    if not os.path.isdir(where):
        raise RequestError(f"there is no directory {where}")
    return where
