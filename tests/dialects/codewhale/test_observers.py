"""Test observers: no one waits for them, their answers change nothing, and none is lost silently."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome
from hookline.dialects.codewhale.events import ROWS
from hookline.engine.background import BackgroundHooks
from hookline.events import (
    Capability,
    ModeMove,
    RunError,
    SessionEnded,
    SessionStarted,
    SubagentBegun,
    SubagentEnded,
    TurnSummary,
)
from hookline.extending import Run, standard_handlers
from tests.dialects.codewhale.hooks import agent_with, entry, read_config, succeeded
from tests.every import every
from tests.waiting import waits_for

MOMENTS: dict[str, Any] = {
    "session_start": SessionStarted(),
    "session_end": SessionEnded(),
    "tool_call_after": succeeded(),
    "mode_change": ModeMove(old_mode="agent", new_mode="plan"),
    "on_error": RunError(message="boo"),
    "turn_end": TurnSummary(),
    "subagent_spawn": SubagentBegun(agent_id="a"),
    "subagent_complete": SubagentEnded(agent_id="a"),
}
WITH_DOCUMENT = ("turn_end", "subagent_spawn", "subagent_complete")


def test_three_events_steer_and_all_others_observe() -> None:
    assert {row.event_name for row in ROWS if row.may is not Capability.NOTHING} == {
        "message_submit",
        "tool_call_before",
        "shell_env",
    }
    assert set(MOMENTS) == {row.event_name for row in ROWS if not row.steers}


@every("event", MOMENTS)
def test_what_an_observer_prints_or_exits_with_changes_nothing(event: str) -> None:
    answer = """echo '{"decision": "deny", "text": "x", "reason": "x"}'; exit 2"""
    agent = agent_with(entry(event, answer, name="o"))

    outcome = agent.fire(event, MOMENTS[event])

    said = [late.text for late in agent.late] + [message.text for message in outcome.messages]
    assert said == ["hook o gave no answer: exit 2"]
    assert not outcome.votes
    assert agent.runs[-1].exit_code == 2
    assert agent.runs[-1].status == "failed"


@pytest.mark.parametrize("event", WITH_DOCUMENT)
def test_every_hook_runs_whatever_fails(event: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    strict = {"continue_on_error": False, "timeout_secs": 1}
    agent = agent_with(
        entry(event, f"echo 1 >> {log}; exit 1", **strict)
        + entry(event, f"echo 2 >> {log}; sleep 30", **strict)
        + entry(event, f"echo 3 >> {log}; exit 2", **strict)
        + entry(event, f'echo 4 >> {log}; echo \'{{"text": "x"}}\'', **strict)
    )

    assert agent.fire(event, MOMENTS[event]) == Outcome()
    assert log.read_text().split() == ["1", "2", "3", "4"]
    assert [late.kind for late in agent.late] == ["message"] * 3


@pytest.mark.parametrize("event", sorted(set(MOMENTS) - set(WITH_DOCUMENT)))
def test_a_strict_observer_that_fails_keeps_later_ones_from_running(event: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = agent_with(
        entry(event, f"sleep 0.2; echo 1 >> {log}; exit 1")
        + entry(event, f"echo 2 >> {log}; exit 1", continue_on_error=False)
        + entry(event, f"echo 3 >> {log}", name="left-out")
    )

    agent.fire(event, MOMENTS[event])

    assert log.read_text().split() == ["1", "2"]
    ends = {run.hook: run.status for run in agent.runs}
    assert ends.get("left-out", "skipped") == "skipped"


def test_observers_run_one_after_another_and_nobody_waits(tmp_path: Path) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    found = read_config(
        entry("turn_end", f"{waits_for(gate)}; echo 1 >> {log}") + entry("turn_end", f"echo 2 >> {log}")
    )

    async def main() -> None:
        async with Engine(found.hooks) as engine:
            # Returns although the first of them cannot continue yet.
            await engine.session("s").dispatch(engine.events["TurnSettled"], TurnSummary())
            assert not log.exists()
            gate.touch()
            await engine.drain(60)

    asyncio.run(main())
    assert log.read_text().split() == ["1", "2"]


def test_observers_in_line_when_the_engine_closes_are_on_record_as_cancelled() -> None:
    found = read_config(
        entry("turn_end", "sleep 60", name="first") + entry("turn_end", "true", name="second")
    )
    runs: list[Run] = []

    async def main() -> None:
        async with Engine(found.hooks, drain_seconds=0.3) as engine:
            engine.journal.subscribe(runs.append)
            await engine.session("s").dispatch(engine.events["TurnSettled"], TurnSummary())

    asyncio.run(main())
    assert [(run.hook, run.status) for run in runs] == [
        ("first", "background"),
        ("second", "background"),
        ("first", "cancelled"),
        ("second", "cancelled"),
    ]


def test_the_end_of_a_session_waits_for_its_observers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    found = read_config(entry("session_end", f"sleep 0.2; echo 1 >> {log}"))

    async def main() -> str:
        async with Engine(found.hooks) as engine:
            await engine.session("s").dispatch(engine.events["SessionEnd"], SessionEnded())
            return log.read_text()

    assert asyncio.run(main()) == "1\n"


def test_a_full_queue_drops_the_event_and_says_so(tmp_path: Path) -> None:
    """Run two at a time, 32 in line, as CodeWhale does: the 33rd does not run, its run says why, and no one waited."""
    gate = tmp_path / "gate"
    found = read_config(entry("turn_end", waits_for(gate)))
    runs: list[Run] = []

    async def main() -> None:
        handlers = standard_handlers()
        async with Engine(found.hooks, handlers=handlers, background=BackgroundHooks(2, 32)) as engine:
            engine.journal.subscribe(runs.append)
            session = engine.session("s")
            for _ in range(35):
                await session.dispatch(engine.events["TurnSettled"], TurnSummary())
            gate.touch()
            await engine.drain(60)

    asyncio.run(main())
    dropped = [run for run in runs if run.status == "not_started"]
    assert [run.detail for run in dropped] == ["too many hooks are running in the background"] * 3
    assert sum(run.status == "ok" for run in runs) == 32
