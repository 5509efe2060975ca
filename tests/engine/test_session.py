"""Test sessions, the store and swapping: whose hooks run, what is shared and what is not."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import ConfigError, Engine, deny
from hookline.engine.memory import memory_of
from hookline.events import (
    POST_TOOL_USE,
    PRE_TOOL_USE,
    STOP,
    TURN_END,
    EventSpec,
    ToolCall,
    ToolResult,
    TurnAnswer,
)
from hookline.extending import Journal, Redactor, SessionInfo
from hookline.model.errors import EngineClosedError
from hookline.model.run import Called

LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})


def names(engine: Engine, session: Any = None) -> list[str]:
    session = session or engine.session("s")
    return [one.prepared.hook.name for one in session.explain(PRE_TOOL_USE, LS)]


def test_config_hooks_come_before_added_ones_and_session_hooks_last() -> None:
    engine = Engine()
    session = engine.session("s")
    session.add(PRE_TOOL_USE, lambda _call: None, name="session function")
    session.add(PRE_TOOL_USE, "true", name="session command")
    engine.add(PRE_TOOL_USE, lambda _call: None, name="added")
    engine.swap([engine.make_hook(PRE_TOOL_USE, lambda _call: None, name="config")])
    assert names(engine, session) == ["config", "added", "session function", "session command"]


def test_session_hooks_are_removed_by_id_and_cleared() -> None:
    engine = Engine()
    session = engine.session("s")
    first = session.add(PRE_TOOL_USE, lambda _call: None, name="a")
    session.add(PRE_TOOL_USE, lambda _call: None, name="b")
    assert session.remove(first)
    assert not session.remove(first)
    assert names(engine, session) == ["b"]
    session.clear()
    assert names(engine, session) == []
    assert names(engine, engine.session("t")) == []


def test_added_hooks_can_be_taken_back() -> None:
    engine = Engine()
    hook = engine.add(PRE_TOOL_USE, lambda _call: None, name="a")
    engine.add(STOP, lambda _call: None, name="b")
    assert engine.remove(hook)
    assert not engine.remove(hook)
    assert [hook.name for hook in engine.hooks] == ["b"]
    assert not engine.has(PRE_TOOL_USE)


def test_has_knows_the_engines_and_the_sessions_hooks() -> None:
    engine = Engine()
    session = engine.session("s")
    assert not session.has(PRE_TOOL_USE)
    session.add(PRE_TOOL_USE, lambda _call: None)
    assert session.has(PRE_TOOL_USE)
    assert not session.has(POST_TOOL_USE)
    assert not engine.has(PRE_TOOL_USE)
    engine.add(POST_TOOL_USE, lambda _call: None)
    assert session.has(POST_TOOL_USE)


def test_a_sub_agent_inherits_hooks_but_not_counts() -> None:
    engine = Engine()
    engine.add(TURN_END, lambda _answer: deny("not done"), name="gate")
    parent = engine.session("s", cwd="/p", permission_mode="plan", agent_id="main")
    parent.add(PRE_TOOL_USE, lambda _call: deny("parent says no"), name="parent's")
    child = engine.session("s", parent, agent_id="sub", agent_type="explore")

    async def story() -> tuple[list[bool], bool, bool]:
        blocked = [(await parent.dispatch(TURN_END, TurnAnswer())).blocked for _ in range(3)]
        child_blocked = (await child.dispatch(TURN_END, TurnAnswer())).blocked
        denied = (await child.dispatch(PRE_TOOL_USE, LS)).blocked
        return blocked, child_blocked, denied

    assert asyncio.run(story()) == ([True, True, False], True, True)
    assert child.has(PRE_TOOL_USE)
    assert (child.info.cwd, child.info.permission_mode, child.info.depth) == ("/p", "plan", 1)
    assert child.info.parent_agent_id == "main"
    assert engine.journal.recent()[-1].agent == "sub"


def test_a_run_says_what_was_called_by_whom_and_where() -> None:
    engine = Engine(journal=Journal(Redactor({}), caller="my app"))
    engine.add(PRE_TOOL_USE, lambda _call: None, name="watch")
    engine.add(STOP, lambda _call: None, name="watch")
    session = engine.session("s", cwd="/p/sub", project_dir="/p")
    push = ToolCall(tool_name="Bash", tool_input={"command": "git push\\\n  --force"})
    asyncio.run(session.dispatch(PRE_TOOL_USE, push))
    session.update(project_dir=None)
    asyncio.run(session.dispatch(STOP, TurnAnswer()))
    assert [run.call for run in engine.journal.recent()] == [
        Called(tool="Bash", input="git push\\ --force", project="/p", caller="my app"),
        Called(project="/p/sub", caller="my app"),
    ]


def test_no_two_runs_have_the_same_id_in_any_engine() -> None:
    engine = Engine()
    ids = [memory_of(each).next_number() for each in (engine, engine, Engine())]
    assert all(ids)
    assert len(set(ids)) == len(ids)


def test_a_grandchild_sees_hooks_added_later_above_it() -> None:
    engine = Engine()
    top = engine.session("s")
    below = engine.session("s", engine.session("s", top))
    assert names(engine, below) == []
    top.add(PRE_TOOL_USE, lambda _call: None, name="late")
    assert names(engine, below) == ["late"]


def test_swapping_changes_what_every_session_sees_at_once() -> None:
    engine = Engine()
    session = engine.session("s")
    session.add(STOP, lambda _answer: None)
    engine.swap([engine.make_hook(PRE_TOOL_USE, lambda _call: None, name="new")])
    assert names(engine, session) == ["new"]
    engine.swap([])
    assert names(engine, session) == []


def test_a_bad_set_leaves_the_old_one_in_force_and_names_every_problem() -> None:
    engine = Engine()
    good = engine.make_hook(PRE_TOOL_USE, lambda _call: None, name="good")
    engine.swap([good])
    strange: EventSpec[Any] = EventSpec("Strange", dict, "never")
    bad = [replace(good, name="b1", event=strange), replace(good, name="b2", kind="telepathy"), good]
    with pytest.raises(ConfigError) as raised:
        engine.swap(bad)
    assert [one.hook for one in raised.value.diagnostics] == ["b1", "b2"]
    assert "telepathy" in str(raised.value)
    assert names(engine) == ["good"]
    with pytest.raises(ConfigError):
        engine.add(strange, lambda _payload: None)


def test_a_dispatch_under_way_keeps_the_hooks_it_began_with() -> None:
    engine = Engine()

    async def swaps(_call: ToolCall) -> None:
        engine.swap([])
        await asyncio.sleep(0)

    engine.swap(
        [engine.make_hook(PRE_TOOL_USE, swaps), engine.make_hook(PRE_TOOL_USE, lambda _call: deny("no"))]
    )
    assert asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, LS)).blocked
    assert not engine.has(PRE_TOOL_USE)


def test_functions_may_take_the_scene_as_well() -> None:
    engine = Engine()
    seen: list[str] = []

    @engine.on(PRE_TOOL_USE)
    def where(_call: ToolCall, info: SessionInfo) -> None:
        seen.append(info.cwd)

    session = engine.session("s", cwd="/a")
    asyncio.run(session.dispatch(PRE_TOOL_USE, LS))
    session.update(cwd="/b")
    asyncio.run(session.dispatch(PRE_TOOL_USE, LS))
    assert seen == ["/a", "/b"]
    assert session.id == "s"


def test_a_closed_engine_gives_no_more_sessions() -> None:
    engine = Engine()

    async def story() -> None:
        async with engine:
            pass
        await engine.close()

    asyncio.run(story())
    with pytest.raises(EngineClosedError):
        engine.session("s")


def test_an_event_nobody_configured_costs_nothing_and_says_nothing() -> None:
    engine = Engine()
    outcome = asyncio.run(engine.session("s").dispatch(POST_TOOL_USE, ToolResult(tool_name="Bash")))
    assert (outcome.blocked, engine.journal.recent()) == (False, ())


def test_a_once_hook_never_takes_the_mark_of_one_that_is_gone() -> None:
    engine = Engine()
    session = engine.session("s")
    hits: list[int] = []

    async def story() -> None:
        for _ in range(30):
            hook = session.add(PRE_TOOL_USE, lambda _call: hits.append(len(hits)), once=True)
            await session.dispatch(PRE_TOOL_USE, LS)
            session.remove(hook)

    asyncio.run(story())
    assert hits == list(range(30))
