"""A guard that printed something it was not asked for has not said yes."""

import asyncio
from typing import Any

import msgspec
import pytest

from hookline import Engine
from hookline.dialects.registry import home_dialect
from hookline.events import (
    PERMISSION_REQUEST,
    POST_TOOL_USE,
    PRE_TOOL_USE,
    SESSION_START,
    USER_PROMPT_SUBMIT,
    EventSpec,
)
from hookline.extending import Decoded, Exited, Hook, RawResult, Replied, Returned, standard_handlers
from hookline.handlers.specs import CommandSpec
from hookline.model.wire import NOTHING_SAID
from tests.dialects.native.calls import WIRE, call, payload_for
from tests.every import every

NO_ANSWERS: dict[str, bytes] = {
    "a word": b"deny",
    "a sentence": b"I would rather not.",
    "a JSON text": b'"deny"',
    "null": b"null",
    "a number": b"2",
    "a list": b'[{"decision": "block"}]',
    "an answer after a log line": b'checking ...\n{"decision": "block", "reason": "no"}',
    "an answer before a log line": b'{"decision": "block", "reason": "no"}\ndone',
    "two answers": b'{"decision": "approve"}\n{"decision": "block"}',
    "not UTF-8": b"\xff\xfed\x00e\x00n\x00y\x00",
    "not UTF-8 in JSON": b'{"decision": "block", "reason": "\xff"}',
    "brackets": b"[" * 200_000,
    "braces": b"{" * 200_000,
    "nested": b'{"a":' * 100_000,
    "a misspelt key": b'{"decison": "block"}',
    "another case": b'{"Decision": "block"}',
    "a misspelt key beside known ones": b'{"desicion": "block", "reason": "no", "continue": true}',
    "a misspelt inner key": b'{"hookSpecificOutput": {"hookEventName": "EVENT", "permisionDecision": "deny"}}',
    "snake case": b'{"hookSpecificOutput": {"permission_decision": "deny"}}',
    "a misspelt outer key": b'{"hookSpecificOutputs": {"permissionDecision": "deny"}}',
    "a key of another level": b'{"behavior": "deny", "reason": "no"}',
    "a decision as a key": b'{"deny": true, "reason": "no"}',
    "a decision under another key": b'{"verdict": "Deny", "reason": "no"}',
    "nothing that is known": b'{"safe": false}',
    "nothing inside that is known": b'{"hookSpecificOutput": {"hookEventName": "EVENT", "safe": false}}',
    "the wrong word": b'{"decision": "deny"}',
}  # fmt: skip

ANSWERS: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b" \n\t",
    "an empty object": b"{}",
    "a note": b'{"systemMessage": "looked at it"}',
    "an unknown field beside known ones": b'{"continue": true, "version": 3, "description": "x", "took_ms": 4}',
    "a reason alone": b'{"reason": "fine"}',
}


def decoded(event: EventSpec[Any], raw: RawResult, **fields: Any) -> Decoded:
    made = call(event)
    made.hook = msgspec.structs.replace(made.hook, **fields)
    return WIRE.decode(made, raw)


def cause(found: Decoded) -> str | None:
    return None if found.failure is None else found.failure.cause


@every("event", [PRE_TOOL_USE, PERMISSION_REQUEST])
@every("output", NO_ANSWERS)
def test_what_is_no_answer_is_a_failure_of_a_guard(event: EventSpec[Any], output: str):
    text = NO_ANSWERS[output].replace(b"EVENT", event.name.encode())
    for raw, kind in (
        (Exited(0, text), "command"),
        (Replied(text), "mcp_tool"),
        (Replied(text, 200), "http"),
    ):
        found = decoded(event, raw, kind=kind)
        assert cause(found) == "unreadable", kind
        assert not found.outcome.votes


@pytest.mark.parametrize("output", ANSWERS)
def test_nothing_and_what_can_be_read_is_no_failure(output: str):
    for event in (PRE_TOOL_USE, PERMISSION_REQUEST, USER_PROMPT_SUBMIT):
        found = decoded(event, Exited(0, ANSWERS[output]))
        assert cause(found) is None
        assert not found.outcome.blocked


def test_the_decision_of_a_permission_request_is_not_one_of_a_tool_call():
    text = b'{"hookSpecificOutput": {"hookEventName": "EVENT", "decision": {"behavior": "deny", "message": "no"}}}'
    asked = decoded(PERMISSION_REQUEST, Exited(0, text.replace(b"EVENT", b"PermissionRequest")))
    assert asked.outcome.reason == "no"
    called = decoded(PRE_TOOL_USE, Exited(0, text.replace(b"EVENT", b"PreToolUse")))
    assert cause(called) == "unreadable"


