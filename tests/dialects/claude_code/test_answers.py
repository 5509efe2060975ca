"""Test how answers are read where the recordings leave room: event by event, and for any bytes."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.dialects.claude_code.events import ROWS
from hookline.extending import Exited, Failed, Replied, Returned
from hookline.model.outcome import PASS
from tests.dialects.claude_code.calls import call, decision, exited, sample, specific, understood
from tests.every import every

BLOCKING = [name for name, row in ROWS.items() if row.exit_2_blocks]
OTHERS = [name for name, row in ROWS.items() if row.reads_answers and not row.exit_2_blocks]


@every("event_name", BLOCKING)
def test_exit_2_blocks_with_stderr(event_name: str) -> None:
    outcome = exited(event_name, stderr="no\n", code=2).outcome
    assert outcome.blocked
    assert outcome.reason == "no"


@every("event_name", OTHERS)
def test_where_nothing_can_be_blocked_exit_2_is_a_word_to_the_user(event_name: str) -> None:
    decoded = exited(event_name, stderr="no\n", code=2)
    assert not decoded.outcome.votes
    assert [message.text for message in decoded.outcome.messages] == ["no"]
    assert decoded.ignored == ("exit code 2",)


@pytest.mark.parametrize("event_name", ["InstructionsLoaded", "StopFailure"])
def test_where_nobody_listens_nothing_is_said(event_name: str) -> None:
    decoded = exited(event_name, {"systemMessage": "x", "continue": False})
    assert decoded.outcome == PASS
    assert decoded.failure is None


@every("event_name", list(ROWS))
def test_decision_block_counts_where_the_client_reads_it(event_name: str) -> None:
    decoded = exited(event_name, {"decision": "block", "reason": "why"})
    assert decoded.outcome.blocked == ROWS[event_name].decision
    if ROWS[event_name].reads_answers and event_name != "WorktreeCreate":
        assert ("decision" in decoded.ignored) != ROWS[event_name].decision


@every("event_name", [name for name in ROWS if ROWS[name].reads_answers])
def test_continue_and_system_message_count_where_the_client_reads_them(event_name: str) -> None:
    decoded = exited(event_name, {"continue": False, "stopReason": "stop", "systemMessage": "note"})
    reads = ROWS[event_name].reads
    assert decoded.outcome.stop == ("continue" in reads)
    said = [message.text for message in decoded.outcome.messages] + list(decoded.outcome.context)
    assert ("note" in said) == ("systemMessage" in reads)


def test_a_permission_request_is_answered_by_its_decision_only() -> None:
    allowed = specific(
        "PermissionRequest", decision={"behavior": "allow", "updatedInput": {"command": "ls"}}
    ).outcome
    assert allowed.permission == "allow"
    assert allowed.edits[0].value == {"command": "ls"}
    assert exited("PermissionRequest", {"decision": "approve"}).outcome.permission is None
    assert not exited("PermissionRequest", stderr="no", code=2).outcome.blocked
    assert specific("PermissionRequest", decision={"behavior": "ask"}).failure is not None


def test_values_that_hooks_supply() -> None:
    assert specific("Elicitation", action="decline").outcome.answer == {"action": "decline"}
    assert specific("MessageDisplay", displayContent="x").outcome.answer == "x"
    assert specific("PermissionDenied", retry=True).outcome.retry
    assert specific("CwdChanged", watchPaths=["/a"]).outcome.watch_paths == ("/a",)
    start = specific("SessionStart", initialUserMessage="go", watchPaths=["/b"], sessionTitle="t")
    assert (start.outcome.initial_user_message, start.outcome.watch_paths) == ("go", ("/b",))
    assert start.ignored == ("hookSpecificOutput.sessionTitle",)


def test_a_field_that_explains_an_ignored_one_is_not_named_beside_it() -> None:
    denied = specific("Stop", permissionDecision="deny", permissionDecisionReason="x")
    assert denied.ignored == ("hookSpecificOutput.permissionDecision",)
    answered = specific("Stop", action="accept", content={"a": "b"})
    assert answered.ignored == ("hookSpecificOutput.action",)


def test_a_worktree_is_the_last_line_and_any_failure_is_a_no() -> None:
    assert exited("WorktreeCreate", "making it\n\x1b[32m/srv/x\x1b[0m\n\n").outcome.answer == "/srv/x"
    assert exited("WorktreeCreate", "/srv/x", "broken", code=1).outcome.reason == "broken"
    assert exited("WorktreeCreate", "\n").failure is not None
    replied = {"hookSpecificOutput": {"hookEventName": "WorktreeCreate", "worktreePath": "/w"}}
    decoded = understood(call("WorktreeCreate", kind="http"), Replied(json.dumps(replied).encode(), 200))
    assert decoded.outcome.answer == "/w"


def test_a_result_is_replaced_by_one_of_its_shape() -> None:
    assert specific("PostToolUse", updatedToolOutput={"stdout": "x"}).outcome.edits[0].value == {
        "stdout": "x"
    }
    assert specific("PostToolUse", updatedToolOutput="x").outcome.edits == ()
    assert specific("PostToolUse", updatedMCPToolOutput={"a": 1}).outcome.edits == ()
    mcp = sample("PostToolUse", tool_name="mcp__hk__echo", tool_response=[])
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedMCPToolOutput": "x"}}
    decoded = understood(call("PostToolUse", mcp), Exited(0, json.dumps(answer).encode()))
    assert decoded.outcome.edits[0].value == "x"


def test_plain_text_is_context_at_four_events() -> None:
    heard = [name for name in ROWS if exited(name, "hello").outcome.context]
    assert heard == ["SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreCompact"]


@every(
    ("printed", "failed"),
    [
        ('\ufeff\r\n  {"systemMessage": "x"}\r\n', False),
        ('{"a": 1} {"b": 2}', True),
        ('{"hookSpecificOutput": null}', True),
        ('{"systemMessage": null}', True),
        ('{"continue": "false"}', True),
        ('{"hookSpecificOutput": {"hookEventName": "Nope"}}', True),
        ('{"hookSpecificOutput": {"hookEventName": "Stop"}}', True),
        ('{"suppressOutput": true, "extra": [1]}', False),
        ('"text"', False),
        ("{unfinished", False),
        ("{not json}", True),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, True),
    ],
)
def test_what_counts_as_an_answer(printed: str, failed: bool) -> None:
    decoded = exited("PreToolUse", printed)
    assert (decoded.failure is not None) == failed
    assert not decoded.outcome.votes


@pytest.mark.parametrize("code", [1, 3, 126, 127, 255])
def test_other_codes_are_failures_unless_the_answer_can_be_read(code: int) -> None:
    assert exited("PreToolUse", "text", code=code).failure is not None
    assert exited("PreToolUse", "{bad}", code=code).failure is not None
    assert specific("PreToolUse", permissionDecision="deny", code=code).outcome.blocked
    assert specific("PreToolUse", permissionDecision="deny", code=code).failure is None
    broke = exited("PreToolUse", code=code).failure
    assert broke is not None
    assert (broke.cause == "not_started") == (code in (126, 127))


def test_exit_2_blocks_whatever_stdout_holds() -> None:
    for printed in ("", "text", "{bad}", '{"decision": "maybe"}', '{"decision": "approve"}'):
        outcome = exited("PreToolUse", printed, "why", code=2).outcome
        assert outcome.permission == "deny"
        assert outcome.reason == "why"
    both = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="own", code=2)
    assert [vote.reason for vote in both.outcome.votes] == ["own"]


def test_a_block_that_is_a_failure_says_so_in_the_clients_words() -> None:
    failure = exited("PreToolUse", stderr="oh\n", code=1, on_failure="block").failure
    assert failure is not None
    assert failure.words == 'failed; blocking because onFailure is "block"\noh'
    late = understood(call("PreToolUse", on_failure="block"), Failed("timed_out", "no answer within 1 s"))
    assert late.failure is not None
    assert late.failure.words == 'timed out; blocking because onFailure is "block"'


@every(
    ("event_name", "blocked", "stopped"),
    [
        ("PreToolUse", True, True),
        ("PostToolUse", False, True),
        ("PostToolBatch", True, True),
        ("UserPromptSubmit", True, True),
        ("UserPromptExpansion", True, True),
        ("PostToolUseFailure", True, False),
        ("TaskCreated", True, False),
        ("TaskCompleted", True, False),
        ("Stop", True, False),
        ("SubagentStop", True, False),
        ("TeammateIdle", False, True),
        ("PermissionRequest", False, False),
        ("PermissionDenied", False, False),
    ],
)
def test_a_models_no_means_what_it_means_at_that_event(event_name: str, blocked: bool, stopped: bool) -> None:
    assert "prompt" in ROWS[event_name].kinds
    outcome = decision(event_name, ok=False, reason="no").outcome
    assert (outcome.blocked, outcome.stop) == (blocked, stopped)
    heard = event_name not in ("PermissionRequest", "PermissionDenied")
    for goes_on in (
        decision(event_name, goes_on=True, ok=False, reason="no"),
        decision(event_name, agent=True, ok=False, reason="no"),
    ):
        assert (goes_on.outcome.blocked, goes_on.outcome.stop) == (heard, False)
    assert decision(event_name, ok=True, reason="").outcome == PASS
    assert decision(event_name, reason="x").failure is not None


def test_what_is_said_to_be_impossible_ends_the_turn() -> None:
    assert decision("Stop", ok=False, reason="no", impossible=True).outcome == PASS


def test_a_hook_nobody_waits_for_says_two_texts_at_most() -> None:
    answer: dict[str, Any] = {
        "decision": "block",
        "continue": False,
        "systemMessage": 5,
        "hookSpecificOutput": {"hookEventName": "Other", "additionalContext": "text", "watchPaths": 1},
    }
    decoded = exited("PostToolUse", answer, waiting="async")
    assert decoded.outcome.context == ("text",)
    assert not decoded.outcome.votes
    assert not decoded.outcome.halts
    assert not exited("PostToolUse", "plain", "no", code=2, waiting="async").outcome.votes
    assert exited("SessionStart", "plain", waiting="async").outcome == PASS


def test_a_rewaking_hook_says_stdout_when_stderr_is_empty() -> None:
    assert exited("PostToolUse", "out", "", code=2, waiting="rewake").outcome.reason == "out"
    assert exited("PostToolUse", "out", "err", code=2, waiting="rewake").outcome.reason == "err"


def test_directories_added_by_the_user_are_explained_to_the_model() -> None:
    typed = sample("DirectoryAdded", source="slash_command")
    raw = Exited(0, b'{"systemMessage": "it is big"}')
    assert understood(call("DirectoryAdded", typed), raw).outcome.context == ("it is big",)
    assert understood(call("DirectoryAdded"), raw).outcome.context == ()


def test_what_a_function_returns_is_read_the_same() -> None:
    assert understood(call("PreToolUse"), Returned({"decision": "block"})).outcome.blocked
    assert understood(call("PreToolUse"), Returned(None)).outcome == PASS
    assert understood(call("PreToolUse"), Returned(5)).failure is not None
    assert understood(call("PreToolUse"), Returned({"decision": 5})).failure is not None


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_keys = st.sampled_from(
    ["continue", "decision", "reason", "systemMessage", "hookSpecificOutput", "async", "stopReason"]
)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(list(ROWS)),
    st.sampled_from([0, 1, 2]),
    st.binary(max_size=200) | st.dictionaries(_keys, _json).map(lambda value: json.dumps(value).encode()),
)
def test_whatever_is_printed_is_understood_or_a_failure(event_name: str, code: int, printed: bytes) -> None:
    for raw in (Exited(code, printed, b"e"), Replied(printed, 200), Replied(printed)):
        for kind in ("command", "http", "prompt", "mcp_tool"):
            understood(call(event_name, kind=kind), raw)
