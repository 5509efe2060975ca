"""Print the table of events, or describe one: when it fires, its names in agents, what hooks get and may answer."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import (
    EventName,
    all_event_names,
    chosen,
    other_dialects,
    own_names,
    unknown_event,
)
from hookline.cli.text import indented, json_lines, paragraph, table, terminal_width
from hookline.dialects.registry import OWN_FORMAT, home_dialect
from hookline.model.events import EVENTS
from hookline.model.safe_text import printable
from hookline.schemas import event_facts as words
from hookline.schemas.agent_event import OwnEvent, own_event
from hookline.schemas.agent_page import OwnLine, listing, own_lines, page
from hookline.schemas.event_facts import EventFacts, EventField, EventLine, event_facts, event_line
from hookline.schemas.payload import COMMON

_NOTES = (
    "* declared for hooks and hosts; nothing in Hookline fires it yet",
    "`hookline events EVENT` shows the payload, the answers, an example of each, and its names in agents",
)


class EventTable(Struct, frozen=True):
    """Every event there is."""

    events: tuple[EventLine, ...]

    def as_text(self, width: int) -> str:
        rows = [["EVENT", "FIRES", "HOOKS MAY", "MATCHER"], *(_table_row(each) for each in self.events)]
        return "\n".join([table(rows, width), "", *(paragraph(each, width) for each in _NOTES)])


class AgentName(Struct, frozen=True):
    dialect: str
    name: str


class EventDocument(EventFacts, frozen=True, kw_only=True):
    """One event, and its names in agents."""

    names: tuple[AgentName, ...]
    #: Where an agent calls another event by this name.
    elsewhere: tuple[EventName, ...]

    def as_text(self, width: int) -> str:
        return "\n".join(_page(self, width))


class MeantDocument(Struct, frozen=True):
    """The events that a name of some agent stands for."""

    asked: str
    meant: tuple[EventName, ...]
    events: tuple[EventDocument, ...]

    def as_text(self, width: int) -> str:
        names = [paragraph(f"{each.name} of {each.dialect} is {each.event}", width) for each in self.meant]
        dialects = dict.fromkeys(each.dialect for each in self.meant)
        own = [
            f"`hookline events {self.asked} --dialect {each}` shows it in that agent's words"
            for each in dialects
        ]
        return "\n".join([*names, *own, *(f"\n{each.as_text(width)}" for each in self.events)])


class OwnTable(Struct, frozen=True):
    """Every event of one agent, by the agent's own names."""

    dialect: str
    events: tuple[OwnLine, ...]

    def as_text(self, width: int) -> str:
        title = (
            f"Events of {chosen(self.dialect).title}, with Hookline's names in brackets: hooks may, and when"
        )
        note = f"`hookline events EVENT --dialect {self.dialect}` shows what hooks get, answer and exit with"
        return "\n".join([paragraph(title, width), listing(self.events, width), "", paragraph(note, width)])


class OwnDocuments(Struct, frozen=True):
    """The events of an agent that are one event of Hookline's."""

    dialect: str
    asked: str
    events: tuple[OwnEvent, ...]

    def as_text(self, width: int) -> str:
        return "\n\n".join(own_page(each, width) for each in self.events)


def run(args: argparse.Namespace) -> ExitStatus:
    if args.dialect is not None and args.dialect != OWN_FORMAT:
        document = _own_table(args.dialect) if args.event is None else _own(args.dialect, args.event)
    else:
        document = _table() if args.event is None else _about(args.event)
    width = terminal_width()
    if args.json:
        return show(json_lines(document), as_json=True)
    return show(own_page(document, width) if isinstance(document, OwnEvent) else document.as_text(width))


def own_page(event: OwnEvent, width: int) -> str:
    """Describe an event in the words of its agent."""
    return page(event, chosen(event.dialect).title, width)


def _table() -> EventTable:
    return EventTable(tuple(map(event_line, EVENTS.values())))


def _own_table(name: str) -> OwnTable:
    return OwnTable(name, own_lines(chosen(name)))


def _own(name: str, event: str) -> OwnEvent | OwnDocuments:
    dialect = chosen(name)
    names = own_names(dialect, event)
    found = tuple(own_event(dialect, each) for each in names)
    return found[0] if len(found) == 1 else OwnDocuments(name, event, found)


