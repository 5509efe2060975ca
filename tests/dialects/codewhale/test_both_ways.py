"""Test the other side: a payload of CodeWhale read back, and an outcome in its format read again."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import ConfigError, Outcome
from hookline.dialects.codewhale import dialect
from hookline.dialects.codewhale.events import ROWS
from hookline.events import (
    ModeMove,
    RunError,
    SessionEnded,
    SessionStarted,
    ShellStart,
    SubagentBegun,
    SubagentEnded,
    TurnSummary,
)
from hookline.extending import Decoded, Encoded, Exited, Failed, HookInvocation, Returned, SessionInfo
from hookline.model.errors import UnknownEventError
from hookline.model.messages import Totals
from hookline.model.outcome import Answer, ContextItem, Halt, Message, PermissionUpdate, Rewrite, Vote
from tests.dialects.codewhale.hooks import HELLO, bash, failed, succeeded
from tests.every import every

WHALE = dialect()
INFO = SessionInfo(session_id="sess_1", cwd="/w", project_dir="/w", model="m", permission_mode="plan")


def call(event_name: str, payload: Any, event: str | None = None) -> HookInvocation:
    hook = WHALE.flag_hook(WHALE.events[event_name], "true")
    events = {row.name: row for one in ROWS for row in one.events}
    return HookInvocation(
        hook=hook, event=events[event] if event else hook.event, payload=payload, info=INFO, timeout=1
    )


def document(event_name: str, encoded: Encoded) -> dict[str, Any]:
    if encoded.document:
        return json.loads(encoded.document)
    return {"event": event_name, **encoded.env}


PAYLOADS = [
    ("session_start", "SessionStart", SessionStarted(model="m")),
    ("session_end", "SessionEnd", SessionEnded(cost_usd=0.25)),
    ("message_submit", "UserPromptSubmit", HELLO),
    ("tool_call_before", "PreToolUse", bash("rm -rf /", tool_use_id="c1")),
    ("tool_call_after", "PostToolUse", succeeded("fine", tool_use_id="c1")),
    ("tool_call_after", "PostToolUseFailure", failed("boo", exit_code=2)),
    ("mode_change", "ModeChanged", ModeMove(old_mode="agent", new_mode="plan")),
    ("on_error", "Error", RunError(message="boo")),
    ("on_error", "PostToolUseFailure", failed("boo", exit_code=2)),
    ("turn_end", "TurnSettled", TurnSummary(status="failed", error="x", turn_id="t", tool_count=3)),
    ("subagent_spawn", "SubagentStart", SubagentBegun(agent_id="a", prompt="look")),
    ("subagent_complete", "SubagentStop", SubagentEnded(agent_id="a", last_assistant_message="y")),
    ("shell_env", "ShellEnv", ShellStart(tool_name="bash", command="ls", tool_input={"command": "ls"})),
]
#: Fields that CodeWhale does not send at an event, so no reader can get them back.
UNTOLD = {"tool_call_after": ("tool_input",), "on_error": ("tool_input",), "turn_end": ("usage", "totals")}


@every(("event_name", "event", "payload"), PAYLOADS)
def test_a_payload_is_read_back(event_name: str, event: str, payload: Any) -> None:
    parsed = WHALE.wire.parse(document(event_name, WHALE.wire.encode(call(event_name, payload, event))))

    assert parsed.event.name == event
    for field in payload.__struct_fields__:
        if field not in UNTOLD.get(event_name, ()):
            assert getattr(parsed.payload, field) == getattr(payload, field), field
    if event_name != "shell_env":
        assert replace(parsed.info, extra=None, totals=None) == INFO


def test_every_event_can_be_read_back() -> None:
    assert {event_name for event_name, _, _ in PAYLOADS} == set(WHALE.events)


def test_the_payload_of_the_rfc_is_read() -> None:
    parsed = WHALE.wire.parse(
        {
            "event": "message_submit",
            "text": "original user text",
            "session_id": "sess_xxxx",
            "workspace": "/path/to/workspace",
            "mode": "agent",
            "model": "deepseek-chat",
            "total_tokens": 1234,
        }
    )

    assert parsed.payload.prompt == "original user text"
    assert parsed.info.cwd == "/path/to/workspace"
    assert parsed.info.totals == Totals(session_tokens=1234)


def test_plain_names_are_read_as_well() -> None:
    parsed = WHALE.wire.parse(
        {"event": "tool_call_before", "tool_name": "bash", "tool_args": {"command": "ls"}, "mode": "PLAN"}
    )

    assert parsed.payload == bash()
    assert parsed.info.permission_mode == "plan"


@every(
    ("fields", "problem"),
    [
        ({}, "event is missing"),
        ({"event": 3}, "event is not text"),
        ({"event": "message_submit"}, "message is missing"),
        ({"event": "message_submit", "text": 3}, "text is not text"),
        ({"event": "message_submit", "text": "x", "text_truncated": True}, "cut off"),
        ({"event": "message_submit", "text": "x", "model": 3}, "model is not text"),
        ({"event": "tool_call_before"}, "tool_name is missing"),
        ({"event": "tool_call_before", "tool_name": "x", "tool_args": '{"a": ...[truncated]'}, "cut off"),
        ({"event": "tool_call_before", "tool_name": "x", "tool_args": "{"}, "tool_args is not JSON"),
        ({"event": "tool_call_before", "tool_name": "x", "tool_args": [1]}, "tool_args is not an object"),
        ({"event": "tool_call_after", "tool_name": "x", "tool_exit_code": "one"}, "not a whole number"),
        ({"event": "session_end", "session_cost": "dear"}, "session_cost is not a number"),
        ({"event": "mode_change", "mode": "plan"}, "previous_mode is missing"),
    ],
)
def test_a_payload_that_cannot_be_read_says_why(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        WHALE.wire.parse(fields)


def test_an_unknown_event_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownEventError, match="tool_call_before"):
        WHALE.wire.parse({"event": "tool_call_bfore"})


def understood(event_name: str, outcome: Outcome) -> tuple[Decoded, tuple[str, ...]]:
    """Told as Hookline would as a hook there, and read as Hookline would read that hook."""
    received = WHALE.wire.answer(event_name, outcome)
    raw = Exited(received.code, received.stdout.encode(), received.stderr.encode())
    return WHALE.wire.decode(call(event_name, None), raw), received.lost


@every(
    ("event_name", "outcome"),
    [
        ("message_submit", Outcome()),
        ("message_submit", Outcome(votes=(Vote("block", "not today"),))),
        ("message_submit", Outcome(edits=(Rewrite("new text", field="prompt"),))),
        ("tool_call_before", Outcome()),
        ("tool_call_before", Outcome(votes=(Vote("block", "not today"),))),
        ("tool_call_before", Outcome(votes=(Vote("ask", "sure?"),))),
        ("tool_call_before", Outcome(votes=(Vote("allow"),))),
        (
            "tool_call_before",
            Outcome(
                votes=(Vote("ask"),),
                edits=(Rewrite({"command": "ls"}, field="tool_input"),),
                context_items=(ContextItem("one"), ContextItem("two")),
            ),
        ),
        ("shell_env", Outcome()),
        ("shell_env", Outcome(env_items=(("A", "1"), ("B", " x "), ("A", "'2'")))),
        *((row.event_name, Outcome()) for row in ROWS if not row.steers),
    ],
)
def test_what_is_answered_is_understood_the_same(event_name: str, outcome: Outcome) -> None:
    decoded, lost = understood(event_name, outcome)

    assert lost == ()
    assert decoded.failure is None
    read = decoded.outcome
    assert (read.permission, read.reason, read.blocked) == (
        outcome.permission,
        outcome.reason,
        outcome.blocked,
    )
    assert [edit.value for edit in read.edits] == [edit.value for edit in outcome.edits]
    assert "\n".join(read.context) == "\n".join(outcome.context)
    assert read.env == outcome.env


EVERYTHING = Outcome(
    votes=(Vote("ask"),),
    edits=(Rewrite("x", field="prompt"),),
    context_items=(ContextItem("x"),),
    messages=(Message("x"),),
    halts=(Halt(),),
    permission_updates=(PermissionUpdate("x"),),
    watch_paths=("x",),
    seeds=("x",),
    env_items=(("A", "1"),),
    answers=(Answer("x"),),
    retry=True,
)
REST = ("permission_updates", "watch_paths", "initial_user_message")


@pytest.mark.parametrize(
    ("event_name", "lost"),
    [
        ("message_submit", ("decision", "context", "messages", "stop", *REST, "env", "answer", "retry")),
        ("tool_call_before", ("rewrite", "messages", "stop", *REST, "env", "answer", "retry")),
        ("shell_env", ("decision", "rewrite", "context", "messages", "stop", *REST, "answer", "retry")),
        (
            "turn_end",
            ("decision", "rewrite", "context", "messages", "stop", *REST, "env", "answer", "retry"),
        ),
    ],
)
def test_what_cannot_be_said_there_is_named(event_name: str, lost: tuple[str, ...]) -> None:
    assert understood(event_name, EVERYTHING)[1] == lost


@every(
    ("event_name", "outcome", "lost"),
    [
        ("message_submit", Outcome(edits=(Rewrite("x" * 32_001, field="prompt"),)), "rewrite"),
        ("message_submit", Outcome(edits=(Rewrite("", field="prompt"),)), "rewrite"),
        ("message_submit", Outcome(votes=(Vote("block", "x" * 241),)), "the reason beyond 240 characters"),
        ("tool_call_before", Outcome(edits=(Rewrite({"a": "x" * 40_000}, field="tool_input"),)), "rewrite"),
        ("tool_call_before", Outcome(edits=(Rewrite([1], field="tool_input"),)), "rewrite"),
        ("tool_call_before", Outcome(votes=(Vote("defer"),)), "defer"),
        ("tool_call_before", Outcome(votes=(Vote("ask", "x" * 2001),)), "the reason beyond 2000 characters"),
        (
            "tool_call_before",
            Outcome(context_items=(ContextItem("x" * 2001),)),
            "context beyond 2000 characters",
        ),
        ("shell_env", Outcome(env_items=(("A", "two\nlines"),)), "env A"),
    ],
)
def test_what_is_too_big_to_be_said_there_is_named(event_name: str, outcome: Outcome, lost: str) -> None:
    assert understood(event_name, outcome)[1] == (lost,)


HOSTILE = [
    b"",
    b"\xff\xfe\x00",
    b"{" * 70_000,
    b'{"a":' * 40_000,
    b'{"decision": "deny"',
    b'{"decision": {"deny": 1}}',
    b'{"decision": "deny", "reason": ["x"]}',
    b'{"decision": "deny", "reason": "\\ud800"}',
    b'{"updatedInput": {"n": 123456789012345678901234567890}}',
    b'{"updatedInput": {"n": 1e999}}',
    b'{"text": {"deep": ' + b"[" * 200 + b"]" * 200 + b"}}",
    b"null",
    b"=\n==\nA=\x00\nexport \n" * 1000,
    b"A=" + b"\xf0\x9f\x98" * 30_000,
    b'\xef\xbb\xbf{"decision": "ask"}',
    b'{"reason": "' + b"a='" * 20_000 + b'"}',
]


@every("code", [0, 1, 2, 255])
@every("event_name", [row.event_name for row in ROWS])
def test_no_output_is_too_odd_to_be_understood(event_name: str, code: int) -> None:
    for output in HOSTILE:
        raw = Exited(code, output, output, truncated=len(output) % 2 == 1)
        decoded = WHALE.wire.decode(call(event_name, None), raw)

        if code == 2 and event_name in ("message_submit", "tool_call_before"):
            assert decoded.outcome.blocked
            assert decoded.outcome.reason
        elif code:
            assert decoded.failure is not None or decoded.outcome.votes


def test_what_no_command_gives_says_nothing() -> None:
    there = call("tool_call_before", None)

    assert WHALE.wire.decode(there, Returned("x")) == Decoded()
    failure = WHALE.wire.decode(there, Failed("timed_out")).failure
    assert failure is not None
    assert failure.words == "hook true gave no answer: timed out"


@pytest.mark.parametrize(
    ("beside", "lost"),
    [
        (Outcome(context_items=(ContextItem("x"),)), ("context",)),
        (Outcome(edits=(Rewrite({"command": "ls"}, field="tool_input"),)), ("rewrite",)),
    ],
)
def test_what_a_denial_cannot_carry_is_named(beside: Outcome, lost: tuple[str, ...]) -> None:
    decoded, unsaid = understood("tool_call_before", beside + Outcome(votes=(Vote("block", "no"),)))
    assert (decoded.outcome.reason, unsaid) == ("no", lost)


@pytest.mark.parametrize("event_name", ["message_submit", "tool_call_before"])
def test_half_a_character_in_a_reason_costs_no_answer(event_name: str) -> None:
    decoded, unsaid = understood(event_name, Outcome(votes=(Vote("block", "no \ud83d"),)))
    assert (decoded.outcome.reason, unsaid) == ("no \ufffd", ())
    assert "\\ud83d" not in WHALE.wire.answer(event_name, Outcome(votes=(Vote("block", "\ud83d"),))).stdout


@pytest.mark.parametrize("beside", [r'"x": "\ud83d"', '"x": 1e400'])
def test_a_denial_counts_beside_what_a_strict_reader_refuses(beside: str) -> None:
    text = f'{{{beside}, "decision": "deny", "reason": "no"}}'
    decoded = WHALE.wire.decode(call("tool_call_before", None), Exited(0, text.encode()))
    assert decoded.outcome.reason == "no"


def test_a_cost_beyond_all_floats_is_refused() -> None:
    with pytest.raises(ConfigError, match="session_cost"):
        WHALE.wire.parse({"event": "session_end", "session_cost": 10**400})
