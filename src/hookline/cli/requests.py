"""Read which event is meant, and its payload: EVENT [TOOL] [key=value | key:=JSON ...] and --payload FILE."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec
from msgspec import Struct

from hookline.dialects.family.wire import payload_of
from hookline.dialects.registry import home_dialect
from hookline.matching.nearest import nearest
from hookline.model.errors import HooklineError, UnknownEventError
from hookline.model.events import EVENTS, EventSpec
from hookline.model.payloads import read_value
from hookline.model.safe_text import one_line
from hookline.model.session_info import INFO_TEXTS, SessionInfo
from hookline.model.wire import EventRequest, Parsed

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

#: The longest name that a message repeats.
_LONGEST_NAME = 200
#: Fields of every payload besides the event's own.
_INFO_TYPES: Mapping[str, Any] = {**dict.fromkeys(INFO_TEXTS, str), "turn": int}
_DEEPEST_KEY = 32
#: Characters of no tool name: a line for a shell has them.
_NO_TOOL_NAME = re.compile(r"[\s;|&$<>\"'`(){}]")
#: The canonical tool that runs a line in a shell.
_SHELL_TOOL = "Bash"


class RequestError(HooklineError):
    """An impossible request on the command line; the message says why and what to do."""


class EventName(Struct, frozen=True):
    """A dialect's own name of an event, and the event."""

    dialect: str
    name: str
    event: str


def other_dialects() -> "Iterator[Dialect]":
    """Yield the dialects of other agents, each built when it is reached."""
    from hookline.dialects.registry import every_dialect

    yield from (dialect for dialect in every_dialect() if dialect.has_agent)


def chosen(name: str) -> "Dialect":
    """Build the dialect that was named. Raises `UnknownDialectError`, which names the nearest."""
    from hookline.dialects.registry import dialect_named, standard_dialects
    from hookline.model.errors import UnknownDialectError

    found = dialect_named(name)
    if found is None:
        names = tuple(standard_dialects())
        raise UnknownDialectError(name[:_LONGEST_NAME], names, nearest(name, names))
    return found


def own_names(dialect: "Dialect", name: str) -> list[str]:
    """Return the dialect's own names that are meant: the given one, or all for an event of the table."""
    if name in dialect.events:
        return [name]
    found = [
        own for own in dialect.events if any(each.event.name == name for each in dialect.recorded_events(own))
    ]
    if found:
        return found
    if name in EVENTS:
        raise RequestError(f"{dialect.name} has no event {name}; it has {', '.join(dialect.events)}")
    raise unknown_event(name, (), dialect.events)


def all_event_names(dialects: "Iterable[Dialect]") -> Iterator[EventName]:
    """Yield all names.

    One name may mean several events, such as both that follow a tool: it succeeded, or it failed.
    """
    for dialect in dialects:
        for name in dialect.events:
            yield from (
                EventName(dialect.name, name, each.event.name) for each in dialect.recorded_events(name)
            )


def events_named(
    name: str, events: Mapping[str, EventSpec[Any]], dialects: "Iterable[Dialect]"
) -> list[EventName]:
    """Return the events with this name in the dialects; raises `UnknownEventError` if neither they nor the
    table have it.
    """
    names = list(all_event_names(dialects))
    found = [each for each in names if each.name == name]
    if not found and name not in events:
        raise unknown_event(name, events, (each.name for each in names))
    return found


def unknown_event(name: str, events: Iterable[str], others: Iterable[str] = ()) -> UnknownEventError:
    """Return the error with the nearest of all names; among equals the table's own."""
    own = {each.casefold(): each for each in events}
    meant = nearest(name, (*others, *own.values()))
    return UnknownEventError(
        name[:_LONGEST_NAME], None if meant is None else own.get(meant.casefold(), meant)
    )


class Setting(Struct, frozen=True):
    """`key=value`, or `key:=JSON`."""

    path: tuple[str, ...]
    text: str
    is_json: bool

    @property
    def key(self) -> str:
        return ".".join(self.path)


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
) -> EventRequest:
    """Return the requested event. Words win over the payload file.

    `dialect` was chosen, so its event names and its payloads come first; `others` come last, for a name that
    is in neither.
    """
    given = _words(words)
    document = _document(payload_file) if payload_file is not None else {}
    named = given.event or document.get("hook_event_name")
    if dialect is not None and (given.event in dialect.events or (given.event is None and document)):
        return _of_dialect(document, given, cwd, dialect)
    if isinstance(named, str) and named in events:
        return _of_table(document, named, given, cwd, events)
    if not named:
        raise RequestError(
            "name the event to fire: EVENT [TOOL] [key=value ...]; `hookline events` lists them"
        )
    names: list[str] = []
    for other in others if given.event is not None else ():
        if given.event in other.events:
            return _of_dialect(document, given, cwd, other)
        names += other.events
    raise unknown_event(str(named), events, names if dialect is None else dialect.events)


