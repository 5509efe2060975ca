"""Test an outcome in Docker Agent's format, read again."""

import json
from typing import Any

import pytest

from hookline import Outcome
from hookline.dialects.docker_agent import dialect
from hookline.events import Capability
from hookline.extending import Exited, HookReply
from hookline.model.outcome import Answer, ContextItem, Halt, Message, PermissionUpdate, Rewrite, Vote
from tests.dialects.docker_agent.hooks import PAYLOADS, a_call
from tests.every import every

DIALECT = dialect()
VALUES: dict[str, Any] = {
    "tool_input": {"cmd": "x"},
    "messages": [{"role": "user", "content": "new"}],
    "tool_response": "new",
}


def received(event: str, outcome: Outcome) -> HookReply:
    return DIALECT.wire.answer(event, outcome)


def understood(event: str, answer: HookReply) -> Outcome:
    raw = Exited(answer.code, answer.stdout.encode(), answer.stderr.encode())
    decoded = DIALECT.wire.decode(a_call(event), raw)
    assert decoded.failure is None
    assert decoded.ignored == ()
    return decoded.outcome


def may(event: str) -> Capability:
    own_event = DIALECT.events[event]
    return own_event.policy.may & own_event.event.may


@every("event", PAYLOADS)
@every("kind", ["block", "ask", "allow", "defer"])
def test_a_vote_comes_back_or_is_named_as_lost(event: str, kind: Any):
    answer = received(event, Outcome(votes=(Vote(kind, "because"),)))
    back = understood(event, answer)
    if answer.lost == ():
        assert back.permission == {"block": "deny"}.get(kind, kind)
        assert kind == "allow" or back.reason == "because"
    elif kind == "defer" and may(event) & Capability.PERMIT:
        assert back.permission == "ask"
    elif event == "tool_input_transform" and kind != "allow":
        # Nobody can be asked under this name, and the call must not go ahead unasked.
        assert (back.permission, back.reason) == ("deny", "because")
    else:
        assert back == Outcome()
    can = {"block": Capability.BLOCK}.get(kind, Capability.PERMIT)
    expressible = (
        bool(may(event) & can) and not (event == "tool_guard" and kind == "allow") and kind != "defer"
    )
    assert (answer.lost == ()) is expressible


@every("event", PAYLOADS)
def test_text_comes_back_or_is_named_as_lost(event: str):
    answer = received(event, Outcome(context_items=(ContextItem("a"), ContextItem("b"))))
    if may(event) & Capability.CONTEXT:
        assert understood(event, answer).context == ("a\nb",)
    else:
        assert answer == HookReply(lost=("context",))


@every("event", PAYLOADS)
def test_a_rewrite_comes_back_or_is_named_as_lost(event: str):
    field = DIALECT.events[event].event.rewrites or "tool_input"
    edit = Rewrite(VALUES.get(field, "x"), patch=True, field=field)
    answer = received(event, Outcome(edits=(edit,)))
    if may(event) & Capability.REWRITE:
        assert understood(event, answer).edits[0].value == edit.value
        assert answer.lost == ()
    else:
        assert answer == HookReply(lost=("rewrite",))


@every("event", PAYLOADS)
def test_a_message_for_the_user_always_comes_back(event: str):
    answer = received(event, Outcome(messages=(Message("psst"),)))
    assert understood(event, answer).messages[0].text == "psst"


def test_a_summary_comes_back():
    answer = received("before_compaction", Outcome(answers=(Answer("short"),)))
    assert understood("before_compaction", answer).answer == "short"


def test_nothing_said_is_nothing_printed():
    assert received("pre_tool_use", Outcome()) == HookReply()


def test_stopping_the_run_is_told_as_a_block():
    answer = received("pre_tool_use", Outcome(halts=(Halt("enough"),)))
    assert answer.lost == ("stop",)
    assert understood("pre_tool_use", answer).reason == "enough"


def test_a_whole_new_input_cannot_take_keys_away():
    assert received("pre_tool_use", Outcome(edits=(Rewrite({"a": 1}, field="tool_input"),))).lost == (
        "removal of keys",
    )


@pytest.mark.parametrize("value", [{"a": 1}, object(), 7])
def test_a_result_that_is_no_text_cannot_be_told(value: Any):
    outcome = Outcome(edits=(Rewrite(value, field="tool_response"),))
    assert received("tool_response_transform", outcome).lost == ("rewrite",)


def test_what_has_no_key_is_named():
    outcome = Outcome(
        permission_updates=(PermissionUpdate("addRules"),),
        watch_paths=("/x",),
        seeds=("hi",),
        env_items=(("A", "1"),),
        answers=(Answer({"x": 1}),),
        retry=True,
    )
    assert received("session_start", outcome).lost == (
        "answer", "permission_updates", "watch_paths", "initial_user_message", "env", "retry",
    )  # fmt: skip


def test_an_answer_is_one_object_that_names_its_event():
    answer = received("pre_tool_use", Outcome(votes=(Vote("block", "no"),), messages=(Message("m"),)))
    assert json.loads(answer.stdout) == {
        "system_message": "m",
        "hook_specific_output": {
            "hook_event_name": "pre_tool_use",
            "permission_decision": "deny",
            "permission_decision_reason": "no",
        },
    }
