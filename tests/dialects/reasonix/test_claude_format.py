"""Test entries in Claude's format: their payloads, and how their JSON is read."""

import json
from typing import Any

import pytest

from hookline.model import payloads as p
from tests.dialects.reasonix.hooks import agent_with_hook, message_texts
from tests.every import every


def claude(event: str, command: str, **fields: Any):
    return agent_with_hook(event, command, payloadFormat="claude", **fields)


def received(event: str, payload: Any) -> dict[str, Any]:
    agent = claude(event, "cat >&2; exit 1")
    agent.fire(event, payload)
    return json.loads(agent.runs[0].stderr)


BASE = {"session_id": "s", "transcript_path": "", "cwd": "/tmp"}


def test_a_file_tool_has_claudes_name_and_an_absolute_path():
    payload = p.ToolCall(
        tool_name="write_file", tool_input={"path": "a/b.txt", "content": "x"}, tool_use_id="t1"
    )
    assert received("PreToolUse", payload) == {
        **BASE,
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"content": "x", "file_path": "/tmp/a/b.txt"},
        "tool_use_id": "t1",
    }


def test_the_result_of_a_shell_is_wrapped():
    payload = p.ToolResult(tool_name="bash", tool_input={"command": "ls"}, tool_response="a")
    assert received("PostToolUse", payload)["tool_response"] == {
        "stdout": "a",
        "stderr": "",
        "interrupted": False,
    }


def test_a_tool_of_its_own_keeps_its_name():
    payload = p.ToolCall(tool_name="mcp__db__query", tool_input={"path": "x"})
    document = received("PreToolUse", payload)
    assert (document["tool_name"], document["tool_input"]) == ("mcp__db__query", {"path": "x"})


@pytest.mark.parametrize(
    ("event", "payload", "keys"),
    [
        ("UserPromptSubmit", p.Prompt(prompt="hi"), {"prompt": "hi"}),
        ("SessionStart", p.SessionStarted(source="resume"), {"source": "resume"}),
        ("PreCompact", p.Compaction(trigger="manual"), {"trigger": "manual"}),
        (
            "PostToolUseFailure",
            p.ToolFailure(tool_name="bash", error="gone"),
            {"tool_name": "Bash", "tool_input": {}, "error": "gone", "is_interrupt": False},
        ),
    ],
)
def test_the_keys_are_claudes(event: str, payload: Any, keys: dict[str, Any]):
    assert received(event, payload) == {**BASE, "hook_event_name": event, **keys}


CALL = p.ToolCall(tool_name="bash", tool_input={"command": "ls"})
ASKED = p.PermissionAsked(tool_name="bash", tool_input={"command": "ls"})
DENIES: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "PreToolUse",
        CALL,
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "no ls",
            }
        },
    ),
    (
        "PermissionRequest",
        ASKED,
        {
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": "no ls"},
            }
        },
    ),
    ("UserPromptSubmit", p.Prompt(prompt="ls"), {"decision": "block", "reason": "no ls"}),
]


@pytest.mark.parametrize(("event", "payload", "answer"), DENIES)
def test_json_that_denies_blocks(event: str, payload: Any, answer: dict[str, Any]):
    outcome = claude(event, f"echo '{json.dumps(answer)}'").fire(event, payload)
    assert (outcome.blocked, outcome.reason) == (True, "no ls")
    assert message_texts(outcome)[0].endswith("block: no ls")


@pytest.mark.parametrize(("event", "payload", "answer"), DENIES)
def test_the_same_json_of_a_hook_in_reasonix_own_format_says_nothing(
    event: str, payload: Any, answer: dict[str, Any]
):
    assert not agent_with_hook(event, f"echo '{json.dumps(answer)}'").fire(event, payload).blocked


def test_json_that_names_no_event_denies_as_well():
    answer = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no ls"}}
    outcome = claude("PreToolUse", f"echo '{json.dumps(answer)}'").fire("PreToolUse", CALL)
    assert (outcome.blocked, outcome.reason) == (True, "no ls")


def test_json_for_another_event_says_nothing():
    answer = json.dumps(DENIES[0][2]).replace("PreToolUse", "PostToolUse")
    agent = claude("PreToolUse", f"echo '{answer}'")
    assert not agent.fire("PreToolUse", CALL).blocked
    assert agent.runs[0].dropped == ("hookSpecificOutput of another event",)


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_exit_2_blocks_in_claudes_format(event: str):
    payload = {"PreToolUse": CALL, "PermissionRequest": ASKED}[event]
    outcome = claude(event, "echo no >&2; exit 2").fire(event, payload)
    assert (outcome.blocked, outcome.reason) == (True, "no")


def test_context_of_a_session_is_read_from_json_or_is_the_text():
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "the plan"}}
    payload = p.SessionStarted()
    assert claude("SessionStart", f"echo '{json.dumps(answer)}'").fire("SessionStart", payload).context == (
        "the plan",
    )
    assert claude("SessionStart", "echo plain").fire("SessionStart", payload).context == ("plain",)


@pytest.mark.parametrize("output", ["{broken", "[1]", '{"a": NaN}', "{" * 3, '{"hookSpecificOutput": 7}'])
def test_json_nobody_can_read_blocks_nothing(output: str):
    outcome = claude("PreToolUse", f"echo '{output}'").fire("PreToolUse", CALL)
    assert not outcome.blocked


def test_json_nested_without_end_is_survived():
    command = """python3 -c "print('{\\\\"a\\\\":' * 50000)" """
    assert not claude("PreToolUse", command).fire("PreToolUse", CALL).blocked


@every(
    ("match", "tool", "fits"),
    [
        ("Bash", "bash", True),
        ("bash", "bash", False),
        ("Ba", "bash", False),
        ("mcp__db__query", "mcp__db__query", True),
        ("Task", "task", True),
        ("Agent", "task", True),
        ("Edit|Write", "write_file", True),
        ("Read", "bash", False),
    ],
)
def test_a_match_uses_claudes_names(match: str, tool: str, fits: bool):
    (hook,) = claude("PreToolUse", "x", match=match).reading.hooks
    assert hook.matcher is not None
    assert (hook.matcher.text, hook.matcher.matches(tool)) == (match, fits)
    (own,) = agent_with_hook("PreToolUse", "x", match="Bash").reading.hooks
    assert own.matcher is not None
    assert not own.matcher.matches("bash")
