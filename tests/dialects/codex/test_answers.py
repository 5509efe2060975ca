"""Test what Codex accepts of a hook's answer, event by event: one word too many, and it accepts nothing."""

import json
from typing import Any

from hookline import Outcome
from hookline.extending import Run
from hookline.model import payloads as p
from tests.dialects.codex.hooks import agent_with, entry
from tests.dialects.hooked_agent import HookedAgent
from tests.every import every

PAYLOADS = {
    "PreToolUse": p.ToolCall(tool_name="Bash", tool_input={"command": "ls"}),
    "PermissionRequest": p.PermissionAsked(tool_name="Bash", tool_input={"command": "ls"}),
    "PostToolUse": p.ToolResult(tool_name="Bash", tool_input={"command": "ls"}, tool_response="a"),
    "PreCompact": p.Compaction(),
    "PostCompact": p.Compacted(),
    "SessionStart": p.SessionStarted(),
    "UserPromptSubmit": p.Prompt(prompt="hi"),
    "SubagentStart": p.SubagentBegun(agent_id="a"),
    "SubagentStop": p.SubagentEnded(agent_id="a"),
    "Stop": p.TurnAnswer(),
    "SessionEnd": p.SessionEnded(),
}


def said(event: str, command: str, **more: Any) -> tuple[Outcome, Run, HookedAgent]:
    agent = agent_with(event, entry(command, **more))
    outcome = agent.fire(event, PAYLOADS[event])
    return outcome, agent.runs[-1], agent


def answered(event: str, answer: dict[str, Any]) -> tuple[Outcome, Run]:
    outcome, run, _ = said(event, f"printf '%s' '{json.dumps(answer)}'")
    return outcome, run


def specific(event: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


ALLOWED = specific(permissionDecision="allow", updatedInput={"command": "pwd"})


@every(
    ("event", "answer", "words"),
    [
        ("PreToolUse", specific(permissionDecision="ask"), "permissionDecision: ask"),
        ("PreToolUse", specific(permissionDecision="allow"), "an allow without updatedInput"),
        ("PreToolUse", specific(updatedInput={"command": "x"}), "updatedInput without an allow"),
        ("PreToolUse", specific(permissionDecision="deny"), "a block needs a reason"),
        ("PreToolUse", specific(permissionDecisionReason="x"), "permissionDecisionReason alone"),
        ("PreToolUse", {"decision": "approve"}, "decision: approve"),
        ("PreToolUse", {"decision": "block", "reason": " "}, "a block needs a reason"),
        ("PreToolUse", {"reason": "x"}, "a reason without a decision"),
        ("PreToolUse", {"continue": False}, "continue: false"),
        ("PreToolUse", {"stopReason": "x"}, "stopReason"),
        ("PreToolUse", {"suppressOutput": True}, "suppressOutput"),
        ("PreToolUse", {"hookSpecificOutput": {"permissionDecision": "deny"}}, "hookEventName is missing"),
        ("PreToolUse", specific("Notification", additionalContext="x"), "hookEventName is 'Notification'"),
        ("PreToolUse", {"version": 1}, "does not have the field version"),
        ("PreToolUse", specific(retry=True), "does not have the field hookSpecificOutput.retry"),
        ("PermissionRequest", {"continue": False}, "continue: false"),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {"command": "x"}}),
            "decision.updatedInput",
        ),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": "deny", "interrupt": True}),
            "decision.interrupt",
        ),
        ("PermissionRequest", specific("PermissionRequest", decision={}), "behavior is missing"),
        ("PermissionRequest", {"decision": "block", "reason": "x"}, "does not have the field decision"),
        ("PostToolUse", {"reason": "x"}, "a reason without a decision"),
        ("PostToolUse", specific("PostToolUse", updatedMCPToolOutput={}), "updatedMCPToolOutput"),
        ("Stop", {"decision": "block"}, "a block needs a reason"),
        ("Stop", specific("Stop", additionalContext="x"), "does not have the field hookSpecificOutput"),
        ("PreCompact", {"decision": "block", "reason": "x"}, "does not have the field decision"),
        ("UserPromptSubmit", {"decision": "approve"}, "decision is 'approve'"),
    ],
)  # fmt: skip
def test_what_codex_does_not_take_is_a_failure_and_the_agent_goes_on(
    event: str, answer: dict[str, Any], words: str
) -> None:
    outcome, run = answered(event, answer)
    assert (outcome.votes, outcome.edits, outcome.context) == ((), (), ())
    assert (run.status, run.failed_open) == ("failed", True)
    assert words in (run.detail or "")


