import json
from functools import cache
from typing import Any

import msgspec
import pytest

from hookline.dialects.native.wire import NativeWire
from hookline.events import EVENTS, EventSpec, Prompt
from hookline.extending import SessionInfo
from hookline.schemas.examples import example_payload
from hookline.schemas.payload import FIELDS, described, payload_schema
from tests.every import every
from tests.schemas.samples import (
    BARE,
    BUSY,
    DEPLOYING,
    HOST_PAYLOADS,
    HOSTS,
    ODD,
    POLICIES,
    Checker,
    least,
    received,
)

every_event = every("event", EVENTS.values())
every_host_event = every("event", HOSTS.values())


@cache
def checker(event: EventSpec[Any]) -> Checker:
    return Checker(payload_schema(event))


def mistakes(event: EventSpec[Any], document: object) -> list[str]:
    return checker(event).mistakes(document)


@every_event
@pytest.mark.parametrize("info", [BUSY, BARE], ids=["busy", "bare"])
def test_what_the_wire_tells_validates(event: EventSpec[Any], info: SessionInfo):
    assert mistakes(event, received(event, least(event), info)) == []
    assert mistakes(event, received(event, example_payload(event), info)) == []


@every_event
def test_required_is_exactly_what_is_told_of_the_least_payload(event: EventSpec[Any]):
    assert set(payload_schema(event)["required"]) == set(received(event, least(event), BARE))


@every_event
def test_everything_that_is_told_is_described(event: EventSpec[Any]):
    properties = payload_schema(event)["properties"]
    assert set(received(event, example_payload(event), BUSY)) <= set(properties)
    assert [name for name, schema in properties.items() if not schema.get("description")] == []


@every_event
def test_a_document_without_a_required_field_does_not_validate(event: EventSpec[Any]):
    document = received(event, least(event), BARE)
    for name in payload_schema(event)["required"]:
        assert mistakes(event, {key: value for key, value in document.items() if key != name}), name


@every_event
def test_a_field_of_the_wrong_type_does_not_validate(event: EventSpec[Any]):
    document = received(event, example_payload(event), BUSY)
    for name, schema in payload_schema(event)["properties"].items():
        if set(schema) - {"description", "default"}:
            assert mistakes(event, {**document, name: object_of_no_type()}), name


def object_of_no_type() -> object:
    """JSON has no such value, so only a field of any type takes it."""
    return {1, 2}


@every_event
def test_the_document_of_another_event_does_not_validate(event: EventSpec[Any]):
    assert mistakes(event, {**received(event, least(event), BARE), "hook_event_name": "Other"})


@every("name", [name for name, event in EVENTS.items() if event.subjects])
def test_a_closed_vocabulary_is_closed(name: str):
    event = EVENTS[name]
    document = received(event, least(event), BARE)
    assert all(mistakes(event, {**document, event.subject: value}) == [] for value in event.subjects)
    assert mistakes(event, {**document, event.subject: "invented"})


def test_a_document_that_was_cut_to_fit_validates():
    from hookline.model.events import USER_PROMPT_SUBMIT
    from hookline.model.hook import Hook
    from hookline.model.wire import HookInvocation

    wire = NativeWire(stdin_limit=4096)
    hook = Hook(
        name="h", event=USER_PROMPT_SUBMIT, policy=POLICIES.of(USER_PROMPT_SUBMIT), wire=wire, kind="command"
    )
    call = HookInvocation(
        hook=hook, event=USER_PROMPT_SUBMIT, payload=Prompt(prompt="x" * 9999), info=BARE, timeout=1.0
    )
    document = json.loads(wire.encode(call).document)
    assert document["hookline_shortened"] == ["prompt"]
    assert mistakes(USER_PROMPT_SUBMIT, document) == []


def test_every_payload_field_has_a_sentence_and_every_sentence_a_field():
    used: set[str] = set()
    for event in EVENTS.values():
        for field in msgspec.structs.fields(event.payload):
            own = f"{event.payload.__name__}.{field.name}"
            assert described(event.payload.__name__, field.name), own
            used.add(own if own in FIELDS else field.name)
    assert set(FIELDS) == used


@every_host_event
def test_the_rows_of_a_host_have_schemas(event: EventSpec[Any]):
    assert mistakes(event, {})
    if event.name in HOST_PAYLOADS:
        document = received(event, HOST_PAYLOADS[event.name], BARE)
        assert mistakes(event, document) == []
        assert set(payload_schema(event)["required"]) <= set(document)


def test_the_nested_records_of_a_host_are_checked():
    document = received(DEPLOYING, HOST_PAYLOADS["Deploying"], BARE)
    assert mistakes(DEPLOYING, {**document, "parts": [{"number": "one"}]})
    assert mistakes(DEPLOYING, {**document, "stage": "nowhere"})


def test_a_host_describes_its_own_fields():
    assert payload_schema(DEPLOYING)["properties"]["stage"]["description"] == "Where it goes."


def test_a_type_that_no_schema_can_describe_takes_anything():
    properties = payload_schema(ODD)["properties"]
    assert properties["opaque"] == {"title": "Opaque"}
    assert properties["size"]["type"] == "integer"
