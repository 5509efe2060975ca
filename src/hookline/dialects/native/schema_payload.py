"""The JSON Schema of the document a hook gets on stdin, derived from an event's row and payload type."""

import dataclasses
from typing import Any, TypeGuard

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from hookline.dialects.native.schema_words import COMMON, WHEN_KNOWN, described
from hookline.dialects.native.shortening import SHORTENED
from hookline.model.events import EventSpec

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

#: Payload fields that are told even when they are at their default, beside the subject and the rewritten one.
_ALWAYS_TOLD = ("tool_input", "stop_hook_active")


def payload_schema(event: EventSpec[Any]) -> Schema:
    """Fields nobody declared are allowed: hooks must live with what a later version tells them."""
    own, definitions = payload_fields(event)
    schema: Schema = {
        "$schema": DRAFT,
        "title": f"{event.name} payload",
        "description": f"Fires {event.fires}",
        "type": "object",
        "properties": {**_scene_fields(event), **own, SHORTENED: _shortened()},
        "required": [*COMMON, *(name for name in always_told(event) if name not in COMMON)],
    }
    if definitions:
        schema["$defs"] = definitions
    return schema


def payload_fields(event: EventSpec[Any]) -> tuple[Schema, Schema]:
    """The properties of the payload itself, and the definitions they refer to."""
    named, definitions = _of_type(event.payload)
    never_null = _is_struct(event.payload) and event.payload.__struct_config__.omit_defaults
    properties: Schema = {}
    for name, schema in named.items():
        properties[name] = _field(event, name, schema)
        if never_null and name not in always_told(event):
            properties[name] = without_null(properties[name])
    return properties, definitions


def always_told(event: EventSpec[Any]) -> tuple[str, ...]:
    """The payload fields that are in every document, in the order of the payload."""
    payload = event.payload
    if _is_struct(payload):
        told = {*_ALWAYS_TOLD, event.subject, event.rewrites}
        fields = msgspec.structs.fields(payload)
        omits = payload.__struct_config__.omit_defaults
        return tuple(
            each.encode_name for each in fields if each.name in told or not (omits and _can_be_omitted(each))
        )
    if dataclasses.is_dataclass(payload):
        return tuple(field.name for field in dataclasses.fields(payload))
    return ()


def _can_be_omitted(field: FieldInfo) -> bool:
    """A default that a factory makes is only recognised when the factory is one of these."""
    return not field.required and field.default_factory in (NODEFAULT, dict, list, set)


def _scene_fields(event: EventSpec[Any]) -> Schema:
    fields: Schema = {name: {"type": "string", "description": text} for name, text in COMMON.items()}
    fields["hook_event_name"] = {"const": event.name, "description": COMMON["hook_event_name"]}
    for name, text in WHEN_KNOWN.items():
        fields[name] = {"type": "integer" if name == "turn" else "string", "description": text}
    return fields


def _shortened() -> Schema:
    return {
        "type": "array",
        "items": {"type": "string"},
        "description": "Only in a document that was too large: the fields whose text was cut in the middle.",
    }


def _of_type(payload: Any) -> tuple[Schema, Schema]:
    try:
        (root,), components = msgspec.json.schema_components(
            (payload,), schema_hook=_unknown_type, ref_template="#/$defs/{name}"
        )
    except TypeError:
        # A record that msgspec cannot describe is still told, field by field: nothing is said of their types.
        names: tuple[str, ...] = tuple(getattr(payload, "__annotations__", ()))
        return {name: {} for name in names}, {}
    definitions: Schema = dict(components)
    name = str(root.get("$ref", "")).removeprefix("#/$defs/")
    # Left where it is when the payload refers to itself.
    described_type: Schema = definitions[name] if name in definitions else dict(root)
    if f'"#/$defs/{name}"' not in str(msgspec.json.encode(components)):
        definitions.pop(name, None)
    properties: Schema = described_type.get("properties", {})
    return {key: dict(value) for key, value in properties.items()}, definitions


def _unknown_type(unknown: type) -> Schema:
    return {"title": unknown.__name__}


def _field(event: EventSpec[Any], name: str, schema: Schema) -> Schema:
    text = described(getattr(event.payload, "__name__", ""), name)
    if text is not None and "description" not in schema:
        schema["description"] = text
    if name == event.subject and event.subjects:
        schema.pop("type", None)
        schema["enum"] = list(event.subjects)
    return schema


def without_null(schema: Schema) -> Schema:
    """A field left at None is not told, so its null would only be noise."""
    if schema.get("default", 0) is not None or "anyOf" not in schema:
        return schema
    others = [each for each in schema["anyOf"] if each != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**others[0], **rest} if len(others) == 1 else {"anyOf": others, **rest}


def _is_struct(payload: Any) -> TypeGuard[type[Struct]]:
    return isinstance(payload, type) and issubclass(payload, Struct)
