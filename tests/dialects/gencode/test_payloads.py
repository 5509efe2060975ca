import json
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError
from hookline.dialects.gencode import dialect
from hookline.dialects.gencode.events import ROWS
from hookline.extending import HookInvocation, SessionInfo
from hookline.model import payloads as p
from hookline.model.errors import UnknownEventError
from tests.dialects.gencode.hooks import PAYLOADS, agent_with, agent_with_hooks, bash
from tests.every import every

INFO: dict[str, Any] = {
    "transcript_path": "/t.jsonl",
    "permission_mode": "plan",
    "project_dir": "/",
    "agent_id": "a7",
    "agent_type": "helper",
}

SENT: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "resume", "model": "big"},
    "SessionEnd": {"reason": "logout"},
    "Setup": {"trigger": "maintenance"},
    "UserPromptSubmit": {"prompt": "hello"},
    "PreToolUse": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
        "agent_id": "a7",
        "agent_type": "helper",
    },
    "PermissionRequest": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "permission_suggestions": [{"type": "addRules"}],
    },
    "PermissionDenied": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
        "reason": "no",
    },
    "PostToolUse": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
        "tool_response": {"stdout": "x"},
    },
    "PostToolUseFailure": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
        "error": "E",
        "is_interrupt": True,
    },
    "Stop": {"last_assistant_message": "done", "stop_hook_active": True},
    "StopFailure": {"last_assistant_message": "half", "error": "server"},
    "Notification": {"message": "m", "title": "t", "notification_type": "idle_prompt"},
    "SubagentStart": {"agent_type": "explore", "agent_id": "a1", "description": "looks"},
    "SubagentStop": {
        "agent_type": "explore",
        "agent_id": "a1",
        "agent_transcript_path": "/t.jsonl",
        "last_assistant_message": "found",
        "stop_hook_active": True,
    },
    "TaskCreated": {"task_id": "1", "task_subject": "s", "task_description": "d"},
    "TaskCompleted": {"task_id": "1", "task_subject": "s", "task_description": "d"},
    "ConfigChange": {"source": "user_settings", "file_path": "/f"},
    "InstructionsLoaded": {"file_path": "/f", "memory_type": "User", "load_reason": "include"},
    "CwdChanged": {"old_cwd": "/a", "new_cwd": "/b"},
    "FileChanged": {"file_path": "/src/a.py", "event": "unlink"},
    "PreCompact": {"trigger": "manual", "custom_instructions": "the API"},
    "PostCompact": {"trigger": "manual"},
    "WorktreeCreate": {"name": "fix-1"},
    "WorktreeRemove": {"worktree_path": "/w/fix-1"},
}


def received(event: str, payload: Any, **info: Any) -> dict[str, Any]:
    return json.loads(encoded(event, payload, **info).document)


def encoded(event: str, payload: Any, **info: Any) -> Any:
    mine = dialect()
    hook = mine.flag_hook(mine.events[event], "true")
    return mine.wire.encode(
        HookInvocation(hook=hook, event=hook.event, payload=payload, info=SessionInfo(**info), timeout=1)
    )


def test_all_events_are_here() -> None:
    assert set(SENT) == set(PAYLOADS) == set(ROWS)
    assert len(ROWS) == 24


@pytest.mark.parametrize("event", SENT)
def test_stdin_is_this_document_without_a_newline(event: str, tmp_path: Path) -> None:
    seen = tmp_path / "stdin"
    agent = agent_with_hooks(event, f"cat > {seen}", cwd=str(tmp_path), **INFO)
    agent.fire(event, PAYLOADS[event])
    text = seen.read_text()
    assert json.loads(text) == {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": str(tmp_path),
        "hook_event_name": event,
        "permission_mode": "plan",
        **SENT[event],
    }
    assert text == text.strip()


@every("event", SENT)
def test_permission_mode_is_there_at_every_event(event: str) -> None:
    assert received(event, PAYLOADS[event])["permission_mode"] == "default"


