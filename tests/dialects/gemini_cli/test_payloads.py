"""Test payloads: every key the client was seen to send, and the variables beside it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError
from hookline.dialects.gemini_cli import dialect
from hookline.dialects.gemini_cli.events import ROWS
from hookline.events import (
    POST_TOOL_USE_FAILURE,
    PRE_TOOL_USE,
    EventSpec,
    ModelRequest,
    ModelResponse,
    ToolCall,
    ToolFailure,
    ToolResult,
)
from hookline.extending import Encoded, HookInvocation, SessionInfo
from hookline.model.errors import UnknownEventError
from hookline.model.messages import shown_messages
from hookline.schemas.examples import example_payload
from tests.dialects.gemini_cli.cases import HERE
from tests.every import every

PAYLOADS = sorted((HERE / "recorded/payloads").glob("*.json"))
GEMINI = dialect()


def received(name: str, payload: Any, info: SessionInfo, event: EventSpec[Any] | None = None) -> Encoded:
    row = GEMINI.events[name]
    hook = GEMINI.flag_hook(row, "true")
    call = HookInvocation(hook=hook, event=event or row.event, payload=payload, info=info, timeout=1.0)
    return GEMINI.wire.encode(call)


def document(name: str, payload: Any, event: EventSpec[Any] | None = None, **info: Any) -> dict[str, Any]:
    return json.loads(received(name, payload, SessionInfo(session_id="s", cwd="/p", **info), event).document)


@every("path", PAYLOADS)
def test_a_recorded_payload_read_and_told_again_is_the_same(path: Path) -> None:
    recorded: Mapping[str, Any] = json.loads(path.read_text())
    parsed = GEMINI.wire.parse(recorded)
    encoded = received(recorded["hook_event_name"], parsed.payload, parsed.info, parsed.event)
    assert json.loads(encoded.document) == recorded


def test_every_event_was_recorded() -> None:
    assert {json.loads(path.read_text())["hook_event_name"] for path in PAYLOADS} == set(ROWS)
    assert len(ROWS) == 11


@every("name", ROWS)
def test_every_event_can_be_told_without_a_client(name: str) -> None:
    said = document(name, example_payload(ROWS[name].event))
    assert said["hook_event_name"] == name
    assert said["timestamp"].endswith("Z")
    recorded = [json.loads(path.read_text()) for path in PAYLOADS]
    usual = next(one for one in recorded if one["hook_event_name"] == name)
    assert set(usual) - {"mcp_context"} <= set(said)


def test_the_variables() -> None:
    env = received(
        "SessionEnd", example_payload(ROWS["SessionEnd"].event), SessionInfo(session_id="s", cwd="/p/sub")
    ).env
    assert env == {
        "GEMINI_PROJECT_DIR": "/p/sub",
        "GEMINI_CWD": "/p/sub",
        "GEMINI_SESSION_ID": "s",
        "CLAUDE_PROJECT_DIR": "/p/sub",
    }
    info = SessionInfo(cwd="/p/sub", project_dir="/p")
    assert (
        received("SessionEnd", example_payload(ROWS["SessionEnd"].event), info).env["GEMINI_PROJECT_DIR"]
        == "/p"
    )


def test_a_model_is_told_of_as_text() -> None:
    messages = (
        {"role": "system", "content": "be good"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}],
        },
        {"role": "assistant", "content": "", "tool_calls": [{"name": "Bash"}]},
        {"role": "tool", "content": "result"},
        {"role": "assistant", "content": "done"},
    )
    request = document("BeforeModel", ModelRequest(model="m", messages=shown_messages(messages)))[
        "llm_request"
    ]
    assert request == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": "ab"},
            {"role": "model", "content": "done"},
        ],
        "config": {},
    }
    response = document("AfterModel", ModelResponse(response="done"))["llm_response"]
    assert (response["text"], response["candidates"][0]["content"]["parts"]) == ("done", ["done"])


def test_what_the_model_said_is_read_without_its_whole_text() -> None:
    parsed = GEMINI.wire.parse(
        {
            "hook_event_name": "AfterModel",
            "llm_request": {"model": "m", "messages": [{"role": "model", "content": "x"}]},
            "llm_response": {"candidates": [{"content": {"parts": ["a", "b"]}}]},
        }
    )
    assert (parsed.payload.response, parsed.payload.model) == ("ab", "m")
    asked = GEMINI.wire.parse(
        {"hook_event_name": "BeforeModel", "llm_request": {"messages": [{"role": "model", "content": "x"}]}}
    )
    assert asked.payload.messages == ({"role": "assistant", "content": "x"},)


def test_a_result_is_told_in_the_clients_shape() -> None:
    plain = document("AfterTool", ToolResult(tool_name="x", tool_response="out"))["tool_response"]
    assert plain == {"llmContent": "out", "returnDisplay": "out"}
    other = document("AfterTool", ToolResult(tool_name="x", tool_response={"stdout": "out"}))["tool_response"]
    assert json.loads(other["llmContent"]) == {"stdout": "out"}
    failed = document("AfterTool", ToolFailure(tool_name="x", error="gone"), POST_TOOL_USE_FAILURE)
    assert failed["tool_response"]["error"] == {"message": "gone"}
    assert GEMINI.wire.parse(failed).event is POST_TOOL_USE_FAILURE


def test_a_tool_of_a_server_is_told_with_its_server() -> None:
    call = ToolCall(tool_name="mcp_my_srv_run", mcp_server={"name": "my_srv"})
    said = document("BeforeTool", call)
    assert said["mcp_context"] == {"server_name": "my_srv", "tool_name": "run"}
    # A message about another server in an earlier call is not repeated.
    other = document("BeforeTool", call, extra={"mcp_context": {"server_name": "x", "command": "y"}})
    assert other["mcp_context"] == said["mcp_context"]
    assert GEMINI.wire.parse(said).payload.mcp_server == {"name": "my_srv"}


@every(
    ("wrong", "error"),
    [
        ({}, ConfigError),
        ({"hook_event_name": 5}, ConfigError),
        ({"hook_event_name": "BeforeTol"}, UnknownEventError),
        ({"hook_event_name": "PreToolUse"}, UnknownEventError),
        ({"hook_event_name": "BeforeTool"}, ConfigError),
        ({"hook_event_name": "BeforeTool", "tool_name": 5}, ConfigError),
        ({"hook_event_name": "BeforeTool", "tool_name": "x", "mcp_context": "y"}, ConfigError),
        ({"hook_event_name": "BeforeModel", "llm_request": []}, ConfigError),
        ({"hook_event_name": "BeforeModel", "llm_request": {"messages": "x"}}, ConfigError),
        ({"hook_event_name": "SessionEnd", "cwd": []}, ConfigError),
    ],
)
def test_a_payload_that_is_none_says_what_is_wrong(wrong: Mapping[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        GEMINI.wire.parse(wrong)


def test_the_event_before_a_tool_is_the_one_of_every_agent() -> None:
    assert GEMINI.events["BeforeTool"].event is PRE_TOOL_USE
    assert [one.event.name for one in GEMINI.recorded_events("AfterTool")] == [
        "PostToolUse",
        "PostToolUseFailure",
    ]
