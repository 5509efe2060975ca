import dataclasses
import json
import time
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from hookline import ConfigError, Outcome, rewrite
from hookline.dialects.family.wire import PayloadError
from hookline.dialects.native.wire import NativeWire
from hookline.events import (
    EVENTS,
    FILE_CHANGED,
    PRE_TOOL_USE,
    SESSION_START,
    STOP,
    TURN_START,
    Capability,
    EventSpec,
)
from hookline.extending import SessionInfo
from hookline.model import payloads as p
from hookline.model.errors import UnknownEventError
from hookline.model.outcome import Rewrite
from tests.dialects.native.calls import WIRE, call, payload_for
from tests.every import every


def received(
    event: EventSpec[Any], payload: Any = None, info: SessionInfo | None = None, wire: NativeWire = WIRE
) -> Any:
    document = wire.encode(call(event, payload, info=info, wire=wire)).document
    assert document.endswith(b"\n")
    assert document.count(b"\n") == 1
    return json.loads(document)


@every("event", EVENTS.values())
def test_every_event_tells_who_where_and_what_and_is_read_back(event: EventSpec[Any]):
    info = SessionInfo(session_id="s1", transcript_path="/t", cwd="/proj", permission_mode="plan")
    payload = payload_for(event)
    document = received(event, payload, info)
    assert list(document)[:5] == [
        "session_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        "permission_mode",
    ]
    assert document["hook_event_name"] == event.name
    assert document["permission_mode"] == "plan"
    parsed = WIRE.parse(document)
    assert parsed.event is event
    assert parsed.payload == payload
    assert (parsed.info.session_id, parsed.info.cwd, parsed.info.permission_mode) == (
        "s1",
        "/proj",
        "plan",
    )


def test_what_the_scene_knows_is_told_when_it_knows_it():
    info = SessionInfo(
        agent_id="a", agent_type="review", parent_agent_id="p", prompt_id="q", model="m", turn=3
    )
    document = received(PRE_TOOL_USE, info=info)
    assert {name: document[name] for name in ("agent_id", "agent_type", "parent_agent_id", "prompt_id")} == {
        "agent_id": "a",
        "agent_type": "review",
        "parent_agent_id": "p",
        "prompt_id": "q",
    }
    assert (document["model"], document["turn"]) == ("m", 3)
    assert WIRE.parse(document).info == info
    assert "agent_id" not in received(PRE_TOOL_USE)


def test_fields_that_scripts_rely_on_are_there_at_their_default_too():
    assert received(PRE_TOOL_USE)["tool_input"] == {}
    assert received(STOP)["stop_hook_active"] is False
    assert received(SESSION_START)["source"] == "startup"
    assert "file_name" not in received(FILE_CHANGED)


def test_the_environment_names_event_session_and_directories():
    env = WIRE.encode(
        call(PRE_TOOL_USE, info=SessionInfo(session_id="s", cwd="/w/sub", project_dir="/w"))
    ).env
    assert env == {
        "HOOKLINE_EVENT": "PreToolUse",
        "HOOKLINE_SESSION_ID": "s",
        "HOOKLINE_CWD": "/w/sub",
        "HOOKLINE_PROJECT_DIR": "/w",
        "CLAUDE_PROJECT_DIR": "/w",
    }
    assert WIRE.encode(call(PRE_TOOL_USE, info=SessionInfo(cwd="/c"))).env["HOOKLINE_PROJECT_DIR"] == "/c"


@dataclasses.dataclass(frozen=True)
class Parcel:
    weight: float
    label: str = "none"


