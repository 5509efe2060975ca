"""Test cancellation from outside: nothing is left running, everything is on record, and the engine continues."""

import asyncio
import os
import subprocess
import sys

import anyio
import pytest

from hookline import Engine
from hookline.events import PRE_TOOL_USE, ToolCall
from tests.waiting import until

LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
HOOKS = 50
#: Ignores TERM, and leaves a child that ignores it too.
STUBBORN = "echo $$ >> {file}; trap '' TERM; sh -c 'trap \"\" TERM; sleep 60' & sleep 60; wait"


def alive(pids: list[int]) -> list[int]:
    living: list[int] = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] != "Z":
                    living.append(pid)
        except OSError:
            pass
    return living


def stubborn_engine(file: str) -> Engine:
    from hookline.handlers.process.pool import Processes, Slots
    from hookline.handlers.registry import standard_handlers

    engine = Engine(handlers=standard_handlers(processes=Processes(Slots(HOOKS))))
    for number in range(HOOKS):
        engine.add(PRE_TOOL_USE, STUBBORN.format(file=file), name=f"h{number}", timeout=60)
    return engine


async def all_started(file: str) -> list[int]:
    for _ in range(600):
        await asyncio.sleep(0.05)
        if os.path.exists(file):
            with open(file) as stream:
                pids = [int(line) for line in stream]
            if len(pids) == HOOKS:
                return pids
    raise AssertionError("the hooks did not start")


async def after_the_call(engine: Engine, pids: list[int]) -> None:
    """Everything is dead soon, every run is on record, and the engine still works."""
    await until(lambda: not alive(pids))
    assert [run.status for run in engine.journal.recent()] == ["cancelled"] * HOOKS
    engine.swap([])
    for hook in engine.hooks:
        engine.remove(hook)
    engine.add(PRE_TOOL_USE, "exit 2", name="after")
    assert (await engine.session("t").dispatch(PRE_TOOL_USE, LS)).blocked
    await engine.close()


def test_cancelling_the_task_kills_every_running_hook(tmp_path: object) -> None:
    file = f"{tmp_path}/pids"

    async def story() -> None:
        engine = stubborn_engine(file)
        task = asyncio.create_task(engine.session("s").dispatch(PRE_TOOL_USE, LS))
        pids = await all_started(file)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await after_the_call(engine, pids)

    asyncio.run(story())


def test_an_anyio_scope_kills_every_running_hook(tmp_path: object) -> None:
    file = f"{tmp_path}/pids"

    async def story() -> None:
        engine = stubborn_engine(file)
        pids: list[int] = []
        async with anyio.create_task_group() as group:
            group.start_soon(engine.session("s").dispatch, PRE_TOOL_USE, LS)
            pids.extend(await all_started(file))
            group.cancel_scope.cancel()
        await after_the_call(engine, pids)

    anyio.run(story)


def test_cancelling_an_async_function_hook_reaches_it() -> None:
    reached: list[str] = []

    async def story() -> None:
        engine = Engine()

        @engine.on(PRE_TOOL_USE)
        async def waits(_call: ToolCall) -> None:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                reached.append("cancelled")
                raise

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await engine.session("s").dispatch(PRE_TOOL_USE, LS)
        assert [run.status for run in engine.journal.recent()] == ["cancelled"]
        assert engine.status.now() == ()

    asyncio.run(story())
    assert reached == ["cancelled"]


def test_a_loop_that_is_closed_in_mid_dispatch_leaves_no_process_and_little_noise(tmp_path: object) -> None:
    code = """
import asyncio, gc, os
from hookline import Engine
from hookline.events import PRE_TOOL_USE, STOP, ToolCall, TurnAnswer
LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
engine = Engine()
for number in range(3):
    engine.add(PRE_TOOL_USE, f"trap '' TERM; setsid sleep 60 & echo $! >> pids; echo $$ >> pids; sleep 60 # {number}")
engine.add(STOP, "echo $$ >> pids; sleep 60", waiting="rewake")
async def waits(call): await asyncio.sleep(60)
engine.add(PRE_TOOL_USE, waits)
engine.add(PRE_TOOL_USE, lambda call: None)
loop = asyncio.new_event_loop()
session = engine.session("s")
dispatch = loop.create_task(session.dispatch(PRE_TOOL_USE, LS))
async def begin():
    await session.dispatch(STOP, TurnAnswer())
    while not os.path.exists("pids") or len(open("pids").readlines()) < 7: await asyncio.sleep(0.01)
loop.run_until_complete(begin())
loop.close()
states = []
for pid in open("pids"):
    try: states.append(open(f"/proc/{pid.strip()}/stat").read().rpartition(")")[2].split()[0])
    except OSError: pass
print([state for state in states if state != "Z"])
del loop, dispatch, session
gc.collect()
async def again(): return (await engine.session("t").dispatch(STOP, TurnAnswer())).blocked
print(asyncio.run(again()))
asyncio.run(engine.close(0))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=str(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "[]\nFalse\n", done.stderr
    translated, noise = partition_lines(done.stderr)
    assert noise <= {"Task was destroyed but it is pending!"}
    # Once, of the hook in the second loop: that of the first one was destroyed with it.
    assert [line.partition("ended: ")[2][:11] for line in translated] == ["echo $$ >> "]


def partition_lines(stderr: str) -> tuple[list[str], set[str]]:
    """The warnings that the engine was not closed in time, and all other lines without those that tell of a task."""
    lines = [line for line in stderr.splitlines() if not line.startswith(("task: <Task pending", "  "))]
    translated = [line for line in lines if "RuntimeWarning: hooks were still running" in line]
    return translated, set(lines) - set(translated)


def test_an_interrupt_on_the_main_thread_reaches_the_host_and_ends_the_other_hooks(tmp_path: object) -> None:
    engine, file = Engine(), f"{tmp_path}/pids"

    async def interrupts(_call: ToolCall) -> None:
        await until(lambda: os.path.exists(file) and os.path.getsize(file))
        raise KeyboardInterrupt

    engine.add(PRE_TOOL_USE, interrupts)
    engine.add(PRE_TOOL_USE, STUBBORN.format(file=file))
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(engine.session("s").dispatch(PRE_TOOL_USE, LS))
    assert [run.status for run in engine.journal.recent()] == ["cancelled"]
    loop.close()
    with open(file) as stream:
        assert alive([int(line) for line in stream]) == []
    asyncio.run(engine.close())
