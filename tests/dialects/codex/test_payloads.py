"""Test what a hook of Codex gets at each event, and Codex's own payloads there and back."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError
from hookline.dialects.codex import dialect
from hookline.extending import HookInvocation, SessionInfo
from hookline.model import payloads as p
from hookline.model.errors import UnknownEventError
from tests.dialects.codex.hooks import agent_with, entry
from tests.every import every

RECORDED = sorted((Path(__file__).parent / "recorded/payloads").glob("*.json"))


def encoded(event: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    (hook,) = agent_with(event, entry()).reading.hooks
    call = HookInvocation(hook=hook, event=hook.event, payload=payload, info=info, timeout=1)
    assert hook.wire.encode(call).env == {}
    return json.loads(hook.wire.encode(call).document)


@every("file", RECORDED)
def test_a_recorded_payload_comes_back_equal_and_in_order(file: Path) -> None:
    received = json.loads(file.read_text())["payload"]
    parsed = dialect().wire.parse(received)
    back = encoded(received["hook_event_name"], parsed.payload, parsed.info)
    assert back == received
    assert list(back) == list(received)


def test_every_event_was_recorded() -> None:
    assert {file.stem.partition(".")[0] for file in RECORDED} == set(dialect().events)


def test_what_is_not_known_is_sent_as_codex_sends_it() -> None:
    received = encoded(
        "PreToolUse", p.ToolCall(tool_name="Bash"), SessionInfo(permission_mode="acceptEdits", turn=3)
    )
    assert received == {
        "session_id": "", "turn_id": "3", "transcript_path": None, "cwd": "", "hook_event_name": "PreToolUse",
        "model": "", "permission_mode": "default", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "",
    }  # fmt: skip
    assert encoded("Stop", p.TurnAnswer(), SessionInfo())["last_assistant_message"] is None


def test_an_agent_says_which_it_is() -> None:
    info = SessionInfo(agent_id="a-1")
    received = encoded("PostToolUse", p.ToolResult(tool_name="Bash", tool_response=""), info)
    assert (received["agent_id"], received["agent_type"], received["tool_response"]) == ("a-1", "default", "")
    assert "agent_id" not in encoded("SessionEnd", p.SessionEnded(), info)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "hook_event_name is missing"),
        ({"hook_event_name": "PreToolUse"}, "tool_name"),
        ({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": "ls"}, "tool_input"),
        ({"hook_event_name": "Stop", "cwd": 7}, "cwd is not text"),
    ],
)
def test_a_payload_that_cannot_be_read_says_why(document: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as problem:
        dialect().wire.parse(document)
    assert words in str(problem.value)


def test_an_event_of_another_agent_is_not_known() -> None:
    with pytest.raises(UnknownEventError):
        dialect().wire.parse({"hook_event_name": "Notification"})
