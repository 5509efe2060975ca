"""Measure durable hooks, and run part durable of the soak: ten thousand jobs, and fifty kills."""

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
from bench.ratios import many, many_awaited, ratio, run
from hookline import Engine
from hookline.events import POST_TOOL_USE
from hookline.jobs.file import DurableFile
from hookline.jobs.port import Job
from hookline.journal.file import JournalFile
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.payloads import ToolResult
from tests.jobs.kills import SLOTS, Plan, play, stopped_past_lease, turns

JOBS, KILLS = 10_000, 50
#: A page of the file holds one job or several: of one size alone, one byte could make the difference.
_BYTES = range(300, 3500, 67)
_DEAREST = 1.5
_SLOWEST_MS = 20.0
#: A cost that should be zero may differ by what a busy machine adds.
_SAME = 1.1

Say = Callable[[str], None]


def findings() -> list[Finding]:
    """For `make bench`."""
    cost = run(_enqueue)
    name = "accepting a job beside a bare SQLite insert of its id and bytes"
    wait = asyncio.run(_wake_ms())
    line = run(_journal)
    return [
        Finding(
            "a hook's record in the journal, with a durable queue beside it and without",
            f"{line:.2f}x",
            f"<= {_SAME}x",
            line <= _SAME,
        ),
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
            queue.submit(Job(id=os.urandom(16).hex(), session="s", queue="files", body=next(ours)))

        def insert() -> None:
            bare.execute("INSERT INTO job VALUES (?, ?)", (os.urandom(16).hex(), next(theirs)))

        try:
            return await ratio(many(submit, 50), many(insert, 50), 41)
        finally:
            queue.close()
            bare.close()


async def _journal() -> float:
    """An event with one hook that is waited for, and its line in the file: durable hooks elsewhere change nothing."""
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        engines = [_engine(Path(scratch, name)) for name in ("ours", "theirs")]
        # The same hook in both: what it costs to ask whether it is about a call is no cost of the queue.
        for engine, durable in zip(engines, (True, False), strict=True):
            engine.add(POST_TOOL_USE, "exit 0", matcher="Write", waiting="async", durable=durable)
        await engines[0].session("s", cwd=scratch).dispatch(POST_TOOL_USE, _result("Write"))
        sessions = [engine.session("s", cwd=scratch) for engine in engines]
        ours, theirs = (
            many_awaited(lambda one=one: one.dispatch(POST_TOOL_USE, _result("Bash")), 200)
            for one in sessions
        )
        try:
            return await ratio(ours, theirs, 41)
        finally:
            for engine in engines:
                await engine.close()


def _engine(directory: Path) -> Engine:
    journal = Journal(Redactor({}), file=JournalFile(str(directory / "journal.jsonl")))
    engine = Engine(journal=journal, durable=DurableFile(str(directory / "jobs.sqlite")))
    engine.add(POST_TOOL_USE, _nothing, matcher="Bash")
    return engine


async def _nothing(_result: ToolResult) -> None:
    pass


def _result(tool: str) -> ToolResult:
    return ToolResult(tool_name=tool, tool_input={"command": "ls"}, tool_response={})


async def _wake_ms() -> float:
    """The hook itself is a process: a shell that does nothing but fail."""
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        async with Engine(durable=DurableFile(os.path.join(scratch, "jobs.sqlite"))) as engine:
            engine.add(POST_TOOL_USE, "exit 2", waiting="rewake", durable=True)
            session = engine.session("s", cwd=scratch)
            took: list[float] = []
            for _ in range(60):
                started = perf_counter()
                await session.dispatch(POST_TOOL_USE, _result("Bash"))
                await session.inbox.get()
                took.append(perf_counter() - started)
    return statistics.median(took[10:]) * 1e3


def durable(say: Say, jobs: int = JOBS, kills: int = KILLS) -> Iterator[Finding]:
    """For `make soak`."""
    with tempfile.TemporaryDirectory(prefix="hookline-soak-") as scratch:
        say(f"{jobs} jobs, {kills} kills ...")
        seen = play(Path(scratch, "kills"), Plan(jobs=jobs, turns=turns(kills)), say)
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
        fewer = play(Path(scratch, "forgets"), Plan(jobs=500, turns=turns(10), mutant="forgets"))
        yield Finding(
            "the same, 10 kills, if a session forgets what it was told", f"{fewer.told_twice} told twice", "> 0",
            fewer.told_twice > 0,
        )  # fmt: skip
        stopped = stopped_past_lease(Path(scratch, "stopped"))
        right = (stopped.lost, stopped.told_twice) == (0, 0)
        yield Finding(
            "stopped past the lease: lost, told twice", f"{stopped.lost}, {stopped.told_twice}", "0, 0", right
        )
        mutant = stopped_past_lease(Path(scratch, "mutant"), "settles again")
        yield Finding(
            "the same without its guard", str(mutant.told_twice), "1 told twice", mutant.told_twice == 1
        )
