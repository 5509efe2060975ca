"""Print an agent's events in its own words: a table of all of them, and a page about one.

The command line and the agent's screen show the same text.
"""

import textwrap
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hookline.dialects.dialect import Dialect
from hookline.model.events import event_label
from hookline.schemas.agent_event import OwnAnswer, OwnEvent, OwnKey, own_event
from hookline.schemas.event_facts import json_text

_RUN_WORDS = {
    "parallel": "all at once",
    "serial": "one after another",
    "serial_if_asked": "all at once, or one after another if the entry says so",
    "rewriters_first": "those that rewrite first, then all at once",
}
_WHERE = {"stdin": "A hook gets this JSON object on stdin:", "environment": "In its environment:"}


class OwnLine(Struct, frozen=True):
    """One event of an agent in the table."""

    event: str
    hookline: tuple[str, ...]
    fires: str
    may: tuple[str, ...]
    waits: bool


def own_lines(dialect: Dialect) -> tuple[OwnLine, ...]:
    """Return the events of an agent, by its own names."""
    found = (own_event(dialect, name) for name in dialect.events)
    return tuple(OwnLine(each.event, each.hookline, each.fires, each.may, each.waits) for each in found)


def listing(lines: Sequence[OwnLine], width: int) -> str:
    """List the events of an agent: their names, what hooks may do there, and when each one fires."""
    found: list[str] = []
    for each in lines:
        may = ", ".join(each.may) or "observe"
        found += [f"  {event_label(each.event, *each.hookline)}: {may}", *_wrapped(each.fires, width, 6)]
    return "\n".join(found)


def page(words: OwnEvent, title: str, width: int) -> str:
    """Describe one event completely."""
    return "\n".join(_lines(words, title, width))


def _lines(words: OwnEvent, title: str, width: int) -> Iterator[str]:
    yield f"{event_label(words.event, *words.hookline)} of {title}"
    yield from _wrapped(f"Fires {words.fires}", width, 2)
    yield ""
    waits = "the agent waits for them" if words.waits else "the agent does not wait for them"
    yield f"  hooks may  {', '.join(words.may) or 'observe'}"
    yield f"  hooks run  {_RUN_WORDS[words.run]}, {words.timeout:g} seconds each; {waits}"
    for where, heading in _WHERE.items():
        keys = [key for key in words.keys if key.where == where]
        if keys:
            yield f"\n{heading}"
            yield from _table([_key_row(key) for key in keys], width)
    if words.stdin is not None:
        yield "\nExample of stdin:"
        yield from _json(words, width)
    if words.answers:
        yield "\nWhat a command can answer:"
        for answer in words.answers:
            yield from _answer(answer)
    yield "\nWhat the end of a command means:"
    yield from _table([(each.ends, each.means) for each in words.endings], width)


def _key_row(key: OwnKey) -> tuple[str, ...]:
    return key.name, key.type, "always" if key.always else "when known", key.description


def _json(words: OwnEvent, width: int) -> Iterator[str]:
    """Format the document, one line per key."""
    fields = list((words.stdin or {}).items())
    yield "  {"
    for number, (key, value) in enumerate(fields, 1):
        line = f"{json_text(key)}: {json_text(value)}{',' if number < len(fields) else ''}"
        yield from textwrap.wrap(
            line, max(width, 40), initial_indent="    ", subsequent_indent="      ", break_long_words=False
        )
    yield "  }"


def _answer(answer: OwnAnswer) -> Iterator[str]:
    streams = [
        f"prints on {name}:" for name, text in (("stdout", answer.stdout), ("stderr", answer.stderr)) if text
    ]
    yield f"  {answer.does}: exit {answer.exit_code}{', ' if streams else ''}{' and '.join(streams)}"
    yield from (f"    {line}" for text in (answer.stdout, answer.stderr) for line in text.splitlines())


def _table(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Align columns to their contents; the last one wraps."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [f"{cell:{wide}}" for cell, wide in zip(row, widths, strict=False)]
        first = f"  {'  '.join(cells)}  "
        lines = textwrap.wrap(row[-1], max(width - len(first), 24)) or [""]
        yield f"{first}{lines[0]}".rstrip()
        yield from (f"{' ' * len(first)}{line}" for line in lines[1:])


def _wrapped(text: str, width: int, indent: int) -> Iterator[str]:
    yield from textwrap.wrap(text, width, initial_indent=" " * indent, subsequent_indent=" " * indent)
