"""`hookline schema`: the JSON Schemas of payloads, answers and the configuration file."""

import argparse
from typing import TYPE_CHECKING, Any

from hookline.cli.output import show, tell
from hookline.cli.parsers import command_parser

if TYPE_CHECKING:
    from hookline.model.events import EventSpec

_DESCRIPTION = """Print a JSON Schema (2020-12): of what a hook is given at an event, of what it may answer there, or of
Hookline's own configuration file. With nothing, say which ones there are.

EVENT is a name of the event table (`hookline events`), or an agent's own name for one of them; what
is printed is always the format of Hookline's own hooks."""

_EPILOG = """examples:
  hookline schema
  hookline schema config > hooks.schema.json
  hookline schema payload PreToolUse
  hookline schema answer Stop

exit status: 0 fine, 1 there is no such schema"""

PROBLEM = 1
KINDS = {
    "payload": "what a hook is given at an event",
    "answer": "what a hook may answer at an event",
    "config": "the configuration file, .hookline/hooks.toml",
}


def add_parser(subparsers: Any) -> None:
    parser = command_parser(subparsers, "schema", _DESCRIPTION, _EPILOG)
    parser.add_argument("kind", nargs="?", metavar="payload|answer|config", help="which kind of schema")
    parser.add_argument("event", nargs="?", metavar="EVENT", help="of which event; config needs none")
    parser.add_argument("--json", action="store_true", help="the list of schemas as JSON")
    parser.set_defaults(run=run_command)


def run_command(args: argparse.Namespace) -> int:
    from hookline.cli.engines import looked

    return looked("schema", lambda: _schema(args.kind, args.event, as_json=args.json))


def _schema(kind: str | None, name: str | None, *, as_json: bool) -> int:
    if kind is None:
        return _list(as_json=as_json)
    if kind not in KINDS:
        return _wrong(kind)
    if kind == "config":
        return _config(name)
    if name is None:
        return _told(f"say of which event: hookline schema {kind} EVENT; `hookline events` lists them")
    return _of_event(kind, name)


def _list(*, as_json: bool) -> int:
    from hookline.cli.commands.schema.run import SchemaKind, SchemaList
    from hookline.cli.text import json_lines, paragraph, table, terminal_width
    from hookline.model.events import EVENTS

    if as_json:
        kinds = tuple(
            SchemaKind(kind, told, () if kind == "config" else tuple(EVENTS)) for kind, told in KINDS.items()
        )
        return show(json_lines(SchemaList(kinds)), as_json=True)
    width = terminal_width()
    rows = [
        [f"hookline schema {kind}" + ("" if kind == "config" else " EVENT"), told]
        for kind, told in KINDS.items()
    ]
    note = f"EVENT is one of {', '.join(EVENTS)}"
    return show(f"{table(rows, width)}\n\n{paragraph(note, width)}")


def _wrong(kind: str) -> int:
    from hookline.matching.nearest import nearest

    close = nearest(kind, KINDS)
    hint = f"did you mean {close!r}?" if close else f"there are: {', '.join(KINDS)}"
    return _told(f"there is no schema of {kind[:200]!r}; {hint}")


def _told(problem: str) -> int:
    from hookline.model.safe_text import one_line

    tell(one_line(f"hookline schema: {problem}", 400))
    return PROBLEM


def _config(name: str | None) -> int:
    from hookline.cli.text import json_lines
    from hookline.model.events import EVENTS
    from hookline.schemas.config import config_schema

    if name is not None:
        return _told(f"one schema holds for the whole file, so {name[:200]!r} is one word too many")
    return show(json_lines(config_schema(EVENTS)), as_json=True)


def _of_event(kind: str, name: str) -> int:
    from hookline.cli.text import json_lines
    from hookline.schemas.answer import answer_schema
    from hookline.schemas.payload import payload_schema

    event = _event(name)
    if event is None:
        return PROBLEM
    schema = payload_schema(event) if kind == "payload" else answer_schema(event)
    return show(json_lines(schema), as_json=True)


def _event(name: str) -> "EventSpec[Any] | None":
    """By the table's name, else by one that only some agent has; None, and a word, where that means several."""
    from hookline.model.events import EVENTS

    if name in EVENTS:
        return EVENTS[name]
    from hookline.cli.requests import meant, other_dialects

    events = sorted({each.event for each in meant(name, EVENTS, other_dialects())})
    if len(events) == 1:
        return EVENTS[events[0]]
    _told(f"{name!r} stands for {' and '.join(events)}: say which one")
    return None
