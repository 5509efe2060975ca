"""Build the JSON Schema of another agent's file with hooks from the tables that its reader uses.

As for Hookline's own file, the schema is stricter than the reader: what the reader only warns about, such as an unknown
field, does not validate. Settings beside the hooks are not checked.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from hookline.dialects.dialect import Dialect
from hookline.dialects.family.flat import FlatFileReader
from hookline.dialects.family.settings import EntryReader, FileLayout, FileReader, HookKind
from hookline.schemas.config import KIND_WORDS, SHAPES, matched_words
from hookline.schemas.payload import DRAFT, Schema

_TEXT: Schema = {"type": "string"}
_MATCHER: Schema = {**_TEXT, "description": "Which of them; left out: all of them."}


def agent_config_schema(dialect: Dialect) -> Schema:
    """Build the schema of the file that holds the hooks of an agent."""
    reader = cast("type[FileReader]", import_module(f"{type(dialect).__module__}.settings").FileReader)
    schema: Schema = {}
    definitions: Schema = {}
    for layout in reader.layouts:
        definitions |= _definitions(layout, reader, dialect)
        _merge(schema, _nested(layout.path, _hooks(layout, dialect)))
    return {
        "$schema": DRAFT,
        "title": f"Hooks of {dialect.title}",
        "description": f"The fields that {dialect.title} reads in its hooks. Other settings may be beside them.",
        **schema,
        "$defs": definitions,
    }


def _definitions(layout: FileLayout, reader: type[FileReader], dialect: Dialect) -> Schema:
    found: Schema = {}
    if "list" in layout.forms:
        matcher = {"matcher": _MATCHER} if issubclass(reader, FlatFileReader) else {}
        found["entry"] = _entries(reader.entry_reader, {"event": {"enum": list(dialect.events)}, **matcher})
    if "entries" in layout.forms:
        found["entry"] = _entries(reader.entry_reader, {"matcher": _MATCHER})
    if "groups" in layout.forms:
        found |= {"group": _group(reader), "grouped": _entries(reader.entry_reader, {})}
    return found


def _nested(path: tuple[str, ...], inner: Schema) -> Schema:
    for key in reversed(path):
        where = {"additionalProperties": inner} if key == "*" else {"properties": {key: inner}}
        inner = {"type": "object", **where}
    return inner


def _merge(schema: Schema, other: Schema) -> None:
    """Add a layout: its properties beside those of others; two forms of one property are alternatives."""
    if not schema:
        schema.update(other)
        return
    known = schema["properties"]
    for key, value in other["properties"].items():
        known[key] = {"anyOf": [known[key], value]} if key in known else value


def _hooks(layout: FileLayout, dialect: Dialect) -> Schema:
    choices = [{"$ref": f"#/$defs/{'group' if form == 'groups' else 'entry'}"} for form in layout.forms]
    items = choices[0] if len(choices) == 1 else {"anyOf": choices}
    if "list" in layout.forms:
        return {"type": "array", "items": items}
    return {
        "type": "object",
        "propertyNames": {"enum": list(dialect.events)},
        "properties": {
            name: {
                "type": "array",
                "items": items,
                "description": f"Fires {own.event.fires} {matched_words(own.event)}".rstrip(),
            }
            for name, own in dialect.events.items()
        },
    }


def _group(reader: type[FileReader]) -> Schema:
    properties: Schema = {name: {} for name in reader.group_fields}
    properties["matcher"] = _MATCHER
    properties["hooks"] = {"type": "array", "items": {"$ref": "#/$defs/grouped"}}
    return {"type": "object", "properties": properties, "required": ["hooks"], "additionalProperties": False}


def _entries(reader: type[EntryReader], further: Schema) -> Schema:
    """Return the schema of an entry: one of the kinds that the reader knows."""
    kinds: Mapping[str, HookKind] = getattr(reader, "kinds", {})
    if not kinds:  # the reader finds out which fields a kind needs when it reads a file
        return _entry(reader, "", {}, (), further)
    schemas = [
        _entry(reader, kind, row.fields, row.required, further, closed=not row.open)
        for kind, row in kinds.items()
    ]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _entry(
    reader: type[EntryReader],
    kind: str,
    fields: Mapping[str, str],
    required: tuple[str, ...],
    further: Schema,
    *,
    closed: bool = True,
) -> Schema:
    properties: Schema = {
        name: _field(shape, nullable=reader.null_is_absent)
        for name, shape in {**reader.common, **fields}.items()
    }
    needed = list(required)
    if kind and "type" in properties:
        properties["type"] = {"const": kind}
        needed += [] if reader.default_kind == kind else ["type"]
    properties |= {name: each for name, each in further.items() if name not in properties or name == "event"}
    needed += ["event"] if "event" in further else []
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": not closed}
    if kind in KIND_WORDS:
        schema["description"] = KIND_WORDS[kind]
    return {**schema, "required": needed} if needed else schema


def _field(shape: str, *, nullable: bool) -> dict[str, Any]:
    return {"anyOf": [SHAPES[shape], {"type": "null"}]} if nullable and SHAPES[shape] else dict(SHAPES[shape])
