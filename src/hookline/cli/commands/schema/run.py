"""Print one JSON Schema, or the list of them."""

import argparse
from typing import Any

from msgspec import Struct

from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import RequestError, chosen, events_named, other_dialects, own_names
from hookline.cli.text import json_lines, paragraph, table, terminal_width
from hookline.dialects.registry import OWN_FORMAT
from hookline.matching.nearest import nearest
from hookline.model.events import EVENTS, EventSpec

_KINDS = {
    "payload": "the input of a hook at an event",
    "answer": "the possible answers of a hook at an event",
    "config": "the file with hooks: .hookline/hooks.toml, or with --dialect another agent's",
}
#: The kind that is one schema for all events.
_CONFIG = "config"


class SchemaKind(Struct, frozen=True):
    kind: str
    description: str
    #: The events that have one; empty where there is one for all.
    events: tuple[str, ...]


class SchemaList(Struct, frozen=True):
    """List of the JSON Schemas."""

    schemas: tuple[SchemaKind, ...]

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        rows = [
            [f"hookline schema {each.kind}" + (" EVENT" if each.events else ""), each.description]
            for each in self.schemas
        ]
        events = f"EVENT is one of {', '.join(EVENTS)}"
        return f"{table(rows, width)}\n\n{paragraph(events, width)}"


def run(args: argparse.Namespace) -> ExitStatus:
    kind: str | None = args.kind
    if kind is None:
        return _show_list(as_json=args.json)
    if kind not in _KINDS:
        close = nearest(kind, _KINDS)
        hint = f"did you mean {close!r}?" if close else f"there are: {', '.join(_KINDS)}"
        raise RequestError(f"unknown schema {kind[:200]!r}; {hint}")
    foreign = args.dialect if args.dialect != OWN_FORMAT else None
    schema = _schema(kind, args.event) if foreign is None else _own_schema(kind, args.event, foreign)
    return show(json_lines(schema), as_json=True)


def _show_list(*, as_json: bool) -> ExitStatus:
    every = SchemaList(
        tuple(
            SchemaKind(kind, description, () if kind == _CONFIG else tuple(EVENTS))
            for kind, description in _KINDS.items()
        )
    )
    return show(every.as_json() if as_json else every.as_text(terminal_width()), as_json=as_json)


def _schema(kind: str, name: str | None) -> dict[str, Any]:
    # Only here: the list needs none of it.
    from hookline.schemas.answer import answer_schema
    from hookline.schemas.config import config_schema
    from hookline.schemas.payload import payload_schema

    if kind == _CONFIG:
        _no_event(name)
        return config_schema(EVENTS)
    event = _event(_given(kind, name))
    return payload_schema(event) if kind == "payload" else answer_schema(event)


def _own_schema(kind: str, event: str | None, agent: str) -> dict[str, Any]:
    """Return the schema of an agent's hooks' input or answer at one of its own events."""
    from hookline.schemas.agent_event import own_answer_schema, own_payload_schema

    dialect = chosen(agent)
    if kind == _CONFIG:
        from hookline.schemas.agent_config import agent_config_schema

        _no_event(event)
        return agent_config_schema(dialect)
    names = own_names(dialect, _given(kind, event))
    if len(names) > 1:
        raise RequestError(f"{event!r} means {' and '.join(names)} of {agent}: choose one")
    schema = (own_payload_schema if kind == "payload" else own_answer_schema)(dialect, names[0])
    if schema is None:
        where = f"`hookline events {names[0]} --dialect {agent}` shows their possible answers"
        raise RequestError(f"hooks of {agent} answer no JSON at {names[0]}; {where}")
    return schema


def _no_event(name: str | None) -> None:
    if name is not None:
        raise RequestError(f"one schema holds for the whole file, so {name[:200]!r} is one word too many")


def _given(kind: str, name: str | None) -> str:
    if name is None:
        raise RequestError(f"say of which event: hookline schema {kind} EVENT; `hookline events` lists them")
    return name


def _event(name: str) -> EventSpec[Any]:
    """Find an event by the table's name, else by an agent's own name, unless that means several events."""
    if name in EVENTS:
        return EVENTS[name]
    events = sorted({each.event for each in events_named(name, EVENTS, other_dialects())})
    if len(events) > 1:
        raise RequestError(f"{name!r} means {' and '.join(events)}: say which one")
    return EVENTS[events[0]]