def _words(words: Sequence[str]) -> _Words:
    names = [word for word in words if "=" not in word]
    if len(names) > 2:
        raise RequestError(f"unexpected word {names[2]!r}: settings are written key=value")
    settings = tuple(_setting(word) for word in words if "=" in word)
    return _Words(names[0] if names else None, names[1] if len(names) > 1 else None, settings)


def _setting(word: str) -> Setting:
    key, _, text = word.partition("=")
    is_json = key.endswith(":")
    path = tuple(key.removesuffix(":").split("."))
    if not all(path):
        raise RequestError(f"{word!r} has no key: settings are written key=value")
    if len(path) > _DEEPEST_KEY:
        raise RequestError(f"a key may have at most {_DEEPEST_KEY} levels, this one has {len(path)}")
    return Setting(path, text, is_json)


def _of_table(
    document: dict[str, Any], name: str, given: _Words, cwd: str, events: Mapping[str, EventSpec[Any]]
) -> EventRequest:
    document["hook_event_name"] = name
    _apply(document, events[name], given)
    parsed = home_dialect(events).wire.parse(document)
    return EventRequest(parsed.event, parsed.payload, _placed(parsed.info, cwd))


def _of_dialect(document: dict[str, Any], given: _Words, cwd: str, dialect: "Dialect") -> EventRequest:
    """Read a payload in the agent's own shape, or make one of words under the agent's own event name."""
    own_event = dialect.events.get(given.event) if given.event is not None else None
    name = own_event.name if own_event is not None else _own_name(document, dialect)
    if name is not None and given.settings and _in_own_words(given, dialect, name):
        document, given = _said_by(document, given, dialect, name), _Words(given.event, None, ())
    if document:
        parsed = dialect.wire.parse(document)
        if given.tool is not None or given.settings:
            fields: dict[str, Any] = msgspec.to_builtins(parsed.payload)
            info = msgspec.structs.replace(parsed.info, **_apply(fields, parsed.event, given))
            parsed = Parsed(parsed.event, payload_of(parsed.event, fields), info)
        return EventRequest(parsed.event, parsed.payload, _placed(parsed.info, cwd), dialect.name, name)
    if own_event is None:
        raise RequestError(f"name the event to fire; {dialect.name} has {', '.join(dialect.events)}")
    fields = {}
    info = SessionInfo(**_apply(fields, own_event.event, given))
    payload = payload_of(own_event.event, fields)
    return EventRequest(own_event.event, payload, _placed(info, cwd), dialect.name, own_event.name)


def _in_own_words(given: _Words, dialect: "Dialect", name: str) -> bool:
    """Return True if the keys are those of the agent. Raises RequestError for one that neither it nor the table has."""
    from hookline.schemas.agent_event import own_keys

    keys = own_keys(dialect, name)
    if given.tool is not None or all(setting.path[0] in keys for setting in given.settings):
        return given.tool is None
    known = {*(_field_types(dialect.events[name].event) or ()), *_INFO_TYPES}
    wrong = next((each.path[0] for each in given.settings if each.path[0] not in known), None)
    if wrong is not None and _field_types(dialect.events[name].event) is not None:
        meant = nearest(wrong, (*known, *keys))
        listed = f"`hookline events {name} --dialect {dialect.name}` lists them"
        raise RequestError(
            f"{name} has no field {wrong!r}; {f'did you mean {meant!r}?' if meant else listed}"
        )
    return False


def _said_by(document: dict[str, Any], given: _Words, dialect: "Dialect", name: str) -> dict[str, Any]:
    """Return the agent's own document, with the words in it."""
    from hookline.schemas.agent_event import own_keys

    keys = own_keys(dialect, name)
    said = {**document, dialect.event_key: name}
    for setting in given.settings:
        _set(said, setting.path, _own_value(setting, keys[setting.path[0]]))
    return said


