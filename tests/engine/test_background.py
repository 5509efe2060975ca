"""Test background hooks: async, asyncRewake, the inbox, and closing."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import Engine, Outcome, context, deny, rewrite
from hookline.dialects.registry import home_dialect
from hookline.engine.background import BackgroundHooks, Inbox, LateMessage
from hookline.events import CWD_CHANGED, EVENTS, PRE_TOOL_USE, STOP, CwdMove, ToolCall, TurnAnswer
from hookline.extending import Failed, Returned, Run
from tests.engine.scripted_hooks import ScriptedHost, scripted
from tests.waiting import waits_for

HOME = home_dialect(EVENTS)
LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})


def fire_stop(host: ScriptedHost) -> tuple[Outcome, tuple[LateMessage, ...]]:
    outcome = host.fire(STOP, TurnAnswer())
    return outcome, host.session.inbox.take_all()


def late_hook(answer: Any, **options: Any) -> Any:
    return scripted("scan", STOP, HOME.policy(STOP), HOME.wire, answer, delay=0.01, **options)


def test_an_async_hook_cannot_decide_but_its_context_arrives_later() -> None:
    host = ScriptedHost([late_hook(Returned(deny("too late") + context("found it")), waiting="async")])
    outcome, late = fire_stop(host)
    assert outcome == Outcome()
    assert [(item.kind, item.text, item.hook, item.event) for item in late] == [
        ("context", "found it", "scan", "Stop")
    ]
    assert [run.status for run in host.runs] == ["background", "blocked"]
    assert host.runs[0].run_id == host.runs[1].run_id == late[0].run_id
    assert "decision" in host.runs[1].dropped


def test_a_rewake_hook_wakes_when_it_blocks_and_is_silent_when_clean() -> None:
    _, late = fire_stop(ScriptedHost([late_hook(Returned(deny("a hole in main.py")), waiting="rewake")]))
    assert [(item.kind, item.text) for item in late] == [("wake", "a hole in main.py")]
    assert fire_stop(ScriptedHost([late_hook(Returned(), waiting="rewake")]))[1] == ()


def test_a_rewake_hook_that_cannot_start_has_found_nothing() -> None:
    host = ScriptedHost([late_hook(Failed("not_started", "not found"), waiting="rewake", on_failure="block")])
    _, late = fire_stop(host)
    assert [item.kind for item in late] == []
    assert host.runs[1].status == "not_started"


def test_a_failed_async_hook_tells_the_user_later() -> None:
    _, late = fire_stop(ScriptedHost([late_hook(Failed("crashed", "exit 1"), waiting="async")]))
    assert [(item.kind, item.text) for item in late] == [("message", "hook scan gave no answer: exit 1")]


def test_watch_paths_of_a_hook_nobody_waited_for_apply_when_it_ends() -> None:
    hook = scripted(
        "w",
        CWD_CHANGED,
        HOME.policy(CWD_CHANGED),
        HOME.wire,
        Returned(Outcome(watch_paths=("/x",))),
        waiting="async",
    )
    host = ScriptedHost([hook])
    host.fire(CWD_CHANGED, CwdMove(old_cwd="/", new_cwd="/x"))
    assert [(item.kind, item.paths) for item in host.session.inbox.take_all()] == [("watch", ("/x",))]


def test_a_late_rewrite_is_reported_as_unheard() -> None:
    hook = scripted(
        "r",
        PRE_TOOL_USE,
        HOME.policy(PRE_TOOL_USE),
        HOME.wire,
        Returned(rewrite(command="x")),
        waiting="async",
    )
    host = ScriptedHost([hook])
    assert host.fire(PRE_TOOL_USE, LS).edits == ()
    assert host.runs[1].dropped == ("rewrite",)


def test_a_dialect_may_discard_late_text_and_its_run_says_so() -> None:
    policy = replace(HOME.policy(STOP), late="discard")
    hook = scripted("d", STOP, policy, HOME.wire, Returned(context("text")), waiting="async")
    host = ScriptedHost([hook])
    assert fire_stop(host)[1] == ()
    assert host.runs[1].dropped == ("context",)


def test_a_policy_that_does_not_wait_runs_every_hook_in_the_background() -> None:
    policy = replace(HOME.policy(STOP), waits=False)
    host = ScriptedHost([scripted("o", STOP, policy, HOME.wire, Returned(deny("no")))])
    assert not fire_stop(host)[0].blocked
    assert [run.status for run in host.runs] == ["background", "blocked"]


def test_shadow_is_never_applied_in_the_background_either() -> None:
    host = ScriptedHost([late_hook(Returned(deny("x") + context("y")), waiting="rewake", mode="shadow")])
    assert fire_stop(host)[1] == ()


def test_waited_hooks_of_the_same_lane_still_decide() -> None:
    gate = scripted("gate", STOP, HOME.policy(STOP), HOME.wire, Returned(deny("go on")))
    outcome, _ = fire_stop(ScriptedHost([late_hook(Returned(), waiting="async"), gate]))
    assert outcome.reason == "go on"


def test_a_command_can_move_to_the_background_with_its_first_line(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    answer = json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "late news"}})
    engine = Engine()
    command = f"echo '{{\"async\": true}}'; {waits_for(gate)}; echo '{answer}'"
    engine.add(STOP, command, name="slow", timeout=60)

    async def story() -> tuple[Outcome, list[Run], bool]:
        session = engine.session("s")
        outcome = await session.dispatch(STOP, TurnAnswer())
        early = list(engine.journal.recent())
        gate.touch()
        drained = await engine.drain(60)
        await engine.close()
        return outcome, early, drained

    outcome, early, drained = asyncio.run(story())
    assert outcome == Outcome()
    assert [run.status for run in early] == ["background"]
    assert drained
    assert engine.journal.recent()[-1].status != "background"


def test_closing_drains_within_the_limit_and_then_calls_off_the_rest() -> None:
    quick = late_hook(Returned(context("done")), waiting="async")
    stuck = scripted("stuck", STOP, HOME.policy(STOP), HOME.wire, Returned(), delay=3600, waiting="async")
    host = ScriptedHost([quick, stuck])

    async def story() -> None:
        await host.session.dispatch(STOP, TurnAnswer())
        assert len(host.engine.background) == 2
        await host.engine.close(limit=1)

    asyncio.run(story())
    ends = {run.hook: run.status for run in host.runs if run.status != "background"}
    assert ends == {"scan": "ok", "stuck": "cancelled"}
    assert len(host.engine.background) == 0


def test_a_full_background_says_so_instead_of_forgetting() -> None:
    host = ScriptedHost([late_hook(Returned(), waiting="async")])
    host.engine.background = BackgroundHooks(limit=0)
    outcome, _ = fire_stop(host)
    assert outcome == Outcome()
    assert [(run.status, run.detail) for run in host.runs] == [
        ("not_started", "too many hooks are running in the background")
    ]


def test_few_run_at_once_and_all_of_them_run() -> None:
    running = 0
    most = 0

    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1

    async def story() -> None:
        background = BackgroundHooks(at_once=3)
        for _ in range(12):
            background.start(work())
        assert not await background.drain(0)
        assert await background.drain()
        assert len(background) == 0

    asyncio.run(story())
    assert most == 3


def test_background_work_of_a_loop_that_is_gone_does_not_hold_up_the_next() -> None:
    background = BackgroundHooks()

    async def never() -> None:
        await asyncio.sleep(3600)

    async def begin() -> None:
        background.start(never())

    loop = asyncio.new_event_loop()
    loop.run_until_complete(begin())
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert asyncio.run(background.drain(5))
    assert asyncio.run(background.close(1)) == ()


def test_the_inbox_is_awaited_and_keeps_order() -> None:
    async def story() -> list[str]:
        inbox = Inbox()
        waiting = asyncio.create_task(inbox.get())
        await asyncio.sleep(0)
        for text in "abc":
            inbox.put(LateMessage(kind="wake", text=text))
        first = await waiting
        rest = [(await inbox.get()).text, (await inbox.get()).text]
        assert inbox.take() is None
        return [first.text, *rest]

    assert asyncio.run(story()) == ["a", "b", "c"]


def test_a_waiter_that_gives_up_passes_its_turn_on() -> None:
    async def story() -> str:
        inbox = Inbox()
        first, second = asyncio.create_task(inbox.get()), asyncio.create_task(inbox.get())
        await asyncio.sleep(0)
        inbox.put(LateMessage(kind="wake", text="x"))
        first.cancel()
        item = await asyncio.wait_for(second, 5)
        with pytest.raises(asyncio.CancelledError):
            await first
        return item.text

    assert asyncio.run(story()) == "x"


def test_a_full_inbox_gives_up_context_before_a_wake_and_counts_it() -> None:
    inbox = Inbox(limit=2)
    for kind, text in (("wake", "w"), ("context", "c1"), ("context", "c2")):
        inbox.put(LateMessage(kind=kind, text=text))  # pyright: ignore[reportArgumentType] a loop over two kinds
    assert [item.text for item in inbox.take_all()] == ["w", "c2"]
    assert inbox.lost == 1
    assert len(inbox) == 0


def test_who_inherits_an_inbox_has_all_of_it() -> None:
    async def main() -> None:
        gone, heir = Inbox(), Inbox()
        gone.put(LateMessage(kind="context", text="before"))
        gone.await_wake()
        gone.hand_over(heir)
        gone.await_wake()
        gone.put(LateMessage(kind="wake", text="after"))
        assert [late.text for late in heir.take_all()] == ["before", "after"]
        assert heir.awaited == 2
        gone.wake_settled()
        waits = asyncio.ensure_future(heir.next_wake())
        await asyncio.sleep(0)
        gone.wake_settled()
        assert await asyncio.wait_for(waits, 10) is None
        assert heir.awaited == 0

    asyncio.run(main())
