"""`hookline events` without a name: the whole table, a line each."""

from msgspec import Struct

from hookline.cli.output import show
from hookline.cli.text import json_lines, paragraph, table, terminal_width
from hookline.dialects.native.schema_facts import EventFacts, event_facts
from hookline.dialects.native.vocabulary import NativePolicies
from hookline.model.events import EVENTS

_NOTES = (
    "* declared for hooks and hosts; nothing in Hookline fires it yet",
    "`hookline events EVENT` shows the payload, the answers, an example of each, and what agents call it",
)


class EventLine(Struct, frozen=True, kw_only=True):
    event: str
    fires: str
    may: tuple[str, ...]
    #: The field of the payload a matcher is compared with, and its values where they are known.
    matcher: str | None
    values: tuple[str, ...]
    guard: bool
    since: str
    declared_only: bool


class EventTable(Struct, frozen=True):
    """Every event there is."""

    events: tuple[EventLine, ...]


def show_table(policies: NativePolicies, *, as_json: bool) -> int:
    every = [event_facts(event, policies.of(event)) for event in EVENTS.values()]
    if as_json:
        return show(json_lines(EventTable(tuple(_line(facts) for facts in every))), as_json=True)
    width = terminal_width()
    rows = [["EVENT", "FIRES", "HOOKS MAY", "MATCHER"], *(_row(facts) for facts in every)]
    return show("\n".join([table(rows, width), "", *(paragraph(note, width) for note in _NOTES)]))


def _row(facts: EventFacts) -> list[str]:
    name = facts.event + ("*" if facts.declared_only else "")
    return [name, facts.fires.rstrip("."), ", ".join(facts.may) or "observe", facts.matcher or "-"]


def _line(facts: EventFacts) -> EventLine:
    return EventLine(**{name: getattr(facts, name) for name in EventLine.__struct_fields__})
