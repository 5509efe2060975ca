"""Test the payload of each event, and the same read back."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookline import ConfigError
from hookline.dialects.docker_agent import dialect
from hookline.events import POST_TOOL_USE_FAILURE
from hookline.extending import HookInvocation, SessionInfo
from hookline.model import payloads as p
from hookline.model.errors import UnknownEventError
from tests.dialects.docker_agent.hooks import EXTRA, PAYLOADS, TOOL, a_call, command, fire, seen
from tests.every import every

#: What each event says beside session_id, cwd, hook_event_name and agent_name.
TOLD: dict[str, dict[str, Any]] = {
    "session_start": {"source": "resume"},
    "user_prompt_submit": {"prompt": "hello"},
    "user_steering_messages_submit": {"steering_messages": ["no, the other"]},
    "user_followup_submit": {"prompt": "and then"},
    "turn_start": {},
    "before_llm_call": {
        "model_id": "openai/gpt-5",
        "iteration": 3,
        "messages": [{"role": "user", "content": "hi"}],
    },
    "after_llm_call": {
        "model_id": "openai/gpt-5",
        "stop_response": "done",
        "usage": {"input_tokens": 7},
        "cost": 0.0,
    },
    "tool_input_transform": {
        "tool_name": "shell",
        "tool_use_id": "call_1",
        "tool_input": {"cmd": "ls", "cwd": "."},
    },
    "permission_request": {"tool_name": "shell", "tool_input": {"cmd": "ls"}},
    "on_tool_approval_decision": {
        "tool_name": "shell",
        "tool_input": {"cmd": "ls"},
        "approval_decision": "deny",
    },
    "tool_response_transform": {"tool_name": "shell", "tool_response": "secret"},
    "post_tool_use": {"tool_name": "shell", "tool_input": {"cmd": "ls"}, "tool_response": "a b"},
    "stop": {"stop_response": "bye"},
    "turn_end": {"reason": "canceled"},
    "subagent_stop": {"agent_name": "writer", "stop_response": "written"},
    "on_user_input": {},
    "notification": {"notification_level": "warning", "notification_message": "careful"},
    "on_error": {"notification_level": "error", "notification_message": "the model failed"},
    "on_max_iterations": {"notification_level": "warning", "notification_message": "20 calls"},
    "on_session_resume": {"previous_max_iterations": 20, "new_max_iterations": 40},
    "on_agent_switch": {"from_agent": "root", "to_agent": "writer", "agent_switch_kind": "handoff"},
    "pre_compact": {"source": "manual"},
    "before_compaction": {"input_tokens": 9000, "context_limit": 10000, "compaction_reason": "threshold"},
    "after_compaction": {"compaction_reason": "manual", "summary": "all done"},
    "worktree_create": {"worktree_branch": "feature", "worktree_source_dir": "/repo"},
    "session_end": {"reason": "logout"},
}
TOLD["tool_guard"] = TOLD["pre_tool_use"] = TOLD["tool_input_transform"]

INFO = SessionInfo(session_id="abc", cwd="/repo")


def received(event: str, payload: Any = None, info: SessionInfo = INFO) -> dict[str, Any]:
    call = a_call(event, payload)
    extra = {**(EXTRA.get(event) or {}), **(info.extra or {})}
    call.info = msgspec.structs.replace(info, extra=extra)
    return json.loads(call.hook.wire.encode(call).document)


@every("event", PAYLOADS)
def test_the_document_of(event: str):
    first = {"session_id": "abc", "cwd": "/repo", "hook_event_name": event, "agent_name": "root"}
    assert received(event) == first | TOLD[event]


def test_what_a_hook_reads_on_stdin(tmp_path: Path):
    fire("pre_tool_use", command("cat > seen.json"), cwd=str(tmp_path), session_id="abc", agent_type="writer")
    assert (tmp_path / "seen.json").read_text() == (
        f'{{"session_id":"abc","cwd":"{tmp_path}","hook_event_name":"pre_tool_use","agent_name":"writer",'
        '"tool_name":"shell","tool_use_id":"call_1","tool_input":{"cmd":"ls","cwd":"."}}'
    )


def test_the_directory_is_there_even_when_the_host_does_not_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    fire("stop", command("cat > seen.json"))
    assert seen(tmp_path)["cwd"] == str(tmp_path)


def test_a_call_that_cost_nothing_is_told_and_one_without_a_price_is_not():
    assert received("after_llm_call")["cost"] == 0
    assert "cost" not in received("after_llm_call", p.ModelResponse(response="x"))


def test_what_is_empty_is_not_told():
    assert received("pre_tool_use", p.ToolCall(tool_name="x")).keys() == {
        "session_id", "cwd", "hook_event_name", "agent_name", "tool_name",
    }  # fmt: skip


def test_what_the_host_knows_beyond_is_told_under_its_own_name():
    extra = {"last_user_message": "do it", "tool_read_only": True, "safety_policy": "strict", "nonsense": 1}
    document = received("pre_tool_use", info=msgspec.structs.replace(INFO, extra=extra))
    assert list(document)[4:] == [
        "last_user_message", "tool_name", "tool_use_id", "tool_input", "tool_read_only", "safety_policy",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("completed", "normal"),
        ("blocked", "hook_blocked"),
        ("failed", "error"),
        ("interrupted", "canceled"),
        ("max_iterations", "normal"),
    ],
)
def test_how_a_turn_ended(status: str, reason: str):
    assert received("turn_end", p.TurnSummary(status=status))["reason"] == reason


def test_a_mapping_is_a_payload_too():
    assert received("pre_tool_use", {"tool_name": "x", "tool_input": {"a": 1}})["tool_input"] == {"a": 1}


def test_a_directory_that_is_not_utf8_is_told_not_refused():
    document = received("stop", info=msgspec.structs.replace(INFO, cwd="/bad\udcff"))
    assert document["cwd"] == "/bad\udcff"


@every("event", PAYLOADS)
def test_a_document_read_back_is_the_same_moment(event: str):
    call = a_call(event)
    parsed = dialect().wire.parse(json.loads(call.hook.wire.encode(call).document))
    assert parsed.event is call.event
    again = HookInvocation(
        hook=call.hook, event=parsed.event, payload=parsed.payload, info=parsed.info, timeout=1
    )
    assert json.loads(again.hook.wire.encode(again).document) == json.loads(
        call.hook.wire.encode(call).document
    )
    condition = call.hook.condition
    assert condition is None or condition.holds(parsed.event, parsed.payload, parsed.info)


def test_a_failed_call_read_back_is_a_failure():
    parsed = dialect().wire.parse(
        {
            "hook_event_name": "post_tool_use",
            "tool_name": "shell",
            "tool_response": "boom",
            "tool_error": True,
            "agent_name": "writer",
            "session_id": "s",
            "last_user_message": "go",
        }
    )
    assert parsed.event is POST_TOOL_USE_FAILURE
    assert parsed.payload == p.ToolFailure(tool_name="shell", error="boom")
    assert (parsed.info.agent_type, parsed.info.session_id) == ("writer", "s")
    assert parsed.info.extra == {"last_user_message": "go"}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "hook_event_name is missing"),
        ({"hook_event_name": 1}, "hook_event_name is not text"),
        ({"hook_event_name": "pre_tool_use"}, "tool_name"),
        ({"hook_event_name": "pre_tool_use", "tool_name": 1}, "tool_name"),
        ({"hook_event_name": "stop", "cwd": 1}, "cwd is not text"),
        ({"hook_event_name": "on_tool_approval_decision", "approval_decision": "allow"}, "no event for"),
    ],
)
def test_a_document_that_is_none_says_why(document: dict[str, Any], says: str):
    with pytest.raises(ConfigError, match=says):
        dialect().wire.parse(document)


def test_an_unknown_event_says_the_nearest():
    with pytest.raises(UnknownEventError, match="did you mean 'pre_tool_use'"):
        dialect().wire.parse({"hook_event_name": "pre_tool_used"})


def test_the_callers_payload_is_never_changed():
    before = msgspec.json.encode(TOOL)
    received("pre_tool_use", TOOL)
    assert msgspec.json.encode(TOOL) == before
