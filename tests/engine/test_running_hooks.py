import asyncio
from time import perf_counter
from typing import Any, cast

from hookline.config.engine import Engine
from hookline.engine.running import RunningHooks
from hookline.events import PRE_TOOL_USE, Capability, ToolCall
from hookline.extending import Hook, Policy
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation, Wire

_POLICY = Policy(event_name="PreToolUse", may=Capability.BLOCK)


def call(number: int, name: str, message: str | None = None) -> HookInvocation:
    hook = Hook(
        name=name,
        event=PRE_TOOL_USE,
        policy=_POLICY,
        wire=cast("Wire", None),
        kind="function",
        status_message=message,
    )
    return HookInvocation(
        hook=hook,
        event=PRE_TOOL_USE,
        payload=None,
        info=SessionInfo(session_id="s1", agent_id="a1"),
        timeout=1,
        number=number,
        started=perf_counter(),
    )


def started(running: RunningHooks, number: int, name: str, message: str | None = None) -> HookInvocation:
    begun = call(number, name, message)
    running.started(begun)
    return begun


def test_nothing_runs_at_first() -> None:
    running = RunningHooks()
    assert (running.now(), running.message) == ((), None)


def test_what_started_and_did_not_end_is_running_oldest_first() -> None:
    running = RunningHooks()
    first = started(running, 1, "a")
    started(running, 2, "b", "checking")
    assert [(one.hook, one.event, one.message, one.run_id) for one in running.now()] == [
        ("a", "PreToolUse", None, "1"),
        ("b", "PreToolUse", "checking", "2"),
    ]
    assert running.now()[0].since <= running.now()[1].since
    assert {(one.session, one.agent) for one in running.now()} == {("s1", "a1")}
    running.ended(first)
    assert [one.hook for one in running.now()] == ["b"]


def test_the_newest_message_wins_and_the_older_comes_back() -> None:
    running = RunningHooks()
    started(running, 0, "a", "first")
    newer = started(running, 0, "b", "second")
    silent = started(running, 0, "c")
    assert running.message == "second"
    running.ended(newer)
    assert running.message == "first"
    running.ended(silent)
    assert running.message == "first"


def test_ending_twice_or_a_stranger_is_nothing() -> None:
    running = RunningHooks()
    calls: list[int] = []
    running.subscribe(lambda now: calls.append(len(now.now())))
    token = started(running, 0, "a")
    running.ended(token)
    running.ended(token)
    running.ended(call(0, "stranger"))
    assert calls == [1, 0]


def test_equal_run_ids_are_told_apart() -> None:
    running = RunningHooks()
    tokens = [started(running, 7, "a") for _ in range(3)]
    running.ended(tokens[1])
    assert len(running.now()) == 2


def test_a_message_cannot_steer_the_terminal() -> None:
    running = RunningHooks()
    started(running, 0, "a", "\x1b]0;owned\x07be\u202eware\nnow")
    assert running.message == "be<U+202E>ware now"
    assert running.now()[0].message == running.message


def test_subscribers_hear_until_they_leave_and_their_mistakes_are_told_once() -> None:
    running = RunningHooks()
    heard: list[str | None] = []

    def broken(_now: Any) -> None:
        raise asyncio.CancelledError

    running.subscribe(broken)
    leave = running.subscribe(lambda now: heard.append(now.message))
    running.ended(started(running, 0, "a", "busy"))
    leave()
    leave()
    started(running, 0, "b")
    assert heard == ["busy", None]
    (problem,) = running.problems
    assert "broken" in problem
    assert "CancelledError" in problem


def test_a_running_hook_is_skipped_and_others_answer() -> None:
    """It has no say, though it fails closed; the journal has the reason. A required one stays."""

    async def main() -> None:
        engine = Engine()
        engine.add(PRE_TOOL_USE, "sleep 600", name="slow", on_failure="closed")
        engine.add(PRE_TOOL_USE, lambda call: None, name="quick")
        engine.add(PRE_TOOL_USE, "sleep 600", name="law", required=True)
        async with engine:
            session = engine.session("s")
            call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
            dispatch = asyncio.ensure_future(session.dispatch(PRE_TOOL_USE, call))
            while {one.hook.name for one in engine.status.calls} != {"slow", "law"}:
                await asyncio.sleep(0.01)
            slow, law = sorted(engine.status.calls, key=lambda one: one.hook.name, reverse=True)
            assert engine.skip(law, "impatient") == "law is required: it stays active"
            assert engine.skip(slow, "impatient") is None
            while any(one.hook.name == "slow" for one in engine.status.calls):
                await asyncio.sleep(0.01)
            assert "ended" in (engine.skip(slow, "again") or "")
            assert not dispatch.done()
            assert engine.status.skip(law, "the test ends")
            outcome = await dispatch
            assert not outcome.blocked
            runs = {run.hook: (run.status, run.detail) for run in engine.journal.recent()}
            assert runs["slow"] == ("skipped", "impatient")
            assert runs["quick"][0] == "ok"

    asyncio.run(main())
