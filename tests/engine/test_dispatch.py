"""Native lanes: rewriters first, judges on the result, guards asked again; and no order of finishing matters."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline import Engine, Outcome, Session, allow, ask, context, deny, rewrite
from hookline.dialects.registry import home_dialect
from hookline.engine.dispatch import fold
from hookline.events import (
    EVENTS,
    PERMISSION_REQUEST,
    PRE_TOOL_SELECTION,
    PRE_TOOL_USE,
    TURN_END,
    USER_PROMPT_SUBMIT,
    WORKTREE_CREATE,
    PermissionAsked,
    Prompt,
    ToolCall,
    TurnAnswer,
    WorktreeWanted,
)
from hookline.extending import Returned, Run
from hookline.model.events import field_of
from hookline.model.outcome import Answer, Halt, Message, PermissionUpdate, Vote
from tests.engine.scripted_hooks import ScriptedHost, scripted

HOME = home_dialect(EVENTS)
LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})


def dispatch(engine: Engine, payload: ToolCall = LS) -> tuple[Outcome, list[Run]]:
    outcome = asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, payload))
    return outcome, list(engine.journal.recent())


def no_rm(call: ToolCall) -> Outcome | None:
    return deny("rm is not for you") if "rm" in call.tool_input["command"] else None


def test_rewriters_run_first_in_order_and_judges_see_the_result() -> None:
    engine = Engine()
    seen: list[str] = []

    @engine.on(PRE_TOOL_USE)
    async def judge(call: ToolCall) -> None:
        seen.append(call.tool_input["command"])

    for letter in "ab":

        @engine.on(PRE_TOOL_USE, rewrites=True, name=letter)
        async def rewriter(call: ToolCall, letter: str = letter) -> Outcome:
            return rewrite(command=call.tool_input["command"] + letter)

    outcome, runs = dispatch(engine)
    assert outcome.updated_input == {"command": "lsab"}
    assert seen == ["lsab"]
    assert [run.hook for run in runs][:2] == ["a", "b"]
    assert not any(run.recheck for run in runs)


def test_a_rewrite_by_an_unmarked_hook_is_judged_again_by_those_who_saw_the_older_input() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, no_rm, name="guard")
    engine.add(PRE_TOOL_USE, lambda _call: rewrite(command="rm -rf /"), name="sneaky")
    outcome, runs = dispatch(engine)
    assert outcome.reason == "rm is not for you"
    assert sorted((run.hook, run.recheck) for run in runs) == [
        ("guard", False),
        ("guard", True),
        ("sneaky", False),
    ]


def test_a_guard_the_first_input_did_not_concern_is_asked_about_the_final_one() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, no_rm, "Bash", condition="Bash(rm *)", name="guard")
    engine.add(PRE_TOOL_USE, lambda _call: rewrite(command="rm -rf /"), name="sneaky")
    outcome, runs = dispatch(engine)
    assert outcome.blocked
    assert [(run.hook, run.recheck) for run in runs] == [("sneaky", False), ("guard", True)]


def test_a_guard_of_a_lane_in_which_nobody_ran_is_asked_about_the_final_input() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, no_rm, "Bash", condition="Bash(rm *)", name="guard")
    session = engine.session("s")
    session.add(PRE_TOOL_USE, lambda _call: rewrite(command="rm -rf /"), name="sneaky")
    assert asyncio.run(session.dispatch(PRE_TOOL_USE, LS)).blocked


def test_only_votes_of_a_recheck_count() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda call: rewrite(command=call.tool_input["command"] + "!"), name="a")
    engine.add(PRE_TOOL_USE, lambda call: rewrite(command=call.tool_input["command"] + "?"), name="b")
    engine.add(PRE_TOOL_USE, lambda _call: context("seen"), name="c")
    outcome, runs = dispatch(engine)
    assert outcome.updated_input == {"command": "ls?"}
    assert outcome.context == ("seen",)
    assert sorted(run.hook for run in runs if run.recheck) == ["a", "c"]


def test_a_rewrite_to_the_same_value_asks_nobody_again() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, no_rm, name="guard")
    engine.add(PRE_TOOL_USE, lambda _call: rewrite(command="ls"), name="same")
    assert not any(run.recheck for run in dispatch(engine)[1])


def test_all_run_after_a_block() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: deny("no"), name="guard")
    engine.add(PRE_TOOL_USE, lambda _call: context("audited"), name="audit")
    outcome, _ = dispatch(engine)
    assert (outcome.blocked, outcome.context) == (True, ("audited",))


def test_an_allow_in_one_lane_never_cancels_a_deny_in_another() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: deny("no"), name="config")
    session = engine.session("s")
    session.add(PRE_TOOL_USE, lambda _call: allow("sure"), name="session")
    outcome = asyncio.run(session.dispatch(PRE_TOOL_USE, LS))
    assert (outcome.permission, outcome.reason) == ("deny", "no")


def test_a_prompt_is_rewritten_in_a_chain() -> None:
    engine = Engine()
    engine.add(USER_PROMPT_SUBMIT, lambda p: rewrite(p.prompt + " a"), rewrites=True, name="a")
    engine.add(USER_PROMPT_SUBMIT, lambda p: rewrite(p.prompt + " b"), rewrites=True, name="b")
    outcome = asyncio.run(engine.session("s").dispatch(USER_PROMPT_SUBMIT, Prompt(prompt="x")))
    assert outcome.updated_prompt == "x a b"


ANSWERS = [
    Returned(deny("a")), Returned(deny("b")), Returned(ask("c")), Returned(allow()), Returned(context("d")),
    Returned(rewrite(command="e")), Returned(rewrite({"command": "f"})), Returned(rewrite(timeout=5)), Returned(),
]  # fmt: skip


@pytest.mark.unmeasured
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ANSWERS), st.booleans()), min_size=1, max_size=5), st.randoms())
def test_no_order_of_finishing_changes_the_result(said: list[tuple[Returned, bool]], random: Any) -> None:
    def outcome(delays: list[float]) -> Outcome:
        hooks = [
            scripted(
                f"h{number}", PRE_TOOL_USE, HOME.policy(PRE_TOOL_USE), HOME.wire, answer,
                delay=delay, rewrites=rewrites,
            )
            for number, ((answer, rewrites), delay) in enumerate(zip(said, delays, strict=True))
        ]  # fmt: skip
        return ScriptedHost(hooks).fire(PRE_TOOL_USE, LS)

    delays = [0.002 * number for number in range(len(said))]
    first = outcome([0.0] * len(said))
    random.shuffle(delays)
    assert outcome(delays) == first == outcome(delays[::-1])


def test_a_shared_budget_is_what_is_left_of_it() -> None:
    policy = replace(HOME.policy(PRE_TOOL_USE), run="serial", budget=0.2)
    hooks = [scripted(name, PRE_TOOL_USE, policy, HOME.wire, Returned(), delay=3600) for name in ("a", "b")]
    host = ScriptedHost(hooks)
    assert host.fire(PRE_TOOL_USE, LS).blocked
    assert [run.status for run in host.runs] == ["timed_out", "timed_out"]
    assert "within 0.01 s" in host.runs[1].detail


def test_an_event_that_cannot_rewrite_or_block_is_never_rechecked() -> None:
    engine = Engine()
    engine.add(PERMISSION_REQUEST, lambda _call: rewrite(command="x"), name="a")
    outcome = asyncio.run(
        engine.session("s").dispatch(PERMISSION_REQUEST, PermissionAsked(tool_name="Bash", tool_input={}))
    )
    assert outcome.updated_input == {"command": "x"}


def test_everything_a_hook_says_carries_its_name() -> None:
    said = Outcome(
        halts=(Halt("enough"),),
        messages=(Message("hello"),),
        permission_updates=(PermissionUpdate("setMode", mode="plan"),),
        votes=(Vote("ask", "sure?"),),
    )
    hook = scripted("h", PERMISSION_REQUEST, HOME.policy(PERMISSION_REQUEST), HOME.wire, Returned(said))
    outcome = ScriptedHost([hook]).fire(PERMISSION_REQUEST, PermissionAsked(tool_name="Bash"))
    signed = (
        outcome.halts[0].by,
        outcome.messages[0].hook,
        outcome.permission_updates[0].by,
        outcome.votes[0].by,
    )
    assert signed == ("h", "h", "h", "h")
    assert outcome.votes[0].means == "deny_call"


def test_an_answer_carries_the_name_of_who_gave_it() -> None:
    hook = scripted(
        "w",
        WORKTREE_CREATE,
        HOME.policy(WORKTREE_CREATE),
        HOME.wire,
        Returned(Outcome(answers=(Answer("/w"),))),
    )
    outcome = ScriptedHost([hook]).fire(WORKTREE_CREATE, WorktreeWanted(name="w"))
    assert (outcome.answer, outcome.answers[0].by) == ("/w", "w")


def test_lists_of_several_hooks_are_one_list_where_the_policy_says_so() -> None:
    policy = replace(HOME.policy(PRE_TOOL_SELECTION), answers="united")

    def united(*values: Any) -> Any:
        return fold(
            policy, [Outcome(answers=(Answer(value, by=f"h{n}"),)) for n, value in enumerate(values)]
        ).answer

    assert united(["Read", "Glob"], ["Glob", "Bash"]) == ["Read", "Glob", "Bash"]
    assert united(["Read"], []) == []  # no tool at all beats any tool
    assert united("Read", ["Glob"]) == "Read"
    assert united(["Read"]) == ["Read"]


def test_joined_reasons_need_two_reasons() -> None:
    policy = replace(HOME.policy(PRE_TOOL_USE), reasons="joined", run="parallel")
    for answers, reason in (
        ([deny("a"), allow()], "a"),
        ([deny("a"), deny("b")], "a\nb"),
        ([deny("a"), deny("")], "a"),
        ([context("x")], None),
    ):
        hooks = [
            scripted(f"h{number}", PRE_TOOL_USE, policy, HOME.wire, Returned(answer))
            for number, answer in enumerate(answers)
        ]
        assert ScriptedHost(hooks).fire(PRE_TOOL_USE, LS).reason == reason


def test_counts_can_be_cleared_with_the_session() -> None:
    host = ScriptedHost([scripted("g", TURN_END, HOME.policy(TURN_END), HOME.wire, Returned(deny("todo")))])
    blocked = [host.fire(TURN_END, TurnAnswer()).blocked for _ in range(2)]
    host.session.clear()
    assert [*blocked, host.fire(TURN_END, TurnAnswer()).blocked] == [True, True, True]


def test_a_payload_of_no_known_shape_has_no_fields() -> None:
    assert field_of({"a": 1}, "a") == 1
    assert field_of(object(), "a") is None


def says(answer: Outcome) -> Callable[[TurnAnswer], Outcome]:
    return lambda _answer: answer


def test_lanes_of_one_policy_block_once_together_and_a_passing_one_does_not_reset_the_count() -> None:
    for passing_first in (True, False):
        engine = Engine()
        session = engine.session("s")
        answers = [Outcome(), deny("todo")] if passing_first else [deny("todo"), Outcome()]
        engine.add(TURN_END, says(answers[0]))
        session.add(TURN_END, says(answers[1]))

        async def story(session: Session = session) -> list[tuple[bool, bool]]:
            outcomes = [await session.dispatch(TURN_END, TurnAnswer()) for _ in range(4)]
            return [(outcome.blocked, outcome.limit_reached) for outcome in outcomes]

        assert asyncio.run(story()) == [(True, False), (True, False), (False, True), (True, False)]


def test_two_lanes_that_block_count_as_one_block() -> None:
    engine = Engine()
    session = engine.session("s")
    engine.add(TURN_END, lambda _answer: deny("a"))
    session.add(TURN_END, lambda _answer: deny("b"))

    async def story() -> list[tuple[bool, bool]]:
        outcomes = [await session.dispatch(TURN_END, TurnAnswer()) for _ in range(3)]
        return [(outcome.blocked, outcome.limit_reached) for outcome in outcomes]

    assert asyncio.run(story()) == [(True, False), (True, False), (False, True)]


def test_the_last_editor_is_known_by_itself_and_not_by_its_name() -> None:
    def first(call: ToolCall) -> Outcome:
        return deny("not b") if call.tool_input["command"] == "b" else rewrite(command="a")

    engine = Engine()
    engine.add(PRE_TOOL_USE, first, name="twin")
    engine.add(PRE_TOOL_USE, lambda _call: rewrite(command="b"), name="twin")
    assert dispatch(engine)[0].reason == "not b"
