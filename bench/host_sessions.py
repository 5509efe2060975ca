"""Measure sessions of the host API: memory of each, and how soon hooks end when a call is cancelled."""

import asyncio
import gc
import os
import time
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.findings import Finding
from hookline import Engine, Session
from hookline.events import PRE_TOOL_USE, ToolCall

_SESSIONS = 2_000
_CANCELLED = 9
_GOAL_BYTES = 4096
_GOAL_SIGNALLED_MS, _GOAL_DEAD_MS = 100.0, 1000.0


async def _tool(_arguments: dict[str, Any]) -> str:
    return "done"


async def _passes(_call: ToolCall) -> None: ...


async def _turn(engine: Engine, name: str) -> Session:
    session = engine.session(name, cwd="/proj")
    await session.prompt("hello")
    await session.model([])
    await session.tool("t", {"a": 1}, run=_tool)
    await session.end("bye")
    return session


async def _bytes_per_session() -> float:
    async with Engine() as engine:
        engine.add(PRE_TOOL_USE, _passes)
        for at in range(1_500):  # until the journal, which is bounded, is full
            await _turn(engine, f"before {at}")
        gc.collect()
        tracemalloc.start()
        before, _peak = tracemalloc.get_traced_memory()
        kept = [await _turn(engine, f"session {at}") for at in range(_SESSIONS)]
        gc.collect()
        after, _peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return (after - before) / len(kept)


async def _until(path: Path) -> float:
    while not path.exists():
        await asyncio.sleep(0.001)
    return time.monotonic()


async def _cancelled(directory: Path, *, stubborn: bool) -> float:
    """Milliseconds until a hook has heard of it; until it is dead, if it does not listen."""
    begun, heard = directory / "begun", directory / "heard"
    trap = "trap '' TERM" if stubborn else f"trap 'touch {heard}; exit' TERM"
    command = f"{trap}; echo $$ > {begun}.new; mv {begun}.new {begun}; while :; do sleep 0.01; done"
    async with Engine() as engine:
        engine.add(PRE_TOOL_USE, command)
        call = asyncio.ensure_future(engine.session("s").tool("t", {}, run=_tool))
        await _until(begun)
        pid = int(begun.read_text())
        started = time.monotonic()
        call.cancel()
        if not stubborn:
            return (await _until(heard) - started) * 1e3
        while _is_alive(pid):
            await asyncio.sleep(0.001)
        return (time.monotonic() - started) * 1e3


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def _slowest(*, stubborn: bool) -> float:
    worst = 0.0
    for _ in range(_CANCELLED):
        with TemporaryDirectory() as directory:
            worst = max(worst, await _cancelled(Path(directory), stubborn=stubborn))
    return worst


def findings() -> list[Finding]:
    size = asyncio.run(_bytes_per_session())
    heard, dead = asyncio.run(_slowest(stubborn=False)), asyncio.run(_slowest(stubborn=True))
    return [
        Finding(
            "memory of a session after a turn", f"{size:,.0f} bytes", f"<= {_GOAL_BYTES}", size <= _GOAL_BYTES
        ),
        Finding(
            f"a hook hears of a cancelled call (slowest of {_CANCELLED})",
            f"{heard:.0f} ms",
            f"<= {_GOAL_SIGNALLED_MS:.0f} ms",
            heard <= _GOAL_SIGNALLED_MS,
        ),
        Finding(
            f"a hook that ignores TERM is dead (slowest of {_CANCELLED})",
            f"{dead:.0f} ms",
            f"<= {_GOAL_DEAD_MS:.0f} ms",
            dead <= _GOAL_DEAD_MS,
        ),
    ]


if __name__ == "__main__":
    print(*findings(), sep="\n")
