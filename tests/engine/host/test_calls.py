"""Test tool calls of the host API: one call does what the agent does with a call, and returns the result."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hookline import Outcome, ToolError, allow, ask, context, deny, halt, rewrite
from hookline.events import (
    PERMISSION_REQUEST,
    POST_TOOL_USE,
    PRE_TOOL_USE,
    ToolCall,
)
from hookline.host import Approval, ApprovalRequest, CallResult
from hookline.model.outcome import Vote
from tests.engine.desk import Desk, always, if_it_says, never, saying


def test_a_call_without_objections_runs_and_hooks_see_it_before_and_after() -> None:
    desk = Desk()
    done = desk.call({"a": 1, "gives": "hi"}, id="c1")
    assert (done.text, done.ran, done.refused, done.stop) == ("hi", True, None, None)
    assert desk.fired == ["PreToolUse", "PostToolUse"]
    assert [payload.tool_use_id for payload in desk.payloads] == ["c1", "c1"]


def test_a_denied_call_does_not_run_and_no_hook_hears_of_a_result() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, deny("no"))
    done = desk.call()
    assert (done.refused, done.text, done.is_error, desk.ran) == ("no", "no", True, [])
    assert desk.fired == ["PreToolUse"]


@pytest.mark.parametrize("value", [{}, {"b": 2}], ids=["empty", "key removed"])
def test_a_rewrite_counts_even_if_nothing_is_left(value: dict[str, Any]) -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite(value), rewrites=True)
    done = desk.call({"a": 1})
    assert desk.ran == [value]
    assert done.call.tool_input == value


def test_a_rewrite_that_does_not_fit_is_refused() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite({"b": 2}), rewrites=True)

    def check(given: dict[str, Any]) -> str | None:
        return None if "a" in given else "a is missing"

    done = desk.call(check=check)
    assert done.refused == "a hook changed the input, and then: The arguments do not fit: a is missing"
    assert desk.ran == []


def test_arguments_that_do_not_fit_fire_nothing() -> None:
    desk = Desk()

    def check(given: dict[str, Any]) -> None:
        raise ValueError("b is missing")

    done = desk.call(check=check)
    assert done.refused == "The arguments do not fit: b is missing"
    assert desk.fired == desk.ran == []


def test_an_ask_that_nobody_answers_is_a_denial() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, ask("money"))
    done = desk.call()
    assert done.refused == "money (no approver is configured)"
    assert desk.ran == []
    assert desk.fired == ["PreToolUse", "PermissionRequest", "PermissionDenied"]


@pytest.mark.parametrize("answer", [False, None, "yes", 1, Approval(allow=False)])
def test_only_true_is_a_yes(answer: Any) -> None:
    desk = Desk(approve=saying(answer))
    desk.on(PRE_TOOL_USE, ask("money"))
    done = desk.call()
    assert done.refused == "not approved: money"
    assert desk.ran == []


def test_approve_is_told_what_and_why_and_may_add_words() -> None:
    asked: list[ApprovalRequest] = []

    async def approve(question: ApprovalRequest) -> Approval:
        asked.append(question)
        return Approval(allow=False, message="use the test account")

    desk = Desk(approve=approve)
    desk.on(PRE_TOOL_USE, ask("money"), name="bookkeeper")
    assert desk.call({"amount": 9}).refused == "use the test account"
    assert [(q.tool_name, dict(q.tool_input), q.reason, q.hook, q.session_id) for q in asked] == [
        ("t", {"amount": 9}, "money", "bookkeeper", "s")
    ]


@pytest.mark.parametrize("way", ["tool", "open_tool", "ask"])
@pytest.mark.parametrize("is_subagent", [False, True])
def test_nobody_is_asked_in_an_unattended_session(way: str, is_subagent: bool) -> None:
    asked: list[ApprovalRequest] = []

    def approve(question: ApprovalRequest) -> bool:
        asked.append(question)
        return True

    async def refused(desk: Desk) -> str | None:
        session = desk.engine.session("s", approve=approve, attended=False)
        session = desk.engine.session("s", session, approve=approve) if is_subagent else session
        if way == "tool":
            return (await desk.once(session)).refused
        call = await (session.open_tool("t", {}) if way == "open_tool" else session.ask("t", {}, "money"))
        return call.refused.refused if call.refused is not None else None

    desk = Desk(approve=approve)
    desk.on(PRE_TOOL_USE, ask("money"))
    assert asyncio.run(refused(desk)) == "money (no user can be asked)"
    assert (asked, desk.ran) == ([], [])


def test_who_cannot_be_asked_has_not_said_yes() -> None:
    def approve(question: ApprovalRequest) -> bool:
        raise OSError("no terminal")

    desk = Desk(approve=approve)
    desk.on(PRE_TOOL_USE, ask("money"))
    assert desk.call().refused == "money (approve failed: OSError)"
    assert desk.ran == []
    assert "OSError: no terminal" in [run.detail for run in desk.engine.journal.recent()]


def test_a_permission_hook_may_answer_in_place_of_the_user() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, ask("money"))
    desk.on(PERMISSION_REQUEST, allow())
    assert desk.call().ran


def test_a_permission_hook_may_deny_what_the_user_would_allow() -> None:
    desk = Desk(approve=always)
    desk.on(PRE_TOOL_USE, ask("money"))
    desk.on(PERMISSION_REQUEST, deny("never"))
    assert desk.call().refused == "never"


def test_a_tool_may_need_approval_by_itself() -> None:
    desk = Desk(approve=if_it_says("t needs approval"))
    assert desk.call(needs_approval=True).ran
    closed = Desk()
    assert closed.call(needs_approval="it pays").refused == "it pays (no approver is configured)"
    trusted = Desk()
    trusted.on(PRE_TOOL_USE, allow())
    assert trusted.call(needs_approval=True).ran


def test_no_objection_is_not_a_permission() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, Outcome(votes=(Vote("allow", means="no_objection"),)))
    assert not desk.call(needs_approval=True).ran


def test_stop_means_that_the_call_does_not_run() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, halt("out of budget"))
    done = desk.call()
    assert (done.stop, done.refused, desk.ran) == ("out of budget", "out of budget", [])


def test_stop_at_the_question_means_so_too() -> None:
    desk = Desk(approve=always)
    desk.on(PRE_TOOL_USE, ask("money"))
    desk.on(PERMISSION_REQUEST, halt("enough"))
    done = desk.call()
    assert (done.stop, desk.ran) == ("enough", [])


def test_a_failed_tool_fires_its_own_event_and_no_other() -> None:
    desk = Desk()

    async def fails(arguments: dict[str, Any]) -> None:
        raise ToolError("no such file", exit_code=3)

    async def one() -> CallResult:
        async with desk.engine:
            return await desk.engine.session("s").tool("t", {}, run=fails)

    done = asyncio.run(one())
    assert desk.fired == ["PreToolUse", "PostToolUseFailure"]
    assert (done.text, done.is_error, desk.payloads[1].exit_code) == ("no such file", True, 3)
    assert isinstance(done.exception, ToolError)


def test_any_other_error_of_a_tool_is_told_with_its_name() -> None:
    desk = Desk()

    def fails(arguments: dict[str, Any]) -> None:
        raise KeyError("x")

    async def one() -> CallResult:
        async with desk.engine:
            return await desk.engine.session("s").tool("t", {}, run=fails)

    assert asyncio.run(one()).text == "t failed: KeyError: 'x'"


@pytest.mark.parametrize(("value", "text"), [("", ""), ({"a": [1]}, '{"a":[1]}'), ("***", "***")])
def test_a_result_is_rewritten(value: Any, text: str) -> None:
    desk = Desk()
    desk.on(POST_TOOL_USE, rewrite(value))
    done = desk.call()
    assert (done.output, done.text, done.rewritten) == (value, text, True)


def test_objections_to_a_result_and_context_from_before_and_after_are_read_with_it() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, context("before"))
    desk.on(POST_TOOL_USE, context("after") + deny("too long"))
    done = desk.call()
    assert done.text == "done\n\n[hook feedback] too long\n\n[hook context] before\n\n[hook context] after"
    assert done.context == ()


def test_questions_of_parallel_calls_come_one_after_another() -> None:
    open_now: list[str] = []
    most: list[int] = []

    async def approve(question: ApprovalRequest) -> bool:
        open_now.append(question.tool_name)
        most.append(len(open_now))
        await asyncio.sleep(0.01)
        open_now.pop()
        return True

    desk = Desk(approve=approve)
    desk.on(PRE_TOOL_USE, ask("really?"))

    async def all_at_once() -> list[CallResult]:
        async with desk.engine:
            session = desk.engine.session("s")
            child = desk.engine.session("s", parent=session, agent_id="a1", agent_type="helper")
            return await asyncio.gather(
                *(each.tool(f"t{n}", {"n": n}, run=desk.tool) for n in range(3) for each in (session, child))
            )

    done = asyncio.run(all_at_once())
    assert [one.call.tool_name for one in done] == ["t0", "t0", "t1", "t1", "t2", "t2"]
    assert most == [1] * 6


def test_cancelling_a_call_cancels_the_tool() -> None:
    desk = Desk()
    ended: list[str] = []

    async def slow(arguments: dict[str, Any]) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("tool")

    async def play() -> None:
        async with desk.engine:
            task = asyncio.ensure_future(desk.engine.session("s").tool("t", {}, run=slow))
            while not desk.fired:
                await asyncio.sleep(0)
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(play())
    assert ended == ["tool"]
    assert desk.fired == ["PreToolUse"]


def test_sessions_have_an_approve_of_their_own() -> None:
    desk = Desk(approve=never)
    desk.on(PRE_TOOL_USE, ask("?"))

    async def play() -> list[bool]:
        async with desk.engine:
            yes = desk.engine.session("a", approve=always)
            child = desk.engine.session("a", parent=yes)
            no = desk.engine.session("b")
            return [(await each.tool("t", {}, run=desk.tool)).ran for each in (yes, child, no)]

    assert asyncio.run(play()) == [True, True, False]


def test_effective_is_the_payload_as_it_counts() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite(a=2), rewrites=True)

    async def play() -> Any:
        async with desk.engine:
            call = ToolCall(tool_name="t", tool_input={"a": 1, "b": 1})
            outcome = await desk.engine.session("s").dispatch(PRE_TOOL_USE, call)
            return outcome.effective(call).tool_input, Outcome().effective(call) is call

    assert asyncio.run(play()) == ({"a": 2, "b": 1}, True)


def open_call(desk: Desk, then: Callable[[Any], Any]) -> CallResult:
    """A call that the host runs between its two halves."""

    async def play() -> CallResult:
        async with desk.engine:
            call = await desk.engine.session("s").open_tool("t", {"a": 1}, id="c1")
            return call.refused or await then(call)

    return asyncio.run(play())


def test_a_call_in_two_halves_is_the_same_call() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite(a=2) + context("before"), rewrites=True)
    desk.on(POST_TOOL_USE, rewrite("***"), rewrites=True)
    done = open_call(desk, lambda call: call.returned(call.arguments))
    assert (done.call.tool_input, done.text) == ({"a": 2}, "***\n\n[hook context] before")
    assert desk.fired == ["PreToolUse", "PostToolUse"]


def test_the_second_half_may_be_a_failure() -> None:
    desk = Desk()
    done = open_call(desk, lambda call: call.failed(OSError("gone")))
    assert desk.fired == ["PreToolUse", "PostToolUseFailure"]
    assert done.text == "t failed: OSError: gone"


def test_a_refused_call_has_no_second_half() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, halt("enough"))
    done = open_call(desk, lambda call: pytest.fail("it must not run"))
    assert (done.stop, done.refused) == ("enough", "enough")
    assert desk.fired == ["PreToolUse"]


@pytest.mark.parametrize(("approve", "refused"), [(always, None), (never, "not approved: it pays")])
def test_a_question_of_the_hosts_own_rules(approve: Any, refused: str | None) -> None:
    desk = Desk(approve=approve)
    desk.on(PERMISSION_REQUEST, rewrite(a=2), rewrites=True)

    async def play() -> Any:
        async with desk.engine:
            return await desk.engine.session("s").ask("t", {"a": 1}, "it pays", id="c1")

    asked = asyncio.run(play())
    assert (asked.refused and asked.refused.refused, asked.arguments) == (refused, {"a": 2})
    assert "PreToolUse" not in desk.fired
