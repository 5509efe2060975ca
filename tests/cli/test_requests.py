"""`key=value` and `key:=JSON`: what a hook gets for what was typed."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError
from hookline.cli.requests import RequestError, read_request
from hookline.dialects.registry import standard_dialects
from hookline.events import EVENTS, EventSpec
from hookline.model.wire import EventRequest
from tests.every import every


def request(*words: str, payload: str | None = None) -> EventRequest:
    return read_request(words, payload, "/here", EVENTS)


@every("text", ["true", "null", "2024", "1.50", '{"a":1}', "[1]", "-1", "", "a=b", "=x", "é"])
def test_the_input_of_a_tool_gets_the_text_as_typed(text: str) -> None:
    assert request("PreToolUse", "Bash", f"command={text}").payload.tool_input == {"command": text}


@pytest.mark.parametrize("text", ["true", "null", "2024", "1.50", "[1]", '{"a":1}', ""])
def test_a_field_that_takes_text_gets_the_text_as_typed(text: str) -> None:
    assert request("UserPromptSubmit", f"prompt={text}").payload.prompt == text
    assert request("UserPromptSubmit", "prompt=x", f"source={text}").payload.source == text
    assert request("PostToolUse", "tool_name=Bash", f"tool_response={text}").payload.tool_response == text
    inner = request("PreToolUse", "tool_name=Bash", f"tool_input.command={text}").payload
    assert inner.tool_input == {"command": text}


@pytest.mark.parametrize("text", ["true", "null", "2024", "1.5", "[1]", '{"a":1}', '"text"'])
def test_what_stands_after_a_colon_and_an_equals_sign_is_json(text: str) -> None:
    assert request("PreToolUse", "Read", f"limit:={text}").payload.tool_input == {"limit": json.loads(text)}
    assert request("PreToolUse", "Read", f"a.b:={text}").payload.tool_input == {"a": {"b": json.loads(text)}}
    translated = request("PostToolUse", "tool_name=Bash", f"tool_response:={text}").payload
    assert translated.tool_response == json.loads(text)


def test_fields_that_take_no_text_get_what_it_is_as_json() -> None:
    stop = request("Stop", "turn=3", "stop_hook_active=true", "last_assistant_message=4")
    assert (stop.payload.turn, stop.payload.stop_hook_active) == (3, True)
    assert stop.payload.last_assistant_message == "4"
    assert request("SessionEnd", "cost_usd=1.5").payload.cost_usd == 1.5
    assert request("SessionEnd", "cost_usd=null").payload.cost_usd is None
    batch = request("PostToolBatch", 'tool_calls=[{"tool_name": "Read", "tool_input": {"a": 1}}]').payload
    assert [(call.tool_name, call.tool_input) for call in batch.tool_calls] == [("Read", {"a": 1})]
    with pytest.raises(ConfigError, match=r"tool_calls\[0\]\.tool_name is missing"):
        request("PostToolBatch", 'tool_calls=[{"a": 1}]')
    with pytest.raises(ConfigError, match="duration_ms: expected int"):
        request("SessionEnd", "duration_ms=soon")


def test_the_scene_is_set_by_its_own_names_in_other_dialects() -> None:
    native = request("SessionEnd", "session_id=7", "permission_mode=plan", "turn=3", "cwd=/there").info
    assert (native.session_id, native.permission_mode, native.turn, native.cwd) == ("7", "plan", 3, "/there")
    foreign = standard_dialects()["codewhale"].build()
    info = read_request(
        ["message_submit", "prompt=x", "session_id=7", "turn=3"], None, "/", EVENTS, foreign
    ).info
    assert (info.session_id, info.turn) == ("7", 3)


@every(
    ("words", "said"),
    [
        (["SessionStart", "sorce=resume"], "SessionStart has no field 'sorce'; did you mean 'source'?"),
        (["Stop", "bogus=1"], "Stop has no field 'bogus'; `hookline events Stop` lists them"),
        (["Stop", "hook_event_name=PreToolUse"], "has no field 'hook_event_name'"),
        (["Stop", "sesion_id=1"], "did you mean 'session_id'?"),
        (["PreToolUse", "tool_nme.x=1"], "did you mean 'tool_name'?"),
        (["SessionEnd", "turn=soon"], "turn: 'soon' is not a whole number"),
        (["SessionEnd", "session_id:=5"], "session_id: '5' is not text"),
        (["PreToolUse", "Bash", "limit:=many"], "limit:= takes JSON"),
        (["PreToolUse", "Bash", "limit:=" + "[" * 9000], "limit:= takes JSON"),
        (["PreToolUse", "Bash", "a." * 5000 + "a=1"], "at most 32 levels"),
        (["PreToolUse", "Bash", "=x"], "has no key"),
        (["PreToolUse", "Bash", "a=1", "a.b=2"], "tool_input.a of the payload is not an object"),
    ],
)
def test_a_setting_that_has_no_place_is_refused_with_a_hint(words: list[str], said: str) -> None:
    with pytest.raises(RequestError) as refused:
        request(*words)
    assert said in str(refused.value)


def test_a_foreign_event_refuses_unknown_keys_too() -> None:
    foreign = standard_dialects()["codewhale"].build()
    with pytest.raises(RequestError, match="did you mean 'prompt'"):
        read_request(["message_submit", "promt=x"], None, "/", EVENTS, foreign)


def test_an_open_payload_takes_any_key() -> None:
    opened: EventSpec[Any] = EventSpec("Own", dict, "at any time.")
    payload = read_request(["Own", "anything=1", "count:=1"], None, "/", {"Own": opened}).payload
    assert payload == {"anything": "1", "count": 1}


def test_keys_inside_a_payload_document_are_not_checked(tmp_path: Path) -> None:
    file = tmp_path / "payload"
    file.write_text('{"hook_event_name": "Stop", "bogus": 1}')
    assert request("Stop", "turn=2", payload=str(file)).payload.turn == 2


@pytest.mark.parametrize("value", ['"x"', "null", "[]", "1"])
def test_an_input_that_is_no_object_cannot_be_added_to(tmp_path: Path, value: str) -> None:
    file = tmp_path / "payload"
    file.write_text(f'{{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {value}}}')
    with pytest.raises(RequestError, match=r"tool_input of the payload is not an object"):
        request("PreToolUse", "Bash", "command=ls", payload=str(file))
