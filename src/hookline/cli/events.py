"""`hookline events`: every event, or everything about one."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hookline.cli.output import show, tell
from hookline.cli.width import help_format

if TYPE_CHECKING:
    from hookline.dialects.native.schema_facts import EventFacts, Field

_DESCRIPTION = """The events hooks can react to, when each one fires and what hooks may do there.
With EVENT: its payload, its answers and how it behaves, with examples."""

_EPILOG = """examples:
  hookline events
  hookline events PreToolUse
  hookline events PreToolUse --json

exit status: 0 fine, 1 no event is called that"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "events",
        help="list the events, or show all about one",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=help_format,
    )
    parser.add_argument("event", nargs="?", metavar="EVENT", help="show everything about this one")
    parser.add_argument("--json", action="store_true", help="the same facts as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from hookline.dialects.native.schema_facts import event_facts
    from hookline.dialects.native.vocabulary import NativePolicies
    from hookline.model.events import EVENTS

    policies = NativePolicies(EVENTS.values())
    if args.event is None:
        return _list([event_facts(event, policies.of(event)) for event in EVENTS.values()], as_json=args.json)
    event = EVENTS.get(args.event)
    if event is None:
        return _unknown(args.event)
    return _show(event_facts(event, policies.of(event)), as_json=args.json)


def _unknown(name: str) -> int:
    from hookline.matching.nearest import nearest
    from hookline.model.errors import UnknownEventError
    from hookline.model.events import EVENTS
    from hookline.model.safetext import one_line

    error = UnknownEventError(name[:200], nearest(name, EVENTS))
    hint = "" if error.nearest else "; `hookline events` lists them"
    tell(one_line(f"hookline events: {error}{hint}", 400))
    return 1


def _list(all_facts: "list[EventFacts]", *, as_json: bool) -> int:
    from hookline.cli.text import json_lines, paragraph, table, terminal_width

    if as_json:
        return show(json_lines({"events": [_summary(facts) for facts in all_facts]}), as_json=True)
    rows = [["EVENT", "FIRES", "HOOKS MAY", "MATCHER"]]
    rows += [
        [_marked(facts), facts.fires.rstrip("."), ", ".join(facts.may) or "observe", facts.matcher or "-"]
        for facts in all_facts
    ]
    width = terminal_width()
    notes = (
        "* declared for hooks and hosts; nothing in Hookline fires it yet",
        "`hookline events EVENT` shows the payload, the answers and an example of each",
    )
    return show("\n".join([table(rows, width), "", *(paragraph(note, width) for note in notes)]))


def _marked(facts: "EventFacts") -> str:
    return facts.event + ("*" if facts.declared_only else "")


def _summary(facts: "EventFacts") -> dict[str, Any]:
    kept = ("event", "fires", "may", "matcher", "values", "guard", "since", "declared_only")
    return {name: getattr(facts, name) for name in kept}


def _show(facts: "EventFacts", *, as_json: bool) -> int:
    from hookline.cli.text import json_lines, terminal_width

    if as_json:
        return show(json_lines(facts), as_json=True)
    return show("\n".join(_page(facts, terminal_width())))


def _page(facts: "EventFacts", width: int) -> Iterator[str]:
    from hookline.cli.text import paragraph, table
    from hookline.dialects.native.schema_words import COMMON

    yield facts.event
    yield paragraph(f"Fires {facts.fires}", width, "  ")
    yield ""
    yield _indented(table(list(_behaviour(facts)), width - 2))
    yield ""
    yield paragraph(f"Payload: {', '.join(COMMON)}{', and' if facts.fields else ''}", width)
    if facts.fields:
        yield _indented(table([_row(field) for field in facts.fields], width - 2))
    yield from _examples(facts, width)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _row(field: "Field") -> list[str]:
    from hookline.dialects.native.schema_facts import told_words

    return [field.name, field.type, told_words(field), field.description]


def _behaviour(facts: "EventFacts") -> Iterator[list[str]]:
    from hookline.dialects.native import schema_facts as words

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


def _matcher(facts: "EventFacts") -> str:
    if facts.matcher is None:
        return "none: every hook of this event runs"
    return f"{facts.matcher}: {', '.join(facts.values)}" if facts.values else facts.matcher


def _examples(facts: "EventFacts", width: int) -> Iterator[str]:
    from hookline.dialects.native.schema_facts import MAY_WORDS

    if facts.payload is not None:
        yield "\nExample payload:"
        yield _indented(_json(facts.payload, 0))
    yield "\nAnswers, one for each thing hooks may do here:"
    for each in facts.answers:
        yield f"  {each.does}: {MAY_WORDS[each.does]}"
        yield _indented(_indented(_json(each.answer, width - 4)))


def _json(document: object, width: int) -> str:
    """On one line where that fits."""
    from hookline.cli.text import json_lines
    from hookline.dialects.native.schema_facts import json_text
    from hookline.model.safetext import printable

    line = json_text(document)
    return printable(line if len(line) <= width else json_lines(document))
