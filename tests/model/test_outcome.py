"""Merging, clipping and meaning of outcomes, as properties."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import Outcome, allow, ask, context, deny, rewrite
from hookline.events import Capability
from hookline.model.outcome import (
    PASS,
    Answer,
    ContextItem,
    Halt,
    Message,
    PermissionUpdate,
    Rewrite,
    Vote,
    edited,
    merged,
)

words = st.text(max_size=5)
votes = st.builds(Vote, st.sampled_from(["block", "defer", "ask", "allow"]), words, st.integers(0, 9), words)
edits = st.builds(
    Rewrite, st.dictionaries(words, st.integers()), st.booleans(), st.sampled_from(["tool_input", "prompt"])
)
outcomes = st.builds(
    Outcome,
    votes=st.lists(votes, max_size=3).map(tuple),
    edits=st.lists(edits, max_size=2).map(tuple),
    context_items=st.lists(st.builds(ContextItem, words), max_size=2).map(tuple),
    messages=st.lists(st.builds(Message, words), max_size=2).map(tuple),
    halts=st.lists(st.builds(Halt, words), max_size=2).map(tuple),
    permission_updates=st.lists(st.builds(PermissionUpdate, words), max_size=2).map(tuple),
    watch_paths=st.lists(words, max_size=2).map(tuple),
    seeds=st.lists(words, max_size=2).map(tuple),
    env_items=st.lists(st.tuples(words, words), max_size=2).map(tuple),
    answers=st.lists(st.builds(Answer, words), max_size=2).map(tuple),
    retry=st.booleans(),
    limit_reached=st.booleans(),
)
effects = st.integers(0, (1 << len(Capability)) - 1).map(Capability)


@pytest.mark.unmeasured
@given(outcomes, outcomes, outcomes)
def test_merging_is_associative(a: Outcome, b: Outcome, c: Outcome) -> None:
    assert (a + b) + c == a + (b + c)


@pytest.mark.unmeasured
@given(outcomes)
def test_the_empty_outcome_changes_nothing(a: Outcome) -> None:
    assert a + PASS is a
    assert PASS + a is a
    assert a + Outcome() == a == Outcome() + a


@pytest.mark.unmeasured
@given(st.lists(outcomes, max_size=5))
def test_nothing_said_is_lost_in_a_merge(said: list[Outcome]) -> None:
    total = merged(said)
    assert total.votes == tuple(vote for one in said for vote in one.votes)
    assert total.context_items == tuple(item for one in said for item in one.context_items)
    assert total.messages == tuple(message for one in said for message in one.messages)


@pytest.mark.unmeasured
@given(st.lists(outcomes, max_size=4), st.integers(0, 4), words)
def test_a_deny_is_never_lost(said: list[Outcome], place: int, reason: str) -> None:
    total = merged([*said[:place], deny(reason), *said[place:]])
    assert total.blocked
    assert total.permission == "deny"


@pytest.mark.unmeasured
@given(outcomes, effects)
def test_clipping_twice_is_clipping_once(a: Outcome, may: Capability) -> None:
    once, _ = a.clipped(may)
    assert once.clipped(may) == (once, ())


@pytest.mark.unmeasured
@given(outcomes, effects)
def test_what_is_clipped_is_reported_and_the_rest_is_untouched(a: Outcome, may: Capability) -> None:
    kept, dropped = a.clipped(may)
    assert (kept == a) == (not dropped)
    assert kept.messages == a.messages
    assert kept.clipped(may)[1] == ()


@pytest.mark.unmeasured
@given(outcomes)
def test_everything_allowed_clips_nothing(a: Outcome) -> None:
    everything = Capability((1 << len(Capability)) - 1)
    assert a.clipped(everything) == (a, ())


def test_what_is_dropped_is_called_by_its_name() -> None:
    said = deny("no") + ask("hm") + context("c") + rewrite({"a": 1}) + Outcome(retry=True, halts=(Halt("x"),))
    assert said.clipped(Capability.BLOCK) == (deny("no"), ("rewrite", "context", "stop", "retry", "ask"))


def test_the_strongest_vote_gives_reason_and_permission() -> None:
    said = (
        allow("fine")
        + ask("sure?")
        + Outcome(votes=(Vote("defer", "later"),))
        + deny("first")
        + deny("second")
    )
    assert (said.permission, said.reason) == ("deny", "first")
    assert (merged([allow("fine"), ask("sure?")]).permission, merged([allow("a"), ask("b")]).reason) == (
        "ask",
        "b",
    )
    assert allow("fine").reason is None
    assert (PASS.permission, PASS.reason, PASS.blocked, PASS.stop) == (None, None, False, False)


def test_a_higher_rank_gives_the_reason_among_equals() -> None:
    said = deny("first") + Outcome(votes=(Vote("block", "hard", rank=2),))
    assert said.reason == "hard"


def test_derived_values_follow_what_was_said() -> None:
    said = Outcome(
        halts=(Halt(), Halt("enough")),
        seeds=("a", "b"),
        env_items=(("K", "1"), ("K", "2")),
        answers=(Answer("first"), Answer("second")),
        edits=(
            Rewrite({"a": 1}, field="tool_input", whole={"a": 1, "b": 2}),
            Rewrite("text", field="prompt"),
            Rewrite("out", field="tool_response"),
            Rewrite(["m"], field="messages"),
        ),
    )
    assert (said.stop, said.stop_reason) == (True, "enough")
    assert (said.initial_user_message, said.env, said.answer) == ("b", {"K": "2"}, "first")
    assert said.updated_input == {"a": 1, "b": 2}
    assert (said.updated_prompt, said.updated_output, said.updated_messages) == ("text", "out", ["m"])
    assert (PASS.answer, PASS.initial_user_message, PASS.stop_reason, PASS.updated_input) == (None,) * 4


def test_a_rewritten_model_answer_is_an_output_too() -> None:
    assert Outcome(edits=(Rewrite("better", field="response"),)).updated_output == "better"


def test_a_patch_lays_keys_over_what_is_there() -> None:
    assert edited({"a": 1, "b": 2}, Rewrite({"b": 3}, patch=True)) == {"a": 1, "b": 3}
    assert edited("text", Rewrite({"b": 3}, patch=True)) == {"b": 3}
    assert edited({"a": 1}, Rewrite({"b": 3})) == {"b": 3}


def test_rewrite_takes_a_value_or_keys_but_not_both() -> None:
    assert rewrite("x").edits == (Rewrite("x"),)
    assert rewrite(command="ls").edits == (Rewrite({"command": "ls"}, patch=True),)
    both: Any = rewrite
    try:
        both("x", command="ls")
    except TypeError as problem:
        assert "not both" in str(problem)  # noqa: PT017 the message is the point
    else:
        raise AssertionError("both were taken")
