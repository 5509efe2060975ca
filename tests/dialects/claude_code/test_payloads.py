"""Test payloads: every key the client was seen to send, and the variables beside it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError
from hookline.dialects.claude_code import dialect
from hookline.dialects.claude_code.events import ROWS
from hookline.dialects.claude_code.payload import OWN
from hookline.events import EventSpec, ModelMove, ShownMessage, ToolCall, TurnAnswer, TurnFailure
from hookline.extending import Encoded, HookInvocation, SessionInfo
from hookline.model.errors import UnknownEventError
from tests.dialects.claude_code.driver import RECORDED
from tests.every import every

PAYLOADS = sorted((RECORDED / "payloads").glob("*.json"))
CLAUDE = dialect(env={"HOME": "/home/user"})


def received(event_name: str, payload: Any, info: SessionInfo) -> Encoded:
    row = CLAUDE.events[event_name]
    event: EventSpec[Any] = row.event
    hook = CLAUDE.flag_hook(row, "true")
    return CLAUDE.wire.encode(HookInvocation(hook=hook, event=event, payload=payload, info=info, timeout=1.0))


def document(event_name: str, payload: Any, **info: Any) -> dict[str, Any]:
    return json.loads(received(event_name, payload, SessionInfo(session_id="s", cwd="/p", **info)).document)


@every("path", PAYLOADS)
def test_a_recorded_payload_read_and_told_again_is_the_same(path: Path) -> None:
    recorded: Mapping[str, Any] = json.loads(path.read_text())
    parsed = CLAUDE.wire.parse(recorded["payload"])
    encoded = received(recorded["event"], parsed.payload, parsed.info)
    assert json.loads(encoded.document) == recorded["payload"]
    assert encoded.document.endswith(b"}\n")
    assert encoded.document.count(b"\n") == 1


@every("path", PAYLOADS)
def test_the_variables_recorded_are_there(path: Path) -> None:
    recorded: Mapping[str, Any] = json.loads(path.read_text())
    parsed = CLAUDE.wire.parse(recorded["payload"])
    extra = {**(parsed.info.extra or {}), "env_file": "/tmp/env"}
    info = SessionInfo(**{name: getattr(parsed.info, name) for name in ("session_id", "cwd")}, extra=extra)
    env = received(recorded["event"], parsed.payload, info).env
    wanted = {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"}
    sometimes = {"CLAUDE_EFFORT", "CLAUDE_ENV_FILE"} & set(recorded["env_names"])
    assert wanted | sometimes <= set(env)
    assert ("CLAUDE_ENV_FILE" in env) == ("CLAUDE_ENV_FILE" in recorded["env_names"])
    assert ("CLAUDE_EFFORT" in env) == ("CLAUDE_EFFORT" in recorded["env_names"])


def test_every_event_has_its_keys() -> None:
    assert set(OWN) == set(ROWS)
    assert len(ROWS) == 33


def test_what_a_host_does_not_know_has_a_value_all_the_same() -> None:
    stop = document("Stop", TurnAnswer(last_assistant_message="done"))
    assert (stop["background_tasks"], stop["session_crons"], stop["stop_hook_active"]) == ([], [], False)
    switch = document("PreModelSwitch", ModelMove(from_model="a", to_model="b"))
    assert switch["cache_ttl"] == "5m"
    assert switch["requested_model"] is None
    assert document("MessageDisplay", ShownMessage(delta="x"))["turn_id"] == ""


def test_file_tools_are_told_with_an_absolute_path() -> None:
    call = ToolCall(tool_name="Write", tool_input={"file_path": "src/../a.txt", "content": "x"})
    assert document("PreToolUse", call)["tool_input"] == {"file_path": "/p/a.txt", "content": "x"}
    other = ToolCall(tool_name="Other", tool_input={"file_path": "a.txt"})
    assert document("PreToolUse", other)["tool_input"] == {"file_path": "a.txt"}


def test_the_reason_of_a_failure_is_told_in_the_clients_word() -> None:
    said = document("StopFailure", TurnFailure(error="auth_failed"))
    assert said["error"] == "authentication_failed"
    assert CLAUDE.wire.parse(said).payload.error == "auth_failed"
    assert document("StopFailure", TurnFailure(error="overloaded"))["error"] == "overloaded"


def test_the_permission_mode_is_told_in_a_turn_only() -> None:
    assert (
        document("PreToolUse", ToolCall(tool_name="X"), permission_mode="plan")["permission_mode"] == "plan"
    )
    assert "permission_mode" not in document("StopFailure", TurnFailure(), permission_mode="plan")


def test_bytes_that_are_no_text_are_told_as_escapes() -> None:
    encoded = received("PreToolUse", ToolCall(tool_name="X"), SessionInfo(cwd="/p/\udcff"))
    assert b"\\udcff" in encoded.document


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({}, ConfigError),
        ({"hook_event_name": 5}, ConfigError),
        ({"hook_event_name": "PreToolUze"}, UnknownEventError),
        ({"hook_event_name": "PreToolUse"}, ConfigError),
        ({"hook_event_name": "PreToolUse", "tool_name": 5}, ConfigError),
        ({"hook_event_name": "Stop", "cwd": []}, ConfigError),
    ],
)
def test_a_payload_that_is_none_says_what_is_wrong(wrong: Mapping[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        CLAUDE.wire.parse(wrong)
