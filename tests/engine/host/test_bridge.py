"""Synchronous hosts: one bridge, the same engine."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hookline import Blocking, Engine, deny
from hookline.events import PRE_TOOL_USE, STOP, ToolCall, TurnAnswer
from hookline.handlers.command import CommandHandler
from hookline.handlers.process.pool import Processes
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
        assert child.session.info.depth == 1
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
        assert session.dispatch(PRE_TOOL_USE, LS).blocked
    assert "make it async instead" in engine.journal.recent()[-1].detail


def test_an_error_while_waiting_calls_the_work_off() -> None:
    with Blocking(Engine()) as hooks:

        async def breaks() -> None:
            raise LookupError("x")

        with pytest.raises(LookupError):
            hooks.wait_for(breaks())


def test_closing_ends_what_another_thread_waits_for_at_once_and_says_so() -> None:
    engine, began, said = Engine(), threading.Event(), list[object]()

    async def never_ends(_call: ToolCall) -> None:
        began.set()
        await asyncio.sleep(3600)

    engine.add(PRE_TOOL_USE, never_ends)
    hooks = Blocking(engine)
    session = hooks.session("s")

    def dispatch() -> None:
        try:
            said.append(session.dispatch(PRE_TOOL_USE, LS))
        except EngineClosedError as problem:
            said.append(str(problem))

    threads = [threading.Thread(target=dispatch, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert began.wait(60)
    wait_until(lambda: len(engine.status.now()) == 3)
    closers = [threading.Thread(target=hooks.close, daemon=True) for _ in range(2)]
    for thread in closers:
        thread.start()
    for thread in (*closers, *threads):
        thread.join(60)
        assert not thread.is_alive()
    assert said == ["the engine was closed while this call waited for it"] * 3
    with pytest.raises(EngineClosedError):
        hooks.wait_for(engine.drain())


def test_closing_while_a_command_runs_ends_the_dispatch_and_the_command(tmp_path: Path) -> None:
    commands = CommandHandler(Processes(), close_within=0)
    engine, said = Engine(handlers={"command": commands}), list[object]()
    engine.add(PRE_TOOL_USE, f"echo $$ > {tmp_path}/pid; trap '' TERM; sleep 60; sleep 60", name="slow")
    hooks = Blocking(engine)
    session = hooks.session("s")
    thread = threading.Thread(target=lambda: said.append(session.dispatch(PRE_TOOL_USE, LS).blocked))
    thread.start()
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
    hooks.close(0)
    thread.join(60)
    assert said == [True]  # a guard that gave no answer
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_that_a_hook_raises_is_its_failure_and_the_bridge_goes_on(
    error: type[BaseException],
) -> None:
    engine = Engine()

    async def interrupts(_call: ToolCall) -> None:
        raise error

    def interrupts_in_a_thread(_call: ToolCall) -> None:
        raise error

    engine.add(PRE_TOOL_USE, interrupts)
    engine.add(PRE_TOOL_USE, interrupts_in_a_thread)
    with Blocking(engine) as hooks:
        session = hooks.session("s")
        for _ in range(2):
            assert session.dispatch(PRE_TOOL_USE, LS).blocked
        assert [run.status for run in engine.journal.recent()] == ["failed"] * 4

        async def raises() -> None:
            raise error

        with pytest.raises(error):
            hooks.wait_for(raises())
        assert session.dispatch(PRE_TOOL_USE, LS).blocked


def test_the_child_of_a_fork_has_an_engine_and_a_bridge_of_its_own() -> None:
    code = """
import asyncio, os, threading
from hookline import Blocking, Engine, deny
from hookline.events import PRE_TOOL_USE, ToolCall
LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
from hookline.model.errors import EngineClosedError
from hookline.handlers.process.pool import Processes
from hookline.handlers.command import CommandHandler
from hookline.handlers.function import FunctionHandler
pool = Processes()
handlers = {"command": CommandHandler(pool, close_within=0), "function": FunctionHandler()}
engine = Engine(handlers=handlers)
engine.add(PRE_TOOL_USE, "cat >/dev/null; exit 2", "Bash", name="command")
engine.add(PRE_TOOL_USE, lambda call: deny("no"), "Bash", name="function")
engine.add(PRE_TOOL_USE, "echo up; sleep 60", "Slow", name="slow")
hooks = Blocking(engine)
session = hooks.session("s")
def reasons(): return sorted(vote.by for vote in session.dispatch(PRE_TOOL_USE, LS).votes)
before = reasons()
def wait():
    try: session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Slow"))
    except EngineClosedError: pass
slow = threading.Thread(target=wait, daemon=True)
slow.start()
while "slow" not in [each.hook for each in engine.status.now()]: pass
while not pool.alive: pass
watchdog = pool.watchdog.pid
child = os.fork()
if not child:
    held = [os.readlink(fd) for fd in (f"/proc/self/fd/{number}" for number in range(3, 64)) if os.path.lexists(fd)]
    alone = not any("pidfd" in name or "pipe" in name for name in held) and pool.alive == 0
    same = reasons() == before and asyncio.run(engine.session("t").dispatch(PRE_TOOL_USE, LS)).blocked
    own = pool.watchdog.pid != watchdog
    hooks.close(0)
    again = os.fork() or os._exit(hooks.close() or 7)
    closed = os.waitstatus_to_exitcode(os.waitpid(again, 0)[1]) == 7
    problems = [] if alone and same and own and closed else [held, pool.alive, same, own, closed]
    os._exit(print(*problems, end="", flush=True) or len(problems))
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, before, slow.is_alive(), pool.alive, pool.watchdog.pid == watchdog, reasons() == before)
hooks.close(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("0 ['command', 'function'] True 1 True True\n", "")
