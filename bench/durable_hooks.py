"""What durable hooks cost, and part durable of the soak: ten thousand jobs, and fifty kills."""

import asyncio
import os
import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from time import perf_counter

from bench.findings import Finding
from bench.ratios import many, ratio, run
from hookline import Engine
from hookline.durable.file import DurableFile
from hookline.durable.port import Job
from hookline.events import POST_TOOL_USE
from hookline.model.payloads import ToolResult
from tests.durable.kills import SLOTS, Plan, play, stopped_past_lease

JOBS, KILLS = 10_000, 50
#: A page of the file holds one job or several: of one size alone, one byte could make the difference.
_BYTES = range(300, 3500, 67)
_DEAREST = 1.5
_SLOWEST_MS = 20.0

Say = Callable[[str], None]


def findings() -> list[Finding]:
    """For `make bench`."""
    cost = run(_enqueue)
    name = "accepting a job beside a bare SQLite insert of its id and bytes"
    wait = asyncio.run(_wake_ms())
    return [
        Finding(name, f"{cost:.2f}x", f"<= {_DEAREST}x", cost <= _DEAREST),
        Finding(
            "from the event to the wake, p50", f"{wait:.1f} ms", f"<= {_SLOWEST_MS:g} ms", wait <= _SLOWEST_MS
        ),
    ]


async def _enqueue() -> float:
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        queue = DurableFile(os.path.join(scratch, "jobs.sqlite"))
        bare = sqlite3.connect(os.path.join(scratch, "bare.sqlite"), isolation_level=None)
        for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"):
            bare.execute(line)
        bare.execute("CREATE TABLE job (id TEXT PRIMARY KEY, body BLOB)")
        bodies = [os.urandom(size) for size in _BYTES]
        ours, theirs = cycle(bodies), cycle(bodies)

        def submit() -> None:
            queue.submit(Job(id=os.urandom(16).hex(), session="s", lane="files", body=next(ours)))

        def insert() -> None:
            bare.execute("INSERT INTO job VALUES (?, ?)", (os.urandom(16).hex(), next(theirs)))

        try:
            return await ratio(many(submit, 50), many(insert, 50), 41)
        finally:
            queue.close()
            bare.close()


async def _wake_ms() -> float:
    """The hook itself is a process: a shell that does nothing but fail."""
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        async with Engine(durable=DurableFile(os.path.join(scratch, "jobs.sqlite"))) as engine:
            engine.add(POST_TOOL_USE, "exit 2", waiting="rewake", durable=True)
            session = engine.session("s", cwd=scratch)
            took: list[float] = []
            for _ in range(60):
                started = perf_counter()
                result = ToolResult(tool_name="Bash", tool_input={"command": "ls"}, tool_response={})
                await session.dispatch(POST_TOOL_USE, result)
                await session.inbox.get()
                took.append(perf_counter() - started)
    return statistics.median(took[10:]) * 1e3


def durable(say: Say, jobs: int = JOBS, kills: int = KILLS) -> Iterator[Finding]:
    """For `make soak`."""
    with tempfile.TemporaryDirectory(prefix="hookline-soak-") as scratch:
        say(f"{jobs} jobs, {kills} kills ...")
        seen = play(Path(scratch, "kills"), Plan(jobs=jobs, kills=kills, seed=19))
        yield Finding(
            "jobs that were accepted",
            str(seen.accepted),
            f">= {jobs - kills * SLOTS}",
            seen.accepted >= jobs - kills * SLOTS,
        )
        yield Finding("of them lost", str(seen.lost), "0", not seen.lost)
        yield Finding("told twice", str(seen.told_twice), "0", not seen.told_twice)
        yield Finding("run by two processes at once", str(seen.overlaps), "0", not seen.overlaps)
        most = seen.kills * SLOTS
        yield Finding(f"run again, {seen.kills} kills", str(seen.reruns), f"<= {most}", seen.reruns <= most)
        stopped = stopped_past_lease(Path(scratch, "stopped"))
        right = (stopped.lost, stopped.told_twice) == (0, 0)
        yield Finding(
            "stopped past the lease: lost, told twice", f"{stopped.lost}, {stopped.told_twice}", "0, 0", right
        )
        mutant = stopped_past_lease(Path(scratch, "mutant"), "settles again")
        yield Finding(
            "the same without its guard", str(mutant.told_twice), "1 told twice", mutant.told_twice == 1
        )