def test_a_host_may_use_any_record_or_mapping():
    row = EventSpec("ParcelSent", Parcel, "when it is sent.", Capability.REWRITE, rewrites="label")
    assert received(row, Parcel(2.5))["weight"] == 2.5
    assert received(row, MappingProxyType({"weight": 1, "inner": MappingProxyType({"a": 1})}))["inner"] == {
        "a": 1
    }
    document = {"hook_event_name": "ParcelSent", "weight": 3.5, "label": "x"}
    assert NativeWire({"ParcelSent": row}).parse(document).payload == Parcel(3.5, "x")


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (7, "int is neither a record"),
        ({"a": object()}, "object has no JSON form"),
        (p.ToolCall(tool_name="x", tool_input={"a": object()}), "object has no JSON form"),
        (p.ToolCall(tool_name="x", tool_input={(1, 2): 3}), "tuple has no JSON form"),  # pyright: ignore[reportArgumentType] wrong on purpose
    ],
)
def test_a_payload_without_a_json_form_is_refused_with_its_type(payload: Any, said: str):
    with pytest.raises(PayloadError, match=said):
        WIRE.encode(call(PRE_TOOL_USE, payload))


def test_a_payload_that_is_nested_without_end_is_refused():
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for payload in ({"a": deep}, p.ToolCall(tool_name="x", tool_input={"a": deep})):
        with pytest.raises(PayloadError, match="nested too deeply"):
            WIRE.encode(call(PRE_TOOL_USE, payload))


def test_a_directory_whose_name_is_not_utf8_is_told_by_escapes():
    document = received(PRE_TOOL_USE, info=SessionInfo(cwd="/caf\udce9"))
    assert document["cwd"] == "/caf\udce9"


def test_a_payload_beyond_the_cap_is_cut_in_its_longest_texts_with_a_mark():
    wire = NativeWire(stdin_limit=20_000)
    payload = p.ToolCall(
        tool_name="Write",
        tool_input={"file_path": "/x", "content": "begin" + "é" * 40_000 + "end", "l": ["y" * 9000]},
    )
    encoded = wire.encode(call(PRE_TOOL_USE, payload, wire=wire)).document
    document = json.loads(encoded)
    assert len(encoded) <= 20_000
    assert document["hookline_shortened"] == ["tool_input.content"]
    content = document["tool_input"]["content"]
    assert content.startswith("begin")
    assert content.endswith("end")
    assert "hookline left out" in content
    assert document["tool_input"]["l"] == ["y" * 9000]


def test_escapes_count_when_a_payload_is_cut():
    wire = NativeWire(stdin_limit=20_000)
    payload = p.Prompt(prompt="\x01" * 15_000)
    assert len(wire.encode(call(EVENTS["UserPromptSubmit"], payload, wire=wire)).document) <= 20_000


def test_a_payload_that_is_big_without_long_texts_is_refused():
    wire = NativeWire(stdin_limit=20_000)
    payload = p.ToolCall(tool_name="x", tool_input={"a": list(range(10_000))})
    with pytest.raises(PayloadError, match="20,000 bytes"):
        wire.encode(call(PRE_TOOL_USE, payload, wire=wire))


def test_a_million_numbers_are_refused_without_stalling_the_loop():
    payload = p.ToolCall(tool_name="Write", tool_input={"l": list(range(10**6, 10**6 + 1_200_000))})
    begun = time.process_time()
    with pytest.raises(PayloadError, match="no long texts to cut"):
        WIRE.encode(call(PRE_TOOL_USE, payload))
    # Takes 0.04 s; looking at each number in Python, again and again, took 9 s.
    assert time.process_time() - begun < 3


def test_a_long_text_among_many_numbers_is_cut_and_named():
    wire = NativeWire(stdin_limit=20_000)
    numbers = list(range(1000, 3000))
    given: dict[str, Any] = {"l": numbers, "deep": [1, {"a": ["x", "z" * 30_000]}], "quotes": '\\"' * 3000}
    payload = p.ToolCall(tool_name="Write", tool_input=given)
    document = json.loads(wire.encode(call(PRE_TOOL_USE, payload, wire=wire)).document)
    assert document["hookline_shortened"] == ["tool_input.deep[1].a[1]", "tool_input.quotes"]
    assert document["tool_input"]["l"] == numbers
    assert len(document["tool_input"]["deep"][1]["a"][1]) < 10_000
    assert given["deep"][1]["a"][1] == "z" * 30_000


