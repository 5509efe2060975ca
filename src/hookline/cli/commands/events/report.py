"""Everything about one event: when it fires, what agents call it, what hooks get and what they may answer."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.output import show
from hookline.cli.requests import EventName, all_names, other_dialects, unknown_event
from hookline.cli.text import json_lines, paragraph, table, terminal_width
from hookline.dialects.native.events import NativePolicies
from hookline.model.events import EVENTS
from hookline.model.safe_text import printable
from hookline.schemas import event_facts as words
from hookline.schemas.event_facts import EventFacts, Field, event_facts
from hookline.schemas.payload import COMMON


class AgentName(Struct, frozen=True):
    dialect: str
    name: str


class EventDocument(EventFacts, frozen=True, kw_only=True):
    """One event, and what the agents call it."""

    names: tuple[AgentName, ...]
    #: Where an agent calls another event by this name.
    elsewhere: tuple[EventName, ...]


class MeantDocument(Struct, frozen=True):
    """The events that a name of some agent stands for."""

    asked: str
    meant: tuple[EventName, ...]
    events: tuple[EventDocument, ...]


def show_event(name: str, policies: NativePolicies, *, as_json: bool) -> int:
    """Raises `UnknownEventError` where neither the table nor an agent has the name."""
    names = list(all_names(other_dialects()))
    if name in EVENTS:
        document = _document(name, policies, names)
        if as_json:
            return show(json_lines(document), as_json=True)
        return show("\n".join(_page(document, terminal_width())))
    meant = tuple(each for each in names if each.name == name)
    if not meant:
        raise unknown_event(name, EVENTS, (each.name for each in names))
    documents = [_document(event, policies, names) for event in dict.fromkeys(each.event for each in meant)]
    if as_json:
        return show(json_lines(MeantDocument(name, meant, tuple(documents))), as_json=True)
    return show("\n".join(_meant_page(meant, documents, terminal_width())))


def _document(name: str, policies: NativePolicies, names: Sequence[EventName]) -> EventDocument:
    event = EVENTS[name]
    facts = event_facts(event, policies.of(event))
    own = tuple(AgentName(each.dialect, each.name) for each in names if each.event == name)
    elsewhere = tuple(each for each in names if each.name == name and each.event != name)
    known: dict[str, Any] = {field: getattr(facts, field) for field in EventFacts.__struct_fields__}
    return EventDocument(**known, names=own, elsewhere=elsewhere)


def _meant_page(meant: Sequence[EventName], documents: Sequence[EventDocument], width: int) -> Iterator[str]:
    for each in meant:
        yield paragraph(f"{each.name} of {each.dialect} is {each.event}", width)
    for document in documents:
        yield ""
        yield from _page(document, width)


def _page(facts: EventDocument, width: int) -> Iterator[str]:
    yield facts.event
    yield paragraph(f"Fires {facts.fires}", width, "  ")
    yield ""
    yield _indented(table([*_behaviour(facts), *_named(facts)], width - 2))
    yield ""
    yield paragraph(f"Payload: {', '.join(COMMON)}{', and' if facts.fields else ''}", width)
    if facts.fields:
        yield _indented(table([_row(field) for field in facts.fields], width - 2))
    yield from _examples(facts, width)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _row(field: Field) -> list[str]:
    return [field.name, field.type, words.told_words(field), field.description]


def _behaviour(facts: EventDocument) -> Iterator[list[str]]:
    yield ["hooks may", ", ".join(facts.may) or "observe"]
    yield ["matcher", _matcher(facts)]
    if facts.rewritten_by:
        yield ["rewrites", f"{facts.rewrites}, by {facts.rewritten_by}"]
    if facts.answer:
        yield ["answer", facts.answer]
    told = {
        "a block": words.block_words(facts),
        "block limit": words.limit_words(facts),
        "context": words.context_words(facts),
        "failures": words.failure_words(facts),
    }
    yield from ([name, text] for name, text in told.items() if text)
    if facts.native.plain_text_is_context:
        yield ["plain stdout", "goes to the model"]
    if facts.native.budget is not None:
        yield ["budget", f"{facts.native.budget:g} seconds for all hooks together"]
    declared = " (declared; nothing in Hookline fires it yet)" if facts.declared_only else ""
    yield ["since", f"{facts.since}{declared}"]


def _named(facts: EventDocument) -> Iterator[list[str]]:
    """Who has the event, and under which name; who does not, has no hooks there."""
    names: dict[str, list[str]] = {}
    for each in facts.names:
        names.setdefault(each.dialect, []).append(each.name)
    dialects: dict[str, list[str]] = {}
    for dialect, own in names.items():
        dialects.setdefault(", ".join(own), []).append(dialect)
    told = [f"{own} in {', '.join(some)}" for own, some in dialects.items()]
    yield ["called", "; ".join(told) or "no other agent has this event"]
    for each in facts.elsewhere:
        yield ["careful", f"{each.name} of {each.dialect} is another event, {each.event}"]


def _matcher(facts: EventDocument) -> str:
    if facts.matcher is None:
        return "none: every hook of this event runs"
    return f"{facts.matcher}: {', '.join(facts.values)}" if facts.values else facts.matcher


def _examples(facts: EventDocument, width: int) -> Iterator[str]:
    if facts.payload is not None:
        yield "\nExample payload:"
        yield _indented(_json(facts.payload, 0))
    yield "\nAnswers, one for each thing hooks may do here:"
    for each in facts.answers:
        yield f"  {each.does}: {words.MAY_WORDS[each.does]}"
        yield _indented(_indented(_json(each.answer, width - 4)))


def _json(document: object, width: int) -> str:
    """On one line where that fits."""
    line = words.json_text(document)
    return printable(line if len(line) <= width else json_lines(document))


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
    rows = [["EVENT", "FIRES", "HOOKS MAY", "MATCHER"], *(_row_event_table(facts) for facts in every)]
    return show("\n".join([table(rows, width), "", *(paragraph(note, width) for note in _NOTES)]))


def _row_event_table(facts: EventFacts) -> list[str]:
    name = facts.event + ("*" if facts.declared_only else "")
    return [name, facts.fires.rstrip("."), ", ".join(facts.may) or "observe", facts.matcher or "-"]


def _line(facts: EventFacts) -> EventLine:
    return EventLine(**{name: getattr(facts, name) for name in EventLine.__struct_fields__})
