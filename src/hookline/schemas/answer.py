"""Build the JSON Schema of a hook's answer: exactly the fields that are read and obeyed at an event.

Fields that the reader accepts and the event then drops (a rewrite where nothing can be rewritten) are not in
it, and no other field is allowed, so that a validator finds misspelled ones.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hookline.dialects.native.answers import updated_key
from hookline.model.events import Capability, EventSpec
from hookline.model.outcome import PermissionUpdate
from hookline.schemas.payload import DRAFT, Schema, payload_fields, without_null

#: The schema of a field at an event; None: it is not read or not obeyed there.
Shape = Callable[[EventSpec[Any]], Schema | None]

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_ENVELOPE: Schema = {
    "type": "object",
    "properties": {"version": {"const": 1}, "decision_id": _TEXT, "revision": _TEXT},
    "required": ["version"],
}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_UPDATES: Schema = {"type": "array", "items": {"$ref": "#/$defs/PermissionUpdate"}}


class AnswerFieldSchema(Struct, frozen=True):
    description: str
    shape: Shape


def answer_schema(event: EventSpec[Any]) -> Schema:
    specific = _properties(SPECIFIC_FIELDS, event)
    properties = _properties(TOP_FIELDS, event)
    properties["hookSpecificOutput"] = {
        "type": "object",
        "description": "Fields that only some events accept.",
        "properties": specific,
        "additionalProperties": False,
        **_depending(specific, _SPECIFIC_NEEDS),
    }
    schema: Schema = {
        "$schema": DRAFT,
        "title": f"{event.name} answer",
        "description": f"What a hook may answer at {event.name}, which fires {event.fires}",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **_depending(properties, _TOP_NEEDS),
    }
    definitions = dict(payload_fields(event)[1]) if event.may & Capability.REWRITE else {}
    if event.may & Capability.RULES:
        definitions["PermissionUpdate"] = _permission_update()
    return {**schema, "$defs": definitions} if definitions else schema


def _properties(fields: Mapping[str, AnswerFieldSchema], event: EventSpec[Any]) -> Schema:
    found: Schema = {}
    for name, field in fields.items():
        shape = field.shape(event)
        if shape is not None:
            key = updated_key(event.rewrites) if name == REWRITTEN and event.rewrites else name
            found[key] = {**shape, "description": shape.get("description", field.description)}
    return found


def _depending(properties: Schema, needs: Mapping[str, tuple[str, ...]]) -> Schema:
    """Require that a reason comes with a decision: a reason alone is not read."""
    one: Schema = {}
    several: Schema = {}
    for name, wanted in needs.items():
        present = [each for each in wanted if each in properties]
        if name in properties and len(present) == 1:
            one[name] = present
        elif name in properties:
            several[name] = {"anyOf": [{"required": [each]} for each in present]}
    return {key: rules for key, rules in (("dependentRequired", one), ("dependentSchemas", several)) if rules}


def _always(shape: Schema) -> Shape:
    return lambda _event: shape


def _if(may: Capability, shape: Schema) -> Shape:
    return lambda event: shape if event.may & may else None


def _at(shape: Schema, *names: str) -> Shape:
    return lambda event: shape if event.name in names and event.may & Capability.ANSWER else None


def _choice(choices: Mapping[str, Capability]) -> Shape:
    """Return the shape of a choice of fixed values, of which the event allows some."""

    def shape(event: EventSpec[Any]) -> Schema | None:
        allowed = [word for word, may in choices.items() if event.may & may]
        return {"enum": allowed} if allowed else None

    return shape


def _continue(event: EventSpec[Any]) -> Schema:
    return (
        _FLAG
        if event.may & Capability.STOP
        else {"const": True, "description": "Hooks cannot stop the run here."}
    )


def _rewritten(event: EventSpec[Any]) -> Schema | None:
    if not event.rewrites or not event.may & Capability.REWRITE:
        return None
    shape = payload_fields(event)[0].get(event.rewrites, {})
    kept = {key: value for key, value in shape.items() if key not in ("default", "description")}
    return {**kept, "description": f"Replaces {event.rewrites}."}


def _permission_update() -> Schema:
    schema = msgspec.json.schema(PermissionUpdate)["$defs"]["PermissionUpdate"]
    fields: Mapping[str, Schema] = schema["properties"]
    properties = {name: without_null(each) for name, each in fields.items() if name != "by"}
    return {"type": "object", "properties": properties, "required": schema["required"]}


def _decision(event: EventSpec[Any]) -> Schema | None:
    if event.name != "PermissionRequest":
        return None
    properties = _properties(DECISION_FIELDS, event)
    return {
        "type": "object",
        "properties": properties,
        "required": ["behavior"],
        "additionalProperties": False,
    }


def _answer(event: EventSpec[Any]) -> Schema | None:
    if not event.may & Capability.ANSWER:
        return None
    return {"description": f"Supplies {event.answer}."} if event.answer else {}


def _event_name(event: EventSpec[Any]) -> Schema:
    return {"const": event.name}


#: Placeholder in the table for the one field whose name depends on the event.
REWRITTEN = "updated..."

TOP_FIELDS: Mapping[str, AnswerFieldSchema] = {
    "continue": AnswerFieldSchema("False stops the whole run.", _continue),
    "stopReason": AnswerFieldSchema("Why the run is to stop.", _if(Capability.STOP, _TEXT)),
    "decision": AnswerFieldSchema(
        "Block stops the event's action; approve lets it proceed without asking.",
        _choice({"block": Capability.BLOCK, "approve": Capability.PERMIT}),
    ),
    "ok": AnswerFieldSchema(
        "False is a block; the form prompt and agent hooks answer in.", _if(Capability.BLOCK, _FLAG)
    ),
    "reason": AnswerFieldSchema(
        "The reason; sent to the model with a block.", _if(Capability.BLOCK | Capability.PERMIT, _TEXT)
    ),
    "systemMessage": AnswerFieldSchema("Text for the user.", _always(_TEXT)),
    "suppressOutput": AnswerFieldSchema(
        "Accepted, and without effect: output is never shown.", _always(_FLAG)
    ),
    "hookline": AnswerFieldSchema(
        "About the decision of a server; its version must be 1.", _always(_ENVELOPE)
    ),
    "async": AnswerFieldSchema(
        "True on the first line of output: continue without waiting for this hook.", _always(_FLAG)
    ),
    "asyncTimeout": AnswerFieldSchema("Accepted beside async.", _always({"type": "number"})),
}

SPECIFIC_FIELDS: Mapping[str, AnswerFieldSchema] = {
    "hookEventName": AnswerFieldSchema("The event this is meant for; may be left out.", _event_name),
    "permissionDecision": AnswerFieldSchema(
        "Deny stops the call; allow, ask and defer say how it is decided. The strictest decision of all hooks wins.",
        _choice(
            {
                "allow": Capability.PERMIT,
                "deny": Capability.BLOCK,
                "ask": Capability.PERMIT,
                "defer": Capability.PERMIT,
            }
        ),
    ),
    "permissionDecisionReason": AnswerFieldSchema("Why.", _if(Capability.BLOCK | Capability.PERMIT, _TEXT)),
    "decision": AnswerFieldSchema("The same as an object.", _decision),
    REWRITTEN: AnswerFieldSchema("", _rewritten),
    "additionalContext": AnswerFieldSchema("Text for the model.", _if(Capability.CONTEXT, _TEXT)),
    "updatedPermissions": AnswerFieldSchema("Changes of permission rules.", _if(Capability.RULES, _UPDATES)),
    "watchPaths": AnswerFieldSchema("Files whose changes fire FileChanged.", _if(Capability.WATCH, _TEXTS)),
    "initialUserMessage": AnswerFieldSchema(
        "The first message of the session, as if typed.", _if(Capability.SEED, _TEXT)
    ),
    "retry": AnswerFieldSchema(
        "True lets the model try again after the denial.", _if(Capability.RETRY, _FLAG)
    ),
    "env": AnswerFieldSchema(
        "Variables to add to the environment of the command.",
        _if(Capability.ENV, {"type": "object", "additionalProperties": _TEXT}),
    ),
    "answer": AnswerFieldSchema("The value this event takes from hooks.", _answer),
    "worktreePath": AnswerFieldSchema("The same as answer.", _at(_TEXT, "WorktreeCreate")),
    "summary": AnswerFieldSchema("The same as answer.", _at(_TEXT, "PreCompact")),
    "displayContent": AnswerFieldSchema("The same as answer.", _at(_TEXT, "MessageDisplay")),
    "action": AnswerFieldSchema(
        "The same as the action of answer.",
        _at({"enum": ["accept", "decline", "cancel"]}, "Elicitation", "ElicitationResult"),
    ),
    "content": AnswerFieldSchema(
        "The same as the content of answer.", _at({"type": "object"}, "Elicitation", "ElicitationResult")
    ),
}

DECISION_FIELDS: Mapping[str, AnswerFieldSchema] = {
    "behavior": AnswerFieldSchema(
        "The decision on the call.",
        _choice({"allow": Capability.PERMIT, "deny": Capability.BLOCK, "ask": Capability.PERMIT}),
    ),
    "message": AnswerFieldSchema("Why, for a deny.", _always(_TEXT)),
    "updatedInput": AnswerFieldSchema("Replaces tool_input.", _if(Capability.REWRITE, {"type": "object"})),
    "updatedPermissions": AnswerFieldSchema("Changes of permission rules.", _if(Capability.RULES, _UPDATES)),
    "interrupt": AnswerFieldSchema("True stops the run as well.", _if(Capability.STOP, _FLAG)),
}

_TOP_NEEDS: Mapping[str, tuple[str, ...]] = {"reason": ("decision", "ok"), "stopReason": ("continue",)}
_SPECIFIC_NEEDS: Mapping[str, tuple[str, ...]] = {
    "permissionDecisionReason": ("permissionDecision",),
    "content": ("action",),
}