def _table_row(line: EventLine) -> list[str]:
    name = line.event + ("*" if line.declared_only else "")
    return [name, line.fires.rstrip("."), ", ".join(line.may) or "observe", line.matcher or "-"]


def _about(name: str) -> EventDocument | MeantDocument:
    names = list(all_event_names(other_dialects()))
    if name in EVENTS:
        return _document(name, names)
    meant = tuple(each for each in names if each.name == name)
    if not meant:
        raise unknown_event(name, EVENTS, (each.name for each in names))
    events = dict.fromkeys(each.event for each in meant)
    return MeantDocument(name, meant, tuple(_document(event, names) for event in events))


def _document(name: str, names: Sequence[EventName]) -> EventDocument:
    event = EVENTS[name]
    facts = event_facts(event, home_dialect().policy(event))
    own = tuple(AgentName(each.dialect, each.name) for each in names if each.event == name)
    elsewhere = tuple(each for each in names if each.name == name and each.event != name)
    known: dict[str, Any] = {field: getattr(facts, field) for field in EventFacts.__struct_fields__}
    return EventDocument(**known, names=own, elsewhere=elsewhere)


def _page(facts: EventDocument, width: int) -> Iterator[str]:
    yield facts.event
    yield paragraph(f"Fires {facts.fires}", width, "  ")
    yield ""
    yield indented(table([*_behaviour(facts), *_named(facts)], width - 2), 2)
    yield ""
    yield paragraph(f"Payload: {', '.join(COMMON)}{', and' if facts.fields else ''}", width)
    if facts.fields:
        yield indented(table([_field_row(field) for field in facts.fields], width - 2), 2)
    yield from _examples(facts, width)


def _field_row(field: EventField) -> list[str]:
    return [field.name, field.type, words.sent_words(field), field.description]


def _behaviour(facts: EventDocument) -> Iterator[list[str]]:
    yield ["hooks may", ", ".join(facts.may) or "observe"]
    yield ["matcher", _matcher(facts)]
    if facts.rewritten_by:
        yield ["rewrites", f"{facts.rewrites}, by {facts.rewritten_by}"]
    if facts.answer:
        yield ["answer", facts.answer]
    rows = {
        "a block": words.block_words(facts),
        "block limit": words.limit_words(facts.native.limit),
        "context": words.context_words(facts),
        "failures": words.failure_words(facts),
    }
    yield from ([name, text] for name, text in rows.items() if text)
    if facts.native.plain_text_is_context:
        yield ["plain stdout", "goes to the model"]
    if facts.native.budget is not None:
        yield ["budget", f"{facts.native.budget:g} seconds for all hooks together"]
    declared = " (declared; nothing in Hookline fires it yet)" if facts.declared_only else ""
    yield ["since", f"{facts.since}{declared}"]


def _named(facts: EventDocument) -> Iterator[list[str]]:
    """Yield which agents have the event, and under which name; the others have no hooks there."""
    names: dict[str, list[str]] = {}
    for each in facts.names:
        names.setdefault(each.dialect, []).append(each.name)
    dialects: dict[str, list[str]] = {}
    for dialect, own in names.items():
        dialects.setdefault(", ".join(own), []).append(dialect)
    parts = [f"{own} in {', '.join(some)}" for own, some in dialects.items()]
    yield ["called", "; ".join(parts) or "no other agent has this event"]
    for each in facts.elsewhere:
        yield ["careful", f"{each.name} of {each.dialect} is another event, {each.event}"]


def _matcher(facts: EventDocument) -> str:
    if facts.matcher is None:
        return "none: every hook of this event runs"
    return f"{facts.matcher}: {', '.join(facts.values)}" if facts.values else facts.matcher


def _examples(facts: EventDocument, width: int) -> Iterator[str]:
    if facts.payload is not None:
        yield "\nExample payload:"
        yield indented(_json(facts.payload, 0), 2)
    yield "\nAnswers, one for each thing hooks may do here:"
    for each in facts.answers:
        yield f"  {each.does}: {words.MAY_WORDS[each.does]}"
        yield indented(_json(each.answer, width - 4), 4)


def _json(document: object, width: int) -> str:
    """Format JSON on one line if that fits."""
    line = words.json_text(document)
    return printable(line if len(line) <= width else json_lines(document))
