"""Hookline as a hook of Reasonix: what it exits with and prints, and that it is understood there."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import Outcome
from hookline.dialects.reasonix import dialect
from hookline.extending import Exited, HookInvocation, HookReply, SessionInfo
from hookline.model.errors import UnknownEventError
from hookline.model.outcome import Answer, ContextItem, Halt, Message, PermissionUpdate, Rewrite, Vote
from tests.dialects.reasonix.hooks import PAYLOADS, agent_with_hook
from tests.every import every

GATES = ("TurnStart", "UserPromptSubmit", "PreModelCall", "PreToolUse", "TurnEnd")
TEXTS = ("SessionStart", "TurnStart", "PreModelCall")
WIRE = dialect().wire
HOOKS = {
    event: agent_with_hook(event, "hookline hook --dialect reasonix").reading.hooks[0] for event in PAYLOADS
}


def understood(event: str, received: HookReply) -> Outcome:
    """Return how Reasonix reads an answer."""
    hook = HOOKS[event]
    call = HookInvocation(hook=hook, event=hook.event, payload=PAYLOADS[event], info=SessionInfo(), timeout=1)
    outcome = hook.wire.decode(
        call, Exited(received.code, received.stdout.encode(), received.stderr.encode())
    ).outcome
    return outcome.clipped(hook.event.may & hook.policy.may)[0]


def block(reason: str = "no", **more: Any) -> Outcome:
    return Outcome(votes=(Vote("block", reason),), **more)


@pytest.mark.parametrize("event", GATES)
def test_a_block_comes_back_as_a_block(event: str):
    received = WIRE.answer(event, block("not here\nnor there"))
    assert (received.code, received.stderr, received.lost) == (2, "not here\nnor there", ())
    again = understood(event, received)
    assert (again.blocked, again.reason) == (True, "not here\nnor there")


@every("event", PAYLOADS)
def test_a_pass_comes_back_as_a_pass(event: str):
    received = WIRE.answer(event, Outcome())
    assert received == HookReply()
    assert understood(event, received) == Outcome()


@every("event", [event for event in PAYLOADS if event not in GATES])
def test_where_nothing_can_be_stopped_the_reason_is_shown_and_the_block_lost(event: str):
    received = WIRE.answer(event, block())
    assert (received.code, received.stderr, received.lost) == (2, "no", ("block",))
    assert not understood(event, received).blocked


@pytest.mark.parametrize("event", TEXTS)
def test_text_comes_back_as_text(event: str):
    received = WIRE.answer(event, Outcome(context_items=(ContextItem("one"), ContextItem("two"))))
    assert (received.code, received.lost) == (0, ())
    assert understood(event, received).context == ("one\n\ntwo",)


@pytest.mark.parametrize("event", TEXTS)
def test_text_that_is_too_long_is_cut_here_and_said_to_be_lost(event: str):
    received = WIRE.answer(event, Outcome(context_items=(ContextItem("x" * 5000),)))
    assert (len(received.stdout), received.lost) == (4096, ("text beyond 4,096 characters",))


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"])
def test_text_with_no_place_is_lost(event: str):
    received = WIRE.answer(event, Outcome(context_items=(ContextItem("x"),)))
    assert (received.code, received.stdout, received.lost) == (0, "", ("context",))


def test_the_end_of_a_turn_speaks_by_marked_lines():
    outcome = block("tests fail", context_items=(ContextItem("fix\nthem"),), messages=(Message("two\nfail"),))
    received = WIRE.answer("TurnEnd", outcome)
    assert received == HookReply(2, "@@INJECT: fix\n@@INJECT: them\n@@WARN: two fail\n", "tests fail")
    again = understood("TurnEnd", received)
    assert (again.reason, again.context) == ("tests fail", ("fix\nthem",))
    assert again.messages[-1].text == "two fail"


def test_a_warning_at_the_end_of_a_turn_needs_no_block():
    received = WIRE.answer(
        "TurnEnd", Outcome(messages=(Message("careful"),), context_items=(ContextItem("x"),))
    )
    assert received == HookReply(0, "@@WARN: careful\n", "", ("context",))
    assert [message.text for message in understood("TurnEnd", received).messages] == ["careful"]


@every("event", GATES)
@every("kind", ["ask", "defer"])
def test_what_nobody_can_be_asked_about_does_not_happen(event: str, kind: Any):
    received = WIRE.answer(event, Outcome(votes=(Vote(kind, "really?"),)))
    assert (received.code, received.stderr, received.lost) == (2, "really?", (kind,))
    assert WIRE.answer(event, Outcome(votes=(Vote(kind),))).stderr == "this needs the user's permission"


def test_an_allow_cannot_be_said():
    received = WIRE.answer("PreToolUse", Outcome(votes=(Vote("allow", "fine"),)))
    assert (received.code, received.lost) == (0, ("allow",))


@pytest.mark.parametrize(
    ("event", "code", "lost"),
    [
        ("TurnStart", 2, ()),
        ("UserPromptSubmit", 2, ()),
        ("PreToolUse", 2, ("stop",)),
        ("PreModelCall", 2, ("stop",)),
        ("TurnEnd", 0, ("stop",)),
        ("PostToolUse", 0, ("stop",)),
    ],
)
def test_a_stop_closes_the_gate_it_came_to(event: str, code: int, lost: tuple[str, ...]):
    received = WIRE.answer(event, Outcome(halts=(Halt("enough"),)))
    assert (received.code, received.lost) == (code, lost)
    assert received.stderr == ("enough" if code else "")


def test_everything_that_has_no_words_there_is_named():
    outcome = Outcome(
        edits=(Rewrite({}),),
        permission_updates=(PermissionUpdate("setMode"),),
        watch_paths=("/x",),
        seeds=("x",),
        env_items=(("A", "1"),),
        answers=(Answer(1),),
        retry=True,
        messages=(Message("m"),),
    )
    assert set(WIRE.answer("PreToolUse", outcome).lost) == {
        "rewrite",
        "permission_updates",
        "watch_paths",
        "initial_user_message",
        "env",
        "answer",
        "retry",
        "messages",
    }


def test_an_event_nobody_knows_is_refused():
    with pytest.raises(UnknownEventError):
        WIRE.answer("pre_tool_use", Outcome())


_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


@settings(max_examples=150, deadline=None)
@given(
    event=st.sampled_from(list(PAYLOADS)), blocks=st.booleans(), reason=_text, context=_text, message=_text
)
def test_whatever_is_said_the_decision_comes_back(
    event: str, blocks: bool, reason: str, context: str, message: str
):
    outcome = Outcome(
        votes=(Vote("block", reason),) if blocks else (),
        context_items=(ContextItem(context),) if context else (),
        messages=(Message(message),) if message else (),
    )
    again = understood(event, WIRE.answer(event, outcome))
    assert again.blocked == (blocks and event in GATES)
    if again.blocked and reason.strip():
        assert again.reason == reason.strip()