def test_what_is_empty_is_not_sent_but_the_common_keys_are() -> None:
    common = {"session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode"}
    assert set(received("PreToolUse", p.ToolCall(tool_name="Bash"))) == {*common, "tool_name"}
    assert set(received("Stop", p.TurnAnswer())) == common
    assert received("PostToolUse", p.ToolResult(tool_name="Bash", tool_response=""))["tool_response"] == ""


def test_a_mapping_will_do_as_a_payload() -> None:
    assert received("PreToolUse", {"tool_name": "Bash", "tool_input": {"a": 1}})["tool_input"] == {"a": 1}


def test_text_that_is_not_unicode_is_told_as_an_escape() -> None:
    assert received("CwdChanged", p.CwdMove(old_cwd="/a", new_cwd="/b\udcff"))["new_cwd"] == "/b\udcff"


def test_the_environment_has_each_name_twice(tmp_path: Path) -> None:
    seen = tmp_path / "env"
    agent = agent_with_hooks("PreToolUse", f"env > {seen}", cwd=str(tmp_path), project_dir="/project")
    agent.fire("PreToolUse", bash("ls"))
    variables = dict(line.split("=", 1) for line in seen.read_text().splitlines() if "=" in line)
    wanted = {"PROJECT_DIR": "/project", "SESSION_ID": "s", "EVENT_TYPE": "PreToolUse", "TOOL_NAME": "Bash"}
    for prefix in ("GEN_", "CLAUDE_"):
        assert {name: variables[f"{prefix}{name}"] for name in wanted} == wanted


def test_the_environment_is_inherited_and_names_a_tool_only_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "of the user")
    seen = tmp_path / "env"
    agent_with_hooks("Stop", f"env > {seen}", cwd=str(tmp_path)).fire("Stop", PAYLOADS["Stop"])
    text = seen.read_text()
    assert "MY_TOKEN=of the user" in text
    assert f"GEN_PROJECT_DIR={tmp_path}" in text
    assert "TOOL_NAME" not in text


def test_a_tool_name_cannot_keep_a_guard_from_starting() -> None:
    agent = agent_with_hooks("PreToolUse", "exit 2")
    assert agent.fire("PreToolUse", p.ToolCall(tool_name="Ba\0sh")).blocked


@every("event", SENT)
def test_a_document_read_back_is_the_same_document(event: str) -> None:
    document = {
        "session_id": "s",
        "cwd": "/c",
        "permission_mode": "plan",
        "hook_event_name": event,
        **SENT[event],
    }
    parsed = dialect().wire.parse({"transcript_path": "/t", **document})
    assert parsed.event.name == event
    again = json.loads(encoded(event, parsed.payload, **_info(parsed.info)).document)
    assert again == {"transcript_path": "/t", **document}


def _info(info: SessionInfo) -> dict[str, Any]:
    return {name: getattr(info, name) for name in info.__struct_fields__}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "hook_event_name is missing"),
        ({"hook_event_name": 1}, "hook_event_name is not text"),
        ({"hook_event_name": "PreToolUse"}, "tool_name"),
        ({"hook_event_name": "PreToolUse", "tool_name": 1}, "tool_name"),
        ({"hook_event_name": "Stop", "cwd": 1}, "cwd is not text"),
    ],
)
def test_a_document_that_is_no_payload_says_why(document: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        dialect().wire.parse(document)


def test_an_unknown_event_in_a_document_says_the_nearest() -> None:
    with pytest.raises(UnknownEventError, match="PreToolUse"):
        dialect().wire.parse({"hook_event_name": "PreTool"})


def test_null_is_nothing() -> None:
    parsed = dialect().wire.parse({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": None})
    assert parsed.payload == p.ToolCall(tool_name="Bash")


def test_the_hook_knows_its_file_and_line() -> None:
    agent = agent_with(
        '{\n "hooks": {\n  "Stop": [\n   {"hooks": [\n    {"command": "a"},\n    {"command": "b"}]}]}}'
    )
    assert [str(hook.where) for hook in agent.reading.hooks] == [
        ".gen/settings.json:5",
        ".gen/settings.json:6",
    ]