def _own_value(setting: Setting, example: Any) -> Any:
    """Return the value: text in the agent's document stays as typed; anything else is read as JSON where it is JSON."""
    if setting.is_json:
        return _json(setting)
    if not isinstance(example, str) and len(setting.path) == 1:
        with suppress(RequestError):
            return _json(setting)
    return setting.text


def _own_name(document: Mapping[str, Any], dialect: "Dialect") -> str | None:
    name = document.get(dialect.event_key)
    return name if isinstance(name, str) and name in dialect.events else None


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


def _placed(info: SessionInfo, cwd: str) -> SessionInfo:
    return msgspec.structs.replace(
        info,
        session_id=info.session_id or "fire",
        cwd=info.cwd or cwd,
        project_dir=info.project_dir or cwd,
        attended=False,
    )


def _apply(document: dict[str, Any], event: EventSpec[Any], given: _Words) -> dict[str, Any]:
    """Put the words into the payload document; return what they set in the session info."""
    if given.tool is None:
        return _set_fields(document, event, given.settings)
    if not hasattr(event.payload, "tool_name"):
        raise RequestError(f"{event.name} has no tool, so {given.tool!r} is one word too many")
    if _NO_TOOL_NAME.search(given.tool):
        raise RequestError(_no_tool_name(given))
    document["tool_name"] = given.tool
    # Keys of the tool's input. Text stays text: only the tool knows what types it takes.
    for setting in given.settings:
        value = _json(setting) if setting.is_json else setting.text
        _set(document, ("tool_input", *setting.path), value)
    return {}


def _no_tool_name(given: _Words) -> str:
    """Return why a text is no tool name of any agent, with the call that was probably meant."""
    import os
    import shlex

    from hookline.journal.redaction import Redactor

    shown = one_line(Redactor(os.environ).redact(given.tool or ""), _LONGEST_NAME)
    meant = f"{given.event} {_SHELL_TOOL} command={shlex.quote(shown)}"
    return f"{shown!r} is not the name of a tool; did you mean: fire {meant}"


def _set_fields(
    document: dict[str, Any], event: EventSpec[Any], settings: Sequence[Setting]
) -> dict[str, Any]:
    """Set fields of the payload or the session info; return what was set in the session info."""
    fields = _field_types(event)
    info: dict[str, Any] = {}
    for setting in settings:
        name = setting.path[0]
        if fields is not None and name not in fields and name not in _INFO_TYPES:
            raise RequestError(_no_such_field(event, name, fields))
        in_info = name in _INFO_TYPES and len(setting.path) == 1
        types = fields if fields is not None and name in fields else _INFO_TYPES
        value = _value(setting, types.get(name, Any))
        if in_info and value is not None:
            info[name] = _checked(setting, value)
        _set(document, setting.path, value)
    return info


def _field_types(event: EventSpec[Any]) -> Mapping[str, Any] | None:
    """Return the field types; None if the payload takes any key."""
    if not issubclass(event.payload, msgspec.Struct):
        return None
    return {field.encode_name: field.type for field in msgspec.structs.fields(event.payload)}


def _no_such_field(event: EventSpec[Any], name: str, fields: Mapping[str, Any]) -> str:
    meant = nearest(name, (*_INFO_TYPES, *fields))
    hint = f"did you mean {meant!r}?" if meant else f"`hookline events {event.name}` lists them"
    return f"{event.name} has no field {name!r}; {hint}"


def _value(setting: Setting, declared: Any) -> Any:
    """Return the value: a field that takes text gets the text as typed; any other field gets it read as JSON."""
    if setting.is_json:
        return _json(setting)
    if len(setting.path) > 1:
        return setting.text
    try:
        msgspec.convert(setting.text, declared, dec_hook=read_value)
    except msgspec.ValidationError:
        with suppress(RequestError):  # the check of the payload has the better message
            return _json(setting)
    return setting.text


def _checked(setting: Setting, value: Any) -> Any:
    declared = _INFO_TYPES[setting.key]
    if not isinstance(value, declared) or isinstance(value, bool):
        wanted = "text" if declared is str else "a whole number"
        raise RequestError(f"{setting.key}: {setting.text!r} is not {wanted}")
    return value


def _json(setting: Setting) -> Any:
    # Only here: most settings are plain text.
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


def answer_to(question: str) -> str:
    """Ask at the terminal; return the answer in lower case."""
    import termios

    # Text typed before the question is not an answer to it.
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower()
