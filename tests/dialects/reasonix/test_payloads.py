"""Test what is on stdin at each event, to the byte, and read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError
from hookline.dialects.reasonix import dialect
from hookline.extending import HookInvocation, SessionInfo
from hookline.model import payloads as p
from hookline.model.errors import UnknownEventError
from hookline.model.messages import HostMessage, usage_of
from tests.dialects.reasonix.hooks import PAYLOADS, agent_with_hook
from tests.every import every

RECORDED = sorted((Path(__file__).parent / "recorded/payloads").glob("*.json"))
CALL = {"toolName": "bash", "toolArgs": {"command": "ls"}}
#: The keys after `event` and `cwd`.
DOCUMENTS: dict[str, dict[str, Any]] = {
    "SessionStart": {"sessionName": "shop", "source": "startup"},
    "TurnStart": {"turn": 4},
    "PreToolUse": CALL,
    "PostToolUse": {**CALL, "toolResult": "a\nb"},
    "UserPromptSubmit": {"prompt": "fix it", "turn": 4},
    "PreModelCall": {
        "turn": 4,
        "model": "deepseek-chat",
        "modelMessages": [{"role": "user", "content": "hi"}],
    },
    "PostModelCall": {
        "turn": 4,
        "modelResponse": {"role": "assistant", "content": "done", "reasoning_content": "because"},
        "usage": {"promptTokens": 100, "completionTokens": 20, "cacheHitTokens": 60, "cacheMissTokens": 40},
    },
    "TurnEnd": {"turn": 4, "lastAssistantText": "all done", "last_assistant_message": "all done"},
    "Stop": {"lastAssistantText": "all done", "turn": 4},
    "SessionEnd": {"sessionName": "s", "sessionDurationMs": 9000, "totalCostUsd": 0.25, "reason": "other"},
    "PostToolUseFailure": {**CALL, "error": "gone"},
    "PermissionRequest": CALL,
    "StopFailure": {"turn": 4, "error": "rate_limit", "message": "slow down"},
    "PostLLMCall": {"turn": 4, "reasoning": "because", "lastAssistantText": "done"},
    "SubagentStop": {"lastAssistantText": "found it", "subject": "explore"},
    "Notification": {"message": "waiting", "notificationType": "idle_prompt"},
    "PreCompact": {"trigger": "auto"},
}


def encoded(event: str, payload: Any, info: SessionInfo | None = None) -> bytes:
    (hook, *_) = agent_with_hook(event, "x").reading.hooks
    info = info or SessionInfo(session_id="s", cwd="/tmp", turn=4)
    call = HookInvocation(hook=hook, event=hook.event, payload=payload, info=info, timeout=1)
    return hook.wire.encode(call).document


@every("event", PAYLOADS)
def test_a_hook_gets_the_keys_of_its_event_in_order(event: str):
    received = json.loads(encoded(event, PAYLOADS[event]))
    first = [("event", event), ("sessionId", "s"), ("cwd", "/tmp")]
    assert list(received.items()) == [*first, *DOCUMENTS[event].items()]


@every("file", RECORDED)
def test_a_payload_of_the_released_agent_comes_back_equal(file: Path):
    received = json.loads(file.read_text())
    parsed = dialect().wire.parse(received)
    assert json.loads(encoded(received["event"], parsed.payload, parsed.info)) == received


def test_the_error_of_a_failed_call_is_told_after_it():
    failed = p.ToolFailure(tool_name="bash", tool_input={"command": "ls"}, error="gone")
    agent = agent_with_hook("PostToolUse", "cat >&2; exit 1")
    agent.fire("PostToolUseFailure", failed)
    received = json.loads(agent.runs[0].stderr)
    # The result is the error, as it was said first; and so is the key that the released agent has for it.
    assert (received["toolResult"], received["error"]) == ("gone", "gone")


@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit"])
def test_stdin_is_one_line_of_json(event: str):
    payload = {"PreToolUse": p.ToolCall(tool_name="x", tool_input={"text": "a\nb é"})}.get(
        event, p.Prompt(prompt="one\ntwo\u2028é")
    )
    agent = agent_with_hook(event, "cat >&2; exit 1")
    agent.fire(event, payload)
    text = agent.runs[0].stderr
    assert text.count("\n") == 1
    assert text.endswith("}\n")
    assert json.loads(text)["event"] == event
    assert "é" in text  # as it is, not as an escape


def test_a_hook_gets_no_variables():
    (hook, *_) = agent_with_hook("Stop", "x").reading.hooks
    call = HookInvocation(
        hook=hook, event=hook.event, payload=PAYLOADS["Stop"], info=SessionInfo(), timeout=1
    )
    assert hook.wire.encode(call).env == {}


def test_the_end_of_a_turn_tells_its_text_under_both_keys():
    agent = agent_with_hook("TurnEnd", "cat >&2; exit 1")
    agent.fire("TurnEnd", p.TurnAnswer(last_assistant_message="the end"))
    received = json.loads(agent.runs[0].stderr)
    assert received["lastAssistantText"] == received["last_assistant_message"] == "the end"


@pytest.mark.parametrize(
    ("response", "text"), [("plain", "plain"), ({"a": [1]}, '{"a":[1]}'), (None, ""), (7, "7"), ("", "")]
)
def test_a_result_is_always_text(response: Any, text: str):
    received = json.loads(encoded("PostToolUse", p.ToolResult(tool_name="x", tool_response=response)))
    assert received["toolResult"] == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hi", "hi"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "a\nb"),
        ({"k": 1}, '{"k":1}'),
    ],
)
def test_the_content_of_a_message_is_always_text(content: Any, text: str):
    request = p.ModelRequest(messages=(HostMessage(role="user", content=content),))
    assert json.loads(encoded("PreModelCall", request))["modelMessages"] == [
        {"role": "user", "content": text}
    ]


def test_tokens_are_counted_under_the_agents_names():
    usage = {"prompt_tokens": 5, "completion_tokens": 6, "prompt_cache_hit_tokens": 2, "cacheMissTokens": 3}
    received = json.loads(encoded("PostModelCall", p.ModelResponse(usage=usage_of(usage))))
    assert received["usage"] == {
        "promptTokens": 5,
        "completionTokens": 6,
        "cacheHitTokens": 2,
        "cacheMissTokens": 3,
    }
    assert "usage" not in json.loads(encoded("PostModelCall", p.ModelResponse()))


def test_a_name_that_is_not_utf8_is_told_as_an_escape():
    text = encoded("Stop", PAYLOADS["Stop"], SessionInfo(cwd="/tmp/\udcff"))
    assert b"\\udcff" in text
    assert json.loads(text)["cwd"] == "/tmp/\udcff"


@every("event", PAYLOADS)
def test_a_document_read_back_says_the_same(event: str):
    own = dialect()
    document = json.loads(encoded(event, PAYLOADS[event]))
    parsed = own.wire.parse(document)
    assert parsed.event is own.events[event].event
    assert parsed.info.cwd == "/tmp"
    assert json.loads(encoded(event, parsed.payload, parsed.info)) == document


def test_the_end_of_a_turn_is_read_from_either_key():
    for key in ("lastAssistantText", "last_assistant_message"):
        parsed = dialect().wire.parse({"event": "TurnEnd", "cwd": "/", key: "x", "turn": 2})
        assert parsed.payload == p.TurnAnswer(last_assistant_message="x", turn=2)


def test_arguments_that_were_no_json_arrive_as_text():
    parsed = dialect().wire.parse({"event": "PreToolUse", "toolName": "bash", "toolArgs": "{broken"})
    assert parsed.payload.tool_input == {"raw": "{broken"}


@every(
    ("document", "says"),
    [
        ({}, "event is missing"),
        ({"event": 7}, "event is not text"),
        ({"event": "PreToolUse"}, "toolName is missing"),
        ({"event": "PreToolUse", "toolName": 7}, "toolName is a number, not text"),
        ({"event": "TurnStart", "turn": "x"}, "turn is text, not a whole number"),
        ({"event": "UserPromptSubmit"}, "prompt is missing"),
        ({"event": "UserPromptSubmit", "prompt": "x", "cwd": 1}, "cwd is not text"),
        ({"event": "PreModelCall", "modelMessages": "x"}, "modelMessages is text, not a list of objects"),
        ({"event": "PostModelCall", "modelResponse": {"content": 7}}, "PostModelCall"),
    ],
)
def test_a_document_that_is_wrong_is_named(document: dict[str, Any], says: str):
    with pytest.raises(ConfigError, match=says):
        dialect().wire.parse(document)


def test_an_event_nobody_knows_is_named_with_the_nearest():
    with pytest.raises(UnknownEventError, match="did you mean 'TurnEnd'"):
        dialect().wire.parse({"event": "turnEnd"})