@pytest.mark.parametrize(
    "value", [{"decison": "block"}, {"verdict": "deny", "reason": "no"}, {"safe": False}]
)
def test_what_a_function_returns_is_read_as_closely(value: dict[str, Any]):
    assert cause(decoded(PRE_TOOL_USE, Returned(value), kind="function")) == "unreadable"


@pytest.mark.parametrize("waiting", ["async", "rewake"])
@pytest.mark.parametrize("text", [b"deny", b'{"decison": "block"}'])
def test_what_is_not_waited_for_may_print_anything(waiting: str, text: bytes):
    assert cause(decoded(PRE_TOOL_USE, Exited(0, text), waiting=waiting)) is None
    assert cause(decoded(PRE_TOOL_USE, Exited(0, b'{"async": true}\n' + text))) is None


@pytest.mark.parametrize("text", [b"deny", b"[1]", b'{"decison": "block"}'])
def test_other_events_read_as_before(text: bytes):
    assert cause(decoded(POST_TOOL_USE, Exited(0, text))) is None
    assert cause(decoded(SESSION_START, Exited(0, text))) is None


@every(
    "text",
    [
        b"deny",
        b"Block.",
        b" ASK\n",
        b'"allow"',
        b"'refuse'",
        b"[1, 2]",
        b"{not json",
        b'{"decison": "block"}',
    ],
)
def test_a_prompt_that_may_have_been_refused_is_refused(text: bytes):
    found = decoded(USER_PROMPT_SUBMIT, Exited(0, text))
    assert cause(found) == "unreadable"
    assert not found.outcome.context


@pytest.mark.parametrize(
    "text", ["deny force pushes", "The branch is main.", "no", "(see [1])", "allow" + " " * 99 + "x"]
)
def test_other_text_at_a_prompt_is_context(text: str):
    assert decoded(USER_PROMPT_SUBMIT, Exited(0, text.encode())).outcome.context == (text,)


def test_the_failure_says_what_was_printed_and_what_to_do():
    found = decoded(PRE_TOOL_USE, Exited(0, b"checking " * 20))
    assert found.failure is not None
    assert "it printed 'checking checking" in found.failure.detail
    assert 'output = "ignore"' in found.failure.detail
    assert len(found.failure.detail) < 200


def test_ignored_output_is_not_read_and_the_exit_code_counts():
    for text in (*NO_ANSWERS.values(), b'{"decision": "block"}', b'{"continue": false}'):
        assert decoded(PRE_TOOL_USE, Exited(0, text, truncated=True), output="ignore") is NOTHING_SAID
        assert decoded(PRE_TOOL_USE, Replied(text, 200), output="ignore", kind="http") is NOTHING_SAID
    blocked = decoded(
        PRE_TOOL_USE, Exited(2, b'{"decision": "block", "reason": "JSON"}', b"stderr"), output="ignore"
    )
    assert blocked.outcome.reason == "stderr"
    assert cause(decoded(PRE_TOOL_USE, Exited(1, b"{}"), output="ignore")) == "crashed"
    assert cause(decoded(PRE_TOOL_USE, Replied(b"{}", 500), output="ignore", kind="http")) == "transport"
    assert decoded(SESSION_START, Exited(0, b"text"), output="ignore") is NOTHING_SAID


@pytest.mark.parametrize(("output", "permission"), [("answer", None), ("ignore", "deny")])
def test_a_command_whose_output_is_ignored_does_not_go_to_the_background_by_printing_so(
    output: str, permission: str | None
):
    home = home_dialect()
    hook = Hook(
        name="guard",
        event=PRE_TOOL_USE,
        policy=home.policy(PRE_TOOL_USE),
        wire=home.wire,
        kind="command",
        spec=CommandSpec("""echo '{"async": true}'; sleep 0.1; exit 2"""),
        output="ignore" if output == "ignore" else "answer",
    )

    async def asked() -> str | None:
        async with Engine([hook], handlers=standard_handlers()) as engine:
            session = engine.session("s", cwd="/")
            return (await session.dispatch(PRE_TOOL_USE, payload_for(PRE_TOOL_USE))).permission

    assert asyncio.run(asked()) == permission
