"""Synchronous hosts: one bridge, the same engine."""

import threading

import pytest

from hookline import Blocking, Engine, deny
from hookline.events import PRE_TOOL_USE, STOP, ToolCall, TurnAnswer
from hookline.model.errors import EngineClosedError
from tests.waiting import wait_until

LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})


def test_a_sync_host_dispatches_without_a_loop_of_its_own() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, "echo 'not here' >&2; exit 2", name="shell")
    with Blocking(engine) as hooks:
        session = hooks.session("s", cwd="/")
        assert session.has(PRE_TOOL_USE)
        assert session.dispatch(PRE_TOOL_USE, LS).reason == "not here"
        child = hooks.session("s", session, agent_id="sub")
        assert child.dispatch(PRE_TOOL_USE, LS).blocked
        assert child.session.scene.depth == 1
    assert engine.closed
    hooks.close()
    with pytest.raises(EngineClosedError):
        session.dispatch(PRE_TOOL_USE, LS)


def test_background_hooks_go_on_between_two_calls() -> None:
    engine = Engine()
    engine.add(STOP, lambda _answer: deny("wake up"), waiting="rewake", name="scan")
    with Blocking(engine) as hooks:
        session = hooks.session("s")
        session.dispatch(STOP, TurnAnswer())
        wait_until(lambda: len(session.session.inbox))
        item = session.session.inbox.take()
    assert item is not None
    assert item.text == "wake up"


def test_many_threads_may_share_one_bridge() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: deny("no"))
    answers: list[bool] = []
    with Blocking(engine) as hooks:
        session = hooks.session("s")
        threads = [
            threading.Thread(target=lambda: answers.append(session.dispatch(PRE_TOOL_USE, LS).blocked))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [True] * 8


def test_a_hook_that_waits_for_its_own_engine_is_told_so() -> None:
    engine = Engine()
    with Blocking(engine) as hooks:
        session = hooks.session("s")

        async def waits_for_itself(_call: ToolCall) -> None:
            session.dispatch(STOP, TurnAnswer())

        engine.add(PRE_TOOL_USE, waits_for_itself)
        reason = session.dispatch(PRE_TOOL_USE, LS).reason
    assert reason is not None
    assert "make it async instead" in reason


def test_an_error_while_waiting_calls_the_work_off() -> None:
    with Blocking(Engine()) as hooks:

        async def breaks() -> None:
            raise LookupError("x")

        with pytest.raises(LookupError):
            hooks.wait_for(breaks())
