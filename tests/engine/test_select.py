"""Test which hooks run, in which order, how often, and why the others did not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import Engine, Outcome, PatternError, context, deny
from hookline.engine.explain import MatchResult
from hookline.engine.memory import lanes_of
from hookline.events import PRE_TOOL_USE, SESSION_START, STOP, EventSpec, SessionStarted, ToolCall, TurnAnswer
from hookline.extending import Run, SessionInfo
from tests.every import every


def bash(command: str) -> ToolCall:
    return ToolCall(tool_name="Bash", tool_input={"command": command})


LS = bash("ls")


def says(text: str) -> Callable[[ToolCall], Outcome]:
    return lambda _call: context(text)


def decisions(engine: Engine, payload: Any = LS) -> list[tuple[bool, str]]:
    return [(one.selected, one.why) for one in engine.session("s").explain(PRE_TOOL_USE, payload)]


def fired(engine: Engine, payload: Any = LS, event: EventSpec[Any] = PRE_TOOL_USE) -> list[str]:
    runs: list[Run] = []
    stop = engine.journal.subscribe(runs.append)
    asyncio.run(engine.session("s").dispatch(event, payload))
    stop()
    return [run.hook for run in runs]


@every(
    ("matcher", "command", "runs"),
    [
        (None, "ls", True),
        ("", "ls", True),
        ("*", "ls", True),
        ("Bash", "ls", True),
        ("Edit|Bash", "ls", True),
        ("Edit, Write", "ls", False),
        ("Ba.*", "ls", True),
        ("as", "ls", False),
        ("Bash(git:*)", "git push", True),
        ("Bash(git *)", "cd x && git status", True),
        ("Bash(git *)", "ls", False),
        ("Edit(src/**)", "ls", False),
    ],
)
def test_matchers(matcher: str | None, command: str, runs: bool) -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, matcher, name="hook")
    assert fired(engine, bash(command)) == (["hook"] if runs else [])
    assert decisions(engine, bash(command))[0][0] is runs


def test_a_matcher_and_a_condition_must_both_hold() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, "Bash", condition="Bash(rm *)", name="guard")
    assert fired(engine, bash("true; rm -rf x")) == ["guard"]
    assert fired(engine, LS) == []
    assert decisions(engine)[0][1].startswith("not matched: ")


def test_a_bad_pattern_is_an_error_where_it_is_made() -> None:
    with pytest.raises(PatternError, match=r"\(unclosed"):
        Engine().add(PRE_TOOL_USE, lambda _call: None, "(unclosed")


def test_hooks_run_in_config_order_and_a_definition_that_stands_twice_runs_once() -> None:
    engine = Engine()
    hooks = [engine.make_hook(PRE_TOOL_USE, says(name), name=name) for name in "abc"]
    twice = [replace(hooks[0], identity="same")] * 2
    engine.swap([hooks[1], *twice, hooks[2]])
    assert asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, LS)).context == ("b", "a", "c")
    assert [selected for selected, _ in decisions(engine)] == [True, True, False, True]
    assert "which runs once" in decisions(engine)[2][1]


def test_once_is_once_per_session_and_a_new_session_starts_anew() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, name="first time", once=True)

    async def story() -> list[int]:
        counts: list[int] = []
        for session in (one := engine.session("s"), one, engine.session("t")):
            await session.dispatch(PRE_TOOL_USE, LS)
            counts.append(len(engine.journal.recent()))
        assert [v.why for v in one.explain(PRE_TOOL_USE, LS)] == ["ran already: once per session"]
        one.clear()
        await one.dispatch(PRE_TOOL_USE, LS)
        return [*counts, len(engine.journal.recent())]

    assert asyncio.run(story()) == [1, 1, 2, 3]


class Explodes:
    text = "explodes"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
        raise RecursionError("deep")

    def matches(self, subject: str) -> bool:
        raise RecursionError("deep")


@pytest.mark.parametrize("part", ["condition", "matcher"])
def test_a_condition_or_matcher_that_breaks_is_a_failure_and_never_a_no(part: str) -> None:
    engine = Engine()
    guard = engine.make_hook(PRE_TOOL_USE, lambda _call: None, name="guard")
    changes: dict[str, Any] = {part: Explodes()}
    engine.swap([replace(guard, **changes)])
    outcome = asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, LS))
    assert outcome.blocked
    assert f"its {part}" in (outcome.reason or "")
    assert "RecursionError" in (outcome.reason or "")


def test_every_hook_that_did_not_run_can_say_why() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, "Edit|Write", name="lint")
    engine.add(PRE_TOOL_USE, lambda _call: None, "Bash(rm *)", name="guard")
    engine.add(PRE_TOOL_USE, lambda _call: None, mode="off", name="idle")
    engine.add(PRE_TOOL_USE, lambda _call: None, name="audit")
    said = engine.session("s").explain(PRE_TOOL_USE, LS)
    assert [one.selected for one in said] == [False, False, False, True]
    assert all(isinstance(one, MatchResult) and one.why for one in said)
    assert "Edit|Write" in said[0].why
    assert "rm *" in said[1].why
    assert said[2].why == "switched off: mode is off"
    assert said[3].why == "matched: it has no matcher and no condition"


def test_explaining_uses_nothing_up() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, name="first time", once=True)
    session = engine.session("s")
    for _ in range(2):
        assert session.explain(PRE_TOOL_USE, LS)[0].selected


def test_an_event_without_a_subject_matches_what_has_no_matcher() -> None:
    engine = Engine()
    engine.add(STOP, lambda _answer: deny("go on"), name="gate")
    assert fired(engine, TurnAnswer(), STOP) == ["gate"]


def test_subjects_without_end_do_not_fill_the_memory() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, "Bash", name="hook")
    session = engine.session("s")
    lane = lanes_of(session, "PreToolUse")[0]
    for number in range(3000):
        assert lane.matching(ToolCall(tool_name=f"tool{number}")).hooks == ()
    assert len(lane.matching(LS).hooks) == 1


def test_a_hosts_own_rows_and_mapping_payloads_work() -> None:
    row: EventSpec[dict[str, Any]] = EventSpec(
        "Deployed", dict, "after a deployment.", PRE_TOOL_USE.may, subject="target", rewrites="target"
    )
    engine = Engine(events=[row])
    engine.add(row, lambda _payload: context("seen"), "prod", name="watch prod")

    async def story() -> list[Outcome]:
        session = engine.session("s")
        return [await session.dispatch(row, {"target": target}) for target in ("prod", "staging")]

    assert [outcome.context for outcome in asyncio.run(story())] == [("seen",), ()]


def test_rows_with_a_name_that_exists_are_refused() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        Engine(events=[EventSpec("Stop", dict, "never")])


def test_a_payload_with_no_subject_counts_as_empty() -> None:
    engine = Engine()
    engine.add(SESSION_START, lambda _payload: None, "startup", name="hook")
    assert fired(engine, SessionStarted(source="resume"), SESSION_START) == []
    assert fired(engine, SessionStarted(source="startup"), SESSION_START) == ["hook"]


def test_a_mode_that_was_set_counts_also_after_a_swap_and_not_for_what_must_stay() -> None:
    async def main() -> None:
        engine = Engine()
        engine.load(".", [])
        guard = engine.make_hook(PRE_TOOL_USE, lambda _call: deny("no"), name="guard")
        engine.swap([guard])
        session, call = engine.session(), ToolCall(tool_name="Bash", tool_input={"command": "ls"})
        assert (await session.dispatch(PRE_TOOL_USE, call)).blocked
        assert engine.set_mode(guard, "shadow") is None
        engine.swap([replace(guard)])
        assert not (await session.dispatch(PRE_TOOL_USE, call)).blocked
        assert (engine.mode_of(engine.hooks[0]), engine.hooks[0].mode) == ("shadow", "enforce")
        assert engine.set_mode(engine.hooks[0], "enforce") is None
        assert (await session.dispatch(PRE_TOOL_USE, call)).blocked
        engine.swap([replace(guard, required=True)])
        assert "required" in (engine.set_mode(engine.hooks[0], "off") or "")
        await engine.close()

    asyncio.run(main())
