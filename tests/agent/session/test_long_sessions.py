"""Test sessions that are long, slow or killed. The soak plays the same at full length."""

import asyncio
from pathlib import Path

import pytest

from bench import agent_faults
from bench.agent_kills import killed
from bench.agent_play import playing
from bench.agent_stall import EVENTS, slow_hooks
from bench.agent_turns import HOOKS_PER_TURN, Endless, many_turns
from hookline.agent.hooks import EventLog
from hookline.agent.models.port import RequestLog
from hookline.agent.session import changes
from hookline.agent.turn import retries

#: Far more than a good run needs, and far less than one hook takes.
_SLOW = 1.0
_LONGEST_STALL_MS = 900.0
_TURNS = 300


def test_many_turns_with_five_hooks_each_hold_nothing_but_the_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What undo keeps of the last turns is at its bound before anything is counted.
    monkeypatch.setattr(changes, "_MOST_TURNS", 2)
    seen = asyncio.run(many_turns(_TURNS, delegate_every=5))
    assert seen.played == _TURNS
    assert seen.hooks >= _TURNS * HOOKS_PER_TURN
    assert seen.summaries > 3
    assert seen.delegated > 10
    # Less than one object a turn (what caches of the process take comes once), and no memory to speak of.
    assert seen.objects < _TURNS
    assert seen.late.memory - seen.early.memory < 10 * 1024 * 1024
    held = (seen.early.fds, seen.early.zombies, seen.early.tasks)
    for now, earlier in zip((seen.late.fds, seen.late.zombies, seen.late.tasks), held, strict=True):
        assert now <= earlier
    assert seen.left == ()


def test_after_a_session_nothing_is_left_of_it() -> None:
    seen = asyncio.run(many_turns(10, delegate_every=2))
    before = (seen.before.fds, seen.before.zombies, seen.before.tasks)
    for now, earlier in zip((seen.after.fds, seen.after.zombies, seen.after.tasks), before, strict=True):
        assert now <= earlier
    assert seen.left == ()


def test_a_provider_that_fails_loses_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(agent_faults, "WINDOW", 1000)
    seen = asyncio.run(agent_faults.faulty_session(16, seed=7))
    assert (seen.unanswered, seen.twice, seen.miscounted) == ((), (), {})
    assert sum(seen.faults.values()) > 3
    assert seen.faults["overflow"] > 0
    assert seen.summaries > 1


def test_slow_hooks_hold_up_nobody_else() -> None:
    seen = asyncio.run(slow_hooks(_SLOW))
    assert seen.slow == frozenset(EVENTS)
    assert seen.stall < _LONGEST_STALL_MS
    assert seen.drip < _LONGEST_STALL_MS
    assert seen.queued == seen.agents


def test_an_agent_that_is_killed_goes_on_from_what_it_had_written() -> None:
    seen = killed(3, seed=20)
    assert (seen.lost, seen.not_resumed) == ((), ())
    assert seen.torn == 1
    assert seen.records > 10


def test_what_nobody_will_ask_for_is_not_kept(tmp_path: Path) -> None:
    async def main() -> tuple[EventLog, RequestLog]:
        log, port = EventLog(keep=False), RequestLog(Endless(0), keep=False)
        async with playing(tmp_path, port, {}, files={"notes.txt": "notes\n"}, log=log) as one:
            await one.ready.begin()
            one.agent.submit("hello")
            received = await one.agent.run()
            assert received is not None
            assert received.status == "completed"
        return log, port

    log, port = asyncio.run(main())
    assert (log.fired, port.requests) == ([], [])
