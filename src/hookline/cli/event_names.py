"""What the agents call an event, and which event somebody means by a name."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownEventError
from hookline.model.events import EventSpec

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

#: Longer than any name of an event: what is told back to whoever typed it.
_LONGEST = 200


class EventName(Struct, frozen=True):
    """A dialect's own name, and the event that it is."""

    dialect: str
    name: str
    event: str


def every_dialect() -> "Iterator[Dialect]":
    """All but native, built one after another."""
    from hookline.dialects.registry import standard_dialects

    for listed in standard_dialects().values():
        yield listed.build()


def all_names(dialects: "Iterable[Dialect]") -> Iterator[EventName]:
    """One name may stand for several events: after a tool, whether it failed or not."""
    for dialect in dialects:
        for name in dialect.spellings:
            yield from (EventName(dialect.name, name, each.event.name) for each in dialect.moments(name))


def meant(name: str, events: Mapping[str, EventSpec[Any]], dialects: "Iterable[Dialect]") -> list[EventName]:
    """The events a name may mean in some dialect; raises `UnknownEventError` where nobody has it."""
    names = list(all_names(dialects))
    found = [each for each in names if each.name == name]
    if not found and name not in events:
        raise unknown_event(name, events, (each.name for each in names))
    return found


def unknown_event(name: str, events: Iterable[str], spelled: Iterable[str] = ()) -> UnknownEventError:
    """With the nearest of the names there are; among equals the table's own."""
    return UnknownEventError(name[:_LONGEST], nearest(name, (*spelled, *events)))