def test_texts_told_by_escapes_are_cut_too():
    wire = NativeWire(stdin_limit=20_000)
    payload = p.ToolCall(tool_name="Write", tool_input={"content": "é" * 30_000})
    document = received(PRE_TOOL_USE, payload, SessionInfo(cwd="/caf\udce9"), wire)
    assert document["hookline_shortened"] == ["tool_input.content"]
    assert len(document["tool_input"]["content"]) > 1000


def test_advancing_replaces_the_field_of_the_event_and_nothing_else():
    payload = p.ToolCall(tool_name="Bash", tool_input={"command": "a", "timeout": 1}, tool_use_id="t")
    whole = WIRE.advance(PRE_TOOL_USE, payload, rewrite({"command": "b"}))
    assert whole == msgspec.structs.replace(payload, tool_input={"command": "b"})
    patched = WIRE.advance(PRE_TOOL_USE, payload, rewrite(command="c"))
    assert patched.tool_input == {"command": "c", "timeout": 1}
    assert payload.tool_input == {"command": "a", "timeout": 1}


def test_advancing_goes_edit_by_edit_and_trusts_a_value_the_engine_worked_out():
    payload = p.ToolCall(tool_name="Bash", tool_input={"a": 1})
    edits = (
        Rewrite({"b": 2}, patch=True, field="tool_input"),
        Rewrite({"x": 9}, field="prompt"),
        Rewrite({"c": 3}, patch=True),
    )
    assert WIRE.advance(PRE_TOOL_USE, payload, Outcome(edits=edits)).tool_input == {"a": 1, "b": 2, "c": 3}
    known = Outcome(edits=(Rewrite({"b": 2}, patch=True, field="tool_input", whole={"w": 1}),))
    assert WIRE.advance(PRE_TOOL_USE, payload, known).tool_input == {"w": 1}


def test_advancing_works_on_every_kind_of_payload():
    row = EventSpec("ParcelSent", Parcel, "when it is sent.", Capability.REWRITE, rewrites="label")
    assert WIRE.advance(row, Parcel(1.0), rewrite("new")) == Parcel(1.0, "new")
    assert WIRE.advance(row, {"weight": 1}, rewrite("new")) == {"weight": 1, "label": "new"}


def test_without_an_edit_the_payload_stays_the_same_object():
    payload = p.TurnBegun()
    assert WIRE.advance(TURN_START, payload, rewrite("x")) is payload
    tool = p.ToolCall(tool_name="Bash")
    assert WIRE.advance(PRE_TOOL_USE, tool, Outcome()) is tool
    assert WIRE.advance(PRE_TOOL_USE, tool, Outcome(edits=(Rewrite(1, field="other"),))) is tool


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "hook_event_name is missing"),
        ({"hook_event_name": 3}, "hook_event_name is not text"),
        ({"hook_event_name": "PreToolUse"}, "the payload of PreToolUse: tool_name is missing"),
        ({"hook_event_name": "PreToolUse", "tool_name": 3}, "tool_name: expected str, got int"),
        (
            {"hook_event_name": "PreToolUse", "tool_name": "x", "tool_input": []},
            "tool_input: expected object",
        ),
        ({"hook_event_name": "Stop", "session_id": 5}, "session_id is not text"),
    ],
)
def test_a_payload_that_cannot_be_read_back_names_the_field(document: dict[str, Any], said: str):
    with pytest.raises(ConfigError, match=said):
        WIRE.parse(document)


def test_an_event_that_does_not_exist_is_answered_with_the_nearest():
    with pytest.raises(UnknownEventError, match="PreToolUse"):
        WIRE.parse({"hook_event_name": "pre_tool_use"})


def test_a_mapping_row_gets_what_is_not_the_scene():
    row: EventSpec[Any] = EventSpec("Any", dict, "at any time.")
    parsed = NativeWire({"Any": row}).parse({"hook_event_name": "Any", "session_id": "s", "a": 1})
    assert parsed.payload == {"a": 1}
    assert parsed.info.session_id == "s"
