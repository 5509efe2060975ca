"""Replay in several processes: each reads some of the transcripts, and their results are added up.

`python -m hookline.history.workers` is such a process: it reads its job from standard input and writes progress
and its result to standard output.
"""

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from threading import Thread
from typing import IO, Any

import msgspec
from msgspec import Struct

from hookline.dialects.dialect import Dialect
from hookline.history.backtest import Backtest, BacktestTotals, Tick
from hookline.history.engines import Configuration, Engines
from hookline.history.outcomes import EventJudge
from hookline.history.sources import TranscriptSource, shares
from hookline.model.errors import HooklineError

#: Below this many bytes, starting a process takes longer than reading them here.
_WORTH_A_PROCESS = 24 * 1024 * 1024
_LENGTH = 8


class ReplayTask(Struct, frozen=True, kw_only=True):
    """Job of one process."""

    sources: tuple[TranscriptSource, ...]
    configuration: Configuration
    #: The configuration to compare with.
    before: Configuration | None = None
    since: float = 0.0
    #: Compute coverage instead of a backtest.
    observe: bool = False


class WorkerError(HooklineError):
    """A process that reads transcripts ended without a result."""


async def work(job: ReplayTask, dialects: Mapping[str, Dialect], tick: Tick) -> Any:
    """Read the sources of a job in this process."""
    engines = Engines(job.configuration, os.environ)
    before = Engines(job.before, os.environ) if job.before is not None else None
    try:
        if job.observe:
            from hookline.history.coverage import Observation  # noqa: PLC0415 only to observe

            return await Observation(engines, job.since, os.environ).read(job.sources, dialects, tick)
        judges = EventJudge(engines), EventJudge(before) if before is not None else None
        return await Backtest(*judges, since=job.since).read(job.sources, dialects, tick)
    finally:
        await engines.close()
        if before is not None:
            await before.close()


def result_type(job: ReplayTask) -> Any:
    if not job.observe:
        return BacktestTotals
    from hookline.history.coverage import CoverageTotals  # noqa: PLC0415 as above

    return CoverageTotals


async def look_back(
    job: ReplayTask, dialects: Mapping[str, Dialect], tick: Tick, processes: int = 2, *, apart: bool = False
) -> Any:
    """Run a job in as many processes as are worth it. `apart`: never in this process, which has to stay responsive."""
    size = sum(source.size for source in job.sources)
    number = min(processes, os.cpu_count() or 1, max(size // _WORTH_A_PROCESS, 1))
    if number < 2 and not apart:
        return await work(job, dialects, tick)
    jobs = [msgspec.structs.replace(job, sources=tuple(part)) for part in shares(job.sources, number)]
    return await asyncio.to_thread(_in_processes, jobs, tick)


def _in_processes(jobs: Sequence[ReplayTask], tick: Tick) -> Any:
    # Without the working directory in its path: a project's modules must not be imported in place of ours.
    command = [sys.executable, "-I", "-m", "hookline.history.workers"]
    far = [0] * len(jobs)
    results: list[Any] = [None] * len(jobs)
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in jobs]
    try:
        threads = [
            Thread(target=_follow, args=(process, job, at, far, results, tick))
            for at, (process, job) in enumerate(zip(running, jobs, strict=True))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
            with process:  # closes its pipes and waits for it
                pass
    if any(result is None for result in results):
        raise WorkerError("a process that reads transcripts ended before it was done")
    total = results[0]
    for other in results[1:]:
        total.add(other)
    return total


def _follow(
    process: "subprocess.Popen[bytes]",
    job: ReplayTask,
    at: int,
    far: list[int],
    results: list[Any],
    tick: Tick,
) -> None:
    """Send one process its job, and read its progress and result."""
    if process.stdin is None or process.stdout is None:
        return
    try:
        process.stdin.write(msgspec.msgpack.encode(job))
        process.stdin.close()
        while (frame := _read_frame(process.stdout)) is not None:
            if frame[:1] == b"t":
                far[at] = int(frame[1:])
                tick(sum(far))
            else:
                results[at] = msgspec.msgpack.decode(frame[1:], type=result_type(job))
    except (OSError, msgspec.DecodeError, ValueError):
        return


def _read_frame(stream: IO[bytes]) -> bytes | None:
    length = stream.read(_LENGTH)
    return stream.read(int.from_bytes(length, "big")) if len(length) == _LENGTH else None


def _write_frame(stream: IO[bytes], frame: bytes) -> None:
    stream.write(len(frame).to_bytes(_LENGTH, "big") + frame)
    stream.flush()


def main() -> None:
    from hookline.dialects.registry import every_dialect  # noqa: PLC0415 the parent has them

    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=ReplayTask)
    # Hooks must not write into our output.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Objects that live until the end need no garbage collection.
    gc.freeze()
    # What is judged leaves none behind either; looking for it would take one part in thirty.
    gc.set_threshold(1_000_000, 20, 20)
    tell: Callable[[int], None] = lambda far: _write_frame(out, b"t%d" % far)  # noqa: E731 - short
    dialects = {dialect.name: dialect for dialect in every_dialect()}
    result = asyncio.run(work(job, dialects, tell))
    _write_frame(out, b"r" + msgspec.msgpack.encode(result))


if __name__ == "__main__":
    main()
