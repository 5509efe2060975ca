"""Build the event that a test means, with its payload."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from hookline.config.load import Loader
from hookline.dialects.dialect import Dialect
from hookline.dialects.family.wire import payload_of
from hookline.dialects.registry import OWN_FORMAT
from hookline.engine.session import Session, info_fields
from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.session_info import INFO_TEXTS, SessionInfo
from hookline.model.wire import EventRequest
from hookline.testing.recordings import Recorded

#: Session fields that an event may set, besides the fields of its payload.
_INFO = frozenset((*INFO_TEXTS, "turn"))


class Requests:
    """Maker of requests for the events of one engine and the loaded dialects."""

    def __init__(self, loader: Loader, events: Mapping[str, EventSpec[Any]], session: Session) -> None:
        self._loader = loader
        self._events = events
        self._session = session
        #: Of the hooks that were loaded.
        self.dialects: tuple[str, ...] = ()
        #: The agent that calls, if the test says so.
        self.caller: str | None = None

    def call(self, event: EventSpec[Any], tool: str, **fields: Any) -> EventRequest:
        """Return a tool call, of the agent that has such a tool."""
        payload = event.payload(tool_name=tool, **fields)
        return EventRequest(event, payload, self._session.info, self._caller(tool))

    def named(self, event: EventSpec[Any] | str, payload: Any, fields: Mapping[str, Any]) -> EventRequest:
        if isinstance(event, EventSpec):
            return self._of_table(event, payload, fields)
        dialect = next(
            (each for each in self._candidates(event) if each is None or event in each.events), None
        )
        if dialect is None:
            if event not in self._events:
                raise self._unknown(event)
            return self._of_table(self._events[event], payload, fields)
        own = dialect.events[event]
        if isinstance(payload, Mapping):
            return self._parsed(dialect, {dialect.event_key: event, **cast("Mapping[str, Any]", payload)})
        request = self._of_table(own.event, payload, fields)
        return replace(request, dialect=dialect.name, event_name=own.name)

    def recorded(self, recorded: Recorded, project: str) -> EventRequest:
        return self._parsed(self._loader.dialect(recorded.dialect), recorded.placed(project))

    def _parsed(self, dialect: Dialect, document: Mapping[str, Any]) -> EventRequest:
        """Parse an agent's document. Its directory is the test's."""
        parsed = dialect.wire.parse(document)
        info = {
            name: value
            for name in SessionInfo.__struct_fields__
            if (value := getattr(parsed.info, name)) != getattr(_NO_SCENE, name)
            and name not in ("cwd", "project_dir", "attended")
        }
        name = document.get(dialect.event_key)
        own_name = name if isinstance(name, str) else None
        return EventRequest(parsed.event, parsed.payload, self._info(info), dialect.name, own_name)

    def _candidates(self, name: str) -> "Iterable[Dialect | None]":
        """Yield where a name is looked up: the one agent that is loaded, canonical names (None), other agents."""
        loaded = [each for each in self.dialects if each != OWN_FORMAT]
        if len(self.dialects) == 1 and loaded:
            yield self._loader.dialect(loaded[0])
        if name in self._events:
            yield None
        for each in (*loaded, *self._loader.names):
            if each != OWN_FORMAT:
                yield self._loader.dialect(each)

    def _caller(self, tool: str) -> str | None:
        if self.caller is not None:
            return None if self.caller == OWN_FORMAT else self._loader.dialect(self.caller).name
        for name in self.dialects:
            table = self._loader.dialect(name).own_tools
            if table is not None and tool in table.tools:
                return name
        return None

    def _of_table(self, event: EventSpec[Any], payload: Any, fields: Mapping[str, Any]) -> EventRequest:
        if self._events.get(event.name) is not event:
            raise UnknownEventError(event.name)
        if payload is None or isinstance(payload, Mapping):
            given = {**cast("Mapping[str, Any]", payload or {}), **fields}
            known = _field_names(event)
            if known is not None:
                _refuse_unknown(event, given, known)
            info = {key: given[key] for key in given if key in _INFO and key not in (known or ())}
            payload = payload_of(event, {key: value for key, value in given.items() if key not in info})
            return self._of_payload(event, payload, self._info(info))
        if fields:
            raise TypeError(f"{event.name}: give a payload or its fields, not both")
        if not isinstance(payload, event.payload):
            raise TypeError(f"{event.name} takes {event.payload.__name__}, not {type(payload).__name__}")
        return self._of_payload(event, payload, self._session.info)

    def _of_payload(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> EventRequest:
        return EventRequest(event, payload, info, self._caller(getattr(payload, "tool_name", "")))

    def _info(self, fields: Mapping[str, Any]) -> SessionInfo:
        """Return the session info of the test with these differences."""
        here = self._session.info
        return replace(here, **info_fields("fire", fields)) if fields else here

    def _unknown(self, name: str) -> UnknownEventError:
        own = (each for dialect in self.dialects for each in self._loader.dialect(dialect).events)
        return UnknownEventError(name, nearest(name, (*own, *self._events)))


_NO_SCENE = SessionInfo()


def _field_names(event: EventSpec[Any]) -> tuple[str, ...] | None:
    """Return the field names; None if the payload takes any key."""
    if not issubclass(event.payload, msgspec.Struct):
        return None
    return tuple(field.encode_name for field in msgspec.structs.fields(event.payload))


def _refuse_unknown(event: EventSpec[Any], given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known and name not in _INFO:
            close = nearest(name, (*known, *_INFO))
            hint = f"did you mean {close!r}?" if close else f"it has {', '.join(known)}"
            raise TypeError(f"{event.name} has no field {name!r}; {hint}")