def test_a_rewrite_goes_with_an_allow_and_approves_nothing() -> None:
    outcome, run = answered("PreToolUse", ALLOWED)
    assert (outcome.updated_input, outcome.permission, run.dropped) == ({"command": "pwd"}, None, ())


def test_the_specific_decision_counts_before_the_older_one() -> None:
    outcome, _ = answered("PreToolUse", {"decision": "block", "reason": "old", **ALLOWED})
    assert (outcome.blocked, outcome.updated_input) == (False, {"command": "pwd"})


def test_permission_is_granted_or_refused() -> None:
    allow = specific("PermissionRequest", decision={"behavior": "allow"})
    deny = specific("PermissionRequest", decision={"behavior": "deny"})
    assert answered("PermissionRequest", allow)[0].permission == "allow"
    assert answered("PermissionRequest", deny)[0].reason == "PermissionRequest hook denied approval"


def test_to_stop_means_something_else_from_event_to_event() -> None:
    stop = {"continue": False, "stopReason": "enough"}
    assert answered("PostToolUse", stop)[0].reason == "enough"
    assert answered("PreCompact", stop)[0].reason == "enough"
    prompt = answered("UserPromptSubmit", stop)[0]
    assert (prompt.stop_reason, prompt.reason) == ("enough", "enough")
    end = answered("Stop", {**stop, "decision": "block", "reason": "go on"})[0]
    assert (end.stop_reason, end.blocked) == ("enough", False)
    for event in ("SessionStart", "PostCompact"):
        outcome, run = answered(event, stop)
        assert (outcome.stop, run.dropped) == (False, ("continue",))


def test_messages_are_for_the_user() -> None:
    for event in set(PAYLOADS) - {"SessionEnd"}:
        outcome, _ = answered(event, {"systemMessage": "psst"})
        assert [message.text for message in outcome.messages] == ["psst"], event


@every(
    ("event", "status"),
    [(event, "failed" if event in ("PreCompact", "PostCompact", "SessionStart", "SubagentStart", "SessionEnd")
      else "blocked") for event in PAYLOADS],
)  # fmt: skip
def test_exit_2_blocks_where_codex_has_something_to_block(event: str, status: str) -> None:
    outcome, run, _ = said(event, "echo no >&2; echo '{}'; exit 2")
    assert (run.status, outcome.blocked) == (status, status == "blocked")
    silent, run, _ = said(event, "exit 2")
    assert (run.status, silent.blocked) == ("failed", False)


@every("event", PAYLOADS)
def test_plain_text_is_context_a_failure_or_nothing(event: str) -> None:
    outcome, run, _ = said(event, "echo hello")
    context = event in ("SessionStart", "UserPromptSubmit", "SubagentStart")
    assert outcome.context == (("hello",) if context else ())
    assert run.status == ("failed" if event in ("Stop", "SubagentStop") else "ok")


def test_what_looks_like_json_and_is_none_is_a_failure() -> None:
    for text in ("{bad", "[1]", "[]"):
        outcome, run, _ = said("UserPromptSubmit", f"echo '{text}'")
        assert (outcome.context, run.status, run.cause) == ((), "failed", "unreadable")


def test_text_beyond_the_limit_is_cut_in_the_middle() -> None:
    outcome, run, _ = said("UserPromptSubmit", "printf 'a%.0s' $(seq 100)", additionalContextLimit=10)
    assert outcome.context == ("a" * 20 + "…15 tokens truncated…" + "a" * 20,)
    assert run.dropped == ("text beyond 10 tokens",)
    usual, run, _ = said("UserPromptSubmit", "printf 'a%.0s' $(seq 10000)")
    assert (len(usual.context[0]), run.dropped) == (10000, ())


def test_text_of_an_async_hook_arrives_later_and_it_stops_nothing() -> None:
    answer = json.dumps(specific(additionalContext="late"))
    outcome, _, agent = said("PreToolUse", f"printf '%s' '{answer}'", **{"async": True})
    assert (outcome.context, [each.text for each in agent.late]) == ((), ["late"])
    outcome, _, agent = said("PreToolUse", "echo no >&2; exit 2", **{"async": True})
    assert (outcome.blocked, agent.late) == (False, [])
