"""Collect all facts about an event in the native format in one record, which the listing and the reference
page print.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from hookline.dialects.native.answers import updated_key
from hookline.dialects.native.events import PLAIN_TEXT_IS_CONTEXT
from hookline.model.events import Capability, EventSpec
from hookline.model.policy import BlockLimit, Policy
from hookline.schemas.examples import ExampleAnswer, example_answers, example_document, may_words
from hookline.schemas.payload import Schema, always_sent, payload_fields

#: Descriptions of what hooks may do, by the names of `Capability`.
MAY_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "block": "stop the event's action",
        "permit": "decide the permission: allow, ask or defer",
        "rewrite": "replace a field of the payload",
        "context": "add text for the model",
        "stop": "stop the whole run",
        "rules": "change permission rules",
        "watch": "have files watched",
        "seed": "supply the first user message",
        "retry": "let the model try again",
        "env": "add environment variables",
        "answer": "supply a value",
        "message": "show a message to the user",
    }
)

#: The native effect of a block, by `Policy.block_means`.
BLOCK_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "deny_call": "the call does not run, and the model gets the reason",
        "reject_prompt": "the prompt is rejected and never reaches the model",
        "end_turn": "the turn ends",
        "retry_call": "the request is not sent as it is; it is made again with the reason in it",
        "beside_output": "what happened stays, and the model gets the reason with the result",
        "continue_turn": "it does not end: the agent continues with the reason",
        "cancel": "the action does not happen",
    }
)

PLACEMENT_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "system": "in the system prompt",
        "conversation": "in the conversation",
        "user": "in the user's message",
        "tool_result": "with the tool result",
        "transient": "in the next request only, not in the history",
    }
)

LIVES_WORDS: Mapping[str, str] = MappingProxyType(
    {"session": "for the session", "turn": "for the turn", "call": "for one model call"}
)


class EventField(Struct, frozen=True):
    name: str
    type: str
    #: False: only when it is known and not at its default.
    always: bool
    default: Any
    description: str


class NativeFacts(Struct, frozen=True):
    """Native behaviour at the event."""

    block_means: str | None
    placement: str | None
    lifetime: str | None
    on_failure: Literal["open", "closed"]
    limit: BlockLimit | None
    budget: float | None
    plain_text_is_context: bool


class EventLine(Struct, frozen=True, kw_only=True):
    """The facts of an event that a table of all of them has."""

    event: str
    fires: str
    may: tuple[str, ...]
    #: The field of the payload a matcher is compared with, and its values where they are known.
    matcher: str | None
    values: tuple[str, ...]
    guard: bool
    since: str
    declared_only: bool


class EventFacts(EventLine, frozen=True, kw_only=True):
    """All facts of an event."""

    rewrites: str | None
    rewritten_by: str | None
    answer: str | None
    native: NativeFacts
    fields: tuple[EventField, ...]
    payload: Mapping[str, Any] | None
    answers: tuple[ExampleAnswer, ...]


def event_line(event: EventSpec[Any]) -> EventLine:
    return EventLine(
        event=event.name,
        fires=event.fires,
        may=may_words(event),
        matcher=event.subject,
        values=event.subjects,
        guard=event.guard,
        since=event.since,
        declared_only=event.declared_only,
    )


def event_facts(event: EventSpec[Any], policy: Policy) -> EventFacts:
    rewrites = event.rewrites if event.may & Capability.REWRITE else None
    return EventFacts(
        **asdict(event_line(event)),
        rewrites=rewrites,
        rewritten_by=updated_key(rewrites) if rewrites else None,
        answer=event.answer if event.may & Capability.ANSWER else None,
        native=_native(event, policy),
        fields=tuple(_fields(event)),
        payload=example_document(event, policy),
        answers=example_answers(event),
    )


def _native(event: EventSpec[Any], policy: Policy) -> NativeFacts:
    blocks, adds_text = bool(policy.may & Capability.BLOCK), bool(policy.may & Capability.CONTEXT)
    return NativeFacts(
        block_means=policy.block_means if blocks else None,
        placement=policy.placement if adds_text else None,
        lifetime=policy.lifetime if adds_text else None,
        on_failure="closed" if policy.failures.get("crashed") == "block" else "open",
        limit=policy.limit,
        budget=policy.budget,
        plain_text_is_context=event.name in PLAIN_TEXT_IS_CONTEXT,
    )


def _fields(event: EventSpec[Any]) -> Iterable[EventField]:
    always = always_sent(event)
    for name, schema in payload_fields(event)[0].items():
        yield EventField(
            name, type_words(schema), name in always, schema.get("default"), schema.get("description", "")
        )


def type_words(schema: Schema) -> str:
    """Return the type of a field for people: `string`, `list of object`, `"manual" | "auto"`."""
    if "enum" in schema:
        return " | ".join(f'"{word}"' for word in schema["enum"])
    if "const" in schema:
        return f'"{schema["const"]}"' if isinstance(schema["const"], str) else str(schema["const"]).lower()
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(type_words(each) for each in cast("list[Schema]", schema["anyOf"]))
    return _plain_type(schema)


def _plain_type(schema: Schema) -> str:
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {type_words(schema.get('items', {}))}"
    values = schema.get("additionalProperties")
    return f"object of {type_words(cast('Schema', values))}" if kind == "object" and values else kind


def sent_words(field: EventField) -> str:
    """Say when a field is in the document."""
    if field.always:
        return "always"
    return f"unless {json_text(field.default)}" if field.default else "when known"


def json_text(value: Any) -> str:
    """Encode a value as JSON on one line."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def block_words(facts: EventFacts) -> str | None:
    means = facts.native.block_means
    return None if means is None else BLOCK_WORDS.get(means, means)


def context_words(facts: EventFacts) -> str | None:
    native = facts.native
    if native.placement is None or native.lifetime is None:
        return None
    return placement_words(native.placement, native.lifetime)


def placement_words(placement: str, lifetime: str) -> str:
    """Say where added text goes, and for how long."""
    return PLACEMENT_WORDS[placement] + ("" if placement == "transient" else f", {LIVES_WORDS[lifetime]}")


def failure_words(facts: EventFacts) -> str:
    if facts.native.on_failure == "closed":
        return "closed: a hook that does not answer counts as a block"
    return "open: a failed hook is reported, and the agent continues"


def limit_words(limit: BlockLimit | None) -> str | None:
    if limit is None:
        return None
    then = "the turn ends" if limit.then == "end_turn" else "the next one is not obeyed"
    resets = "a new turn" if limit.resets == "turn" else "a new turn or a tool call"
    return f"{limit.obeyed} blocks in a row are obeyed, then {then}; {resets} restarts the count"
