"""The JSON Schema of a hook's answer: exactly the fields that are read at an event, and obeyed there.

What the reader takes and the event then drops (a rewrite where nothing can be rewritten) is not in it, and no
other field is allowed, so that a validator finds the misspelled one.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hookline.dialects.native.answers import updated_key
from hookline.model.events import EventSpec, May
from hookline.model.outcome import PermissionUpdate
from hookline.schemas.payload import DRAFT, Schema, payload_fields, without_null

#: What a field looks like at an event; None: it is not read or not obeyed there.
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


class AnswerField(Struct, frozen=True):
    description: str
    shape: Shape


def answer_schema(event: EventSpec[Any]) -> Schema:
    specific = _properties(SPECIFIC_FIELDS, event)
    properties = _properties(TOP_FIELDS, event)
    properties["hookSpecificOutput"] = {
        "type": "object",
        "description": "What only some events take.",
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
    definitions = dict(payload_fields(event)[1]) if event.may & May.REWRITE else {}
    if event.may & May.RULES:
        definitions["PermissionUpdate"] = _permission_update()
    return {**schema, "$defs": definitions} if definitions else schema


def _properties(fields: Mapping[str, AnswerField], event: EventSpec[Any]) -> Schema:
    found: Schema = {}
    for name, field in fields.items():
        shape = field.shape(event)
        if shape is not None:
            key = updated_key(event.rewrites) if name == REWRITTEN and event.rewrites else name
            found[key] = {**shape, "description": shape.get("description", field.description)}
    return found


def _depending(properties: Schema, needs: Mapping[str, tuple[str, ...]]) -> Schema:
    """A reason with nothing to be the reason of is not read."""
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


def _if(may: May, shape: Schema) -> Shape:
    return lambda event: shape if event.may & may else None


def _at(shape: Schema, *names: str) -> Shape:
    return lambda event: shape if event.name in names and event.may & May.ANSWER else None


def _choice(choices: Mapping[str, May]) -> Shape:
    """One of several fixed values, of which the event allows some."""

    def shape(event: EventSpec[Any]) -> Schema | None:
        allowed = [word for word, may in choices.items() if event.may & may]
        return {"enum": allowed} if allowed else None

    return shape


def _continue(event: EventSpec[Any]) -> Schema:
    return (
        _FLAG if event.may & May.STOP else {"const": True, "description": "Hooks cannot stop the run here."}
    )


def _rewritten(event: EventSpec[Any]) -> Schema | None:
    if not event.rewrites or not event.may & May.REWRITE:
        return None
    shape = payload_fields(event)[0].get(event.rewrites, {})
    kept = {key: value for key, value in shape.items() if key not in ("default", "description")}
    return {**kept, "description": f"Takes the place of {event.rewrites}."}


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
    if not event.may & May.ANSWER:
        return None
    return {"description": f"Supplies {event.answer}."} if event.answer else {}


def _event_name(event: EventSpec[Any]) -> Schema:
    return {"const": event.name}


#: Placeholder in the table for the one field whose name depends on the event.
REWRITTEN = "updated..."

TOP_FIELDS: Mapping[str, AnswerField] = {
    "continue": AnswerField("False stops the whole run.", _continue),
    "stopReason": AnswerField("Why the run is to stop.", _if(May.STOP, _TEXT)),
    "decision": AnswerField(
        "A block stops what the event is about; approve lets it go ahead without asking.",
        _choice({"block": May.BLOCK, "approve": May.PERMIT}),
    ),
    "ok": AnswerField("False is a block; the form prompt and agent hooks answer in.", _if(May.BLOCK, _FLAG)),
    "reason": AnswerField("Why; told to the model when it is a block.", _if(May.BLOCK | May.PERMIT, _TEXT)),
    "systemMessage": AnswerField("Text for the user.", _always(_TEXT)),
    "suppressOutput": AnswerField("Accepted, and without effect: output is never shown.", _always(_FLAG)),
    "hookline": AnswerField("About the decision of a server; its version must be 1.", _always(_ENVELOPE)),
    "async": AnswerField(
        "True on the first line of output: go on without waiting for this hook.", _always(_FLAG)
    ),
    "asyncTimeout": AnswerField("Accepted beside async.", _always({"type": "number"})),
}

SPECIFIC_FIELDS: Mapping[str, AnswerField] = {
    "hookEventName": AnswerField("The event this is meant for; may be left out.", _event_name),
    "permissionDecision": AnswerField(
        "Deny stops the call; allow, ask and defer say how it is decided. The strictest word of all hooks holds.",
        _choice({"allow": May.PERMIT, "deny": May.BLOCK, "ask": May.PERMIT, "defer": May.PERMIT}),
    ),
    "permissionDecisionReason": AnswerField("Why.", _if(May.BLOCK | May.PERMIT, _TEXT)),
    "decision": AnswerField("The same as an object.", _decision),
    REWRITTEN: AnswerField("", _rewritten),
    "additionalContext": AnswerField("Text for the model.", _if(May.CONTEXT, _TEXT)),
    "updatedPermissions": AnswerField("Changes of permission rules.", _if(May.RULES, _UPDATES)),
    "watchPaths": AnswerField("Files whose changes fire FileChanged.", _if(May.WATCH, _TEXTS)),
    "initialUserMessage": AnswerField("The first message of the session, as if typed.", _if(May.SEED, _TEXT)),
    "retry": AnswerField("True lets the model try again after the denial.", _if(May.RETRY, _FLAG)),
    "env": AnswerField(
        "Variables to add to the environment of the command.",
        _if(May.ENV, {"type": "object", "additionalProperties": _TEXT}),
    ),
    "answer": AnswerField("The value this event takes from hooks.", _answer),
    "worktreePath": AnswerField("The same as answer.", _at(_TEXT, "WorktreeCreate")),
    "summary": AnswerField("The same as answer.", _at(_TEXT, "PreCompact")),
    "displayContent": AnswerField("The same as answer.", _at(_TEXT, "MessageDisplay")),
    "action": AnswerField(
        "The same as the action of answer.",
        _at({"enum": ["accept", "decline", "cancel"]}, "Elicitation", "ElicitationResult"),
    ),
    "content": AnswerField(
        "The same as the content of answer.", _at({"type": "object"}, "Elicitation", "ElicitationResult")
    ),
}

DECISION_FIELDS: Mapping[str, AnswerField] = {
    "behavior": AnswerField(
        "What to do with the call.", _choice({"allow": May.PERMIT, "deny": May.BLOCK, "ask": May.PERMIT})
    ),
    "message": AnswerField("Why, for a deny.", _always(_TEXT)),
    "updatedInput": AnswerField("Takes the place of tool_input.", _if(May.REWRITE, {"type": "object"})),
    "updatedPermissions": AnswerField("Changes of permission rules.", _if(May.RULES, _UPDATES)),
    "interrupt": AnswerField("True stops the run as well.", _if(May.STOP, _FLAG)),
}

_TOP_NEEDS: Mapping[str, tuple[str, ...]] = {"reason": ("decision", "ok"), "stopReason": ("continue",)}
_SPECIFIC_NEEDS: Mapping[str, tuple[str, ...]] = {
    "permissionDecisionReason": ("permissionDecision",),
    "content": ("action",),
}
