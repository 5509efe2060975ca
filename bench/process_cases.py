"""Hard days for the process runner: each case runs real processes and says what it saw, without judging.

The tests run them small and judge counts; the soak runs them large and judges milliseconds too. Cases that
change the whole process, or end it, run in a separate one: `python -m bench.process_cases NAME ...`.
"""

import asyncio
import gc
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.handlers.process import procfs
from hookline.handlers.process.containment import become_subreaper, children
from hookline.handlers.process.pool import Processes, Slots
from hookline.handlers.process.run import RunLimits
from hookline.model.raw import Exited, Failed, RawResult

ROOT = Path(__file__).resolve().parents[1]
MARK = "SCENE_MARK"

#: Ways of getting away from the process that kills a hook. Each starts sleepers that outlive any test.
ESCAPES: Mapping[str, str] = {
    "pipeline": "sleep 61 | cat",
    "ignores TERM": "trap '' TERM; sleep 61 | cat; sleep 61",
    "nohup": "nohup sleep 61 >/dev/null 2>&1 & sleep 61",
    "setsid": "setsid sleep 61 & sleep 61",
    "daemon": "(setsid sh -c 'sleep 61 & sleep 61' &) ; sleep 61",
    "disown": "bash -c 'sleep 61 & disown; sleep 61'",
    "re-exec loop": 'export LOOP=\'sleep 0.02; setsid sh -c "$LOOP" & exit\'; setsid sh -c "$LOOP" & sleep 61',
    "fork of 50": "i=0; while [ $i -lt 50 ]; do setsid sleep 61 & i=$((i+1)); done; sleep 61",
}
#: Only a subreaper catches this one.
EMPTIED = "(setsid env -i /bin/sh -c 'sleep 61 & sleep 61' </dev/null >/dev/null 2>&1 &) ; sleep 61"


async def shell(processes: Processes, command: str, seconds: float = 30, **more: Any) -> RawResult:
    """A command line as a hook would run."""
    more = {"env": dict(os.environ), "cwd": "/", "run_id": os.urandom(4).hex(), **more}
    return await processes.run(["/bin/sh", "-c", command], timeout=seconds, **more)


def with_mark(mark: str) -> dict[str, str]:
    return {**os.environ, MARK: mark}


def living(mark: str) -> list[int]:
    """Processes, but for ourselves, whose environment carries the mark."""
    prefix = f"{MARK}={mark}".encode()
    return [
        process.pid
        for process in procfs.all_processes()
        if process.alive and process.pid != os.getpid() and procfs.variable(process.pid, prefix) is not None
    ]


def alive_children(but: int | None = None) -> list[int]:
    seen = (procfs.process_info(pid) for pid in children())
    return [process.pid for process in seen if process and process.alive and process.pid != but]


def daemon() -> int:
    """Bytes of memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


class Held(Struct, frozen=True):
    """The resources of a process that could leak."""

    fds: int
    zombies: int
    threads: int
    tasks: int
    memory: int

    @staticmethod
    def now() -> "Held":
        gc.collect()
        states = [process.alive for process in map(procfs.process_info, children()) if process]
        return Held(
            len(os.listdir("/proc/self/fd")), states.count(False), threading.active_count(),
            len(asyncio.all_tasks()), daemon(),
        )  # fmt: skip


async def many(coroutines: Sequence[Any], at_once: int) -> list[Any]:
    gate = asyncio.Semaphore(at_once)

    async def one(coroutine: Any) -> Any:
        async with gate:
            return await coroutine

    return list(await asyncio.gather(*map(one, coroutines)))


def said(result: RawResult) -> str:
    if isinstance(result, Exited):
        return f"exited {result.code}" + (" truncated" if result.truncated else "")
    return result.cause if isinstance(result, Failed) else type(result).__name__


def setter(event: asyncio.Event) -> Callable[[bytes], None]:
    return lambda _line: event.set()


# R1


class Mixed(Struct, frozen=True):
    before: Held
    after: Held
    results: Mapping[str, int]


_BIG = b"x" * 1_000_000


async def mixed(count: int) -> Mixed:
    """Good, failing, late, loud and deaf hooks, a fifth each."""
    processes = Processes()
    kinds: list[dict[str, Any]] = [
        {"command": "exit 0"},
        {"command": "exit 1"},
        {"command": "sleep 30", "seconds": 0.02},
        {"command": "head -c 3000000 /dev/zero"},
        {"command": "exit 0", "stdin": _BIG},
    ]
    await many([shell(processes, **kind) for kind in kinds * 8], 32)
    before = Held.now()
    seen: Counter[str] = Counter()
    for _ in range(0, count, 500):
        some = [_word(shell(processes, **kinds[index % 5])) for index in range(min(count, 500))]
        seen.update(await many(some, 32))
    after = Held.now()
    await processes.close()
    return Mixed(before, after, dict(seen))


async def _word(run: Awaitable[RawResult]) -> str:
    """Only a word is kept of each: what the results hold is not what the runner holds."""
    return said(await run)


# R2


class Escaped(Struct, frozen=True):
    runs: int
    survivors: Mapping[str, int]
    zombies: int
    #: Seconds between the deadline and the result, the longest.
    longest: float


async def escapes(containment: str, rounds: int, seconds: float = 0.4) -> Escaped:
    """Run in a separate process that adopts every orphan: so survivors are counted, not guessed by name."""
    become_subreaper()
    processes = Processes(containment="subreaper" if containment == "subreaper" else "group")
    # One that gets away hides among the runs that have not ended: it runs alone.
    alone = {"emptied environment": EMPTIED} if containment == "subreaper" else {}
    survivors: Counter[str] = Counter()
    longest = 0.0
    for _ in range(rounds):
        for together in (ESCAPES, alone):
            took = await asyncio.gather(
                *(_late(processes, command, seconds) for command in together.values())
            )
            longest = max(longest, *took, 0.0)
            for pid in alive_children(but=processes.watchdog.pid):
                survivors[" ".join(together)] += 1
                os.kill(pid, signal.SIGKILL)
    zombies = Held.now().zombies if containment == "subreaper" else 0
    await processes.close()
    return Escaped(rounds * (len(ESCAPES) + len(alone)), dict(survivors), zombies, longest)


async def _late(processes: Processes, command: str, seconds: float) -> float:
    started = time.perf_counter()
    result = await shell(processes, command, seconds)
    if said(result) != "timed_out":
        raise AssertionError(result)
    return time.perf_counter() - started - seconds


# R4


class Cancelled(Struct, frozen=True):
    began: int
    #: Seconds until the canceller had control again, and until the last hook was dead.
    control: float
    dead: float
    left: int
    usable: bool


async def cancelled(count: int) -> Cancelled:
    """Hooks that ignore TERM and keep a child in another session, all cancelled at once."""
    mark = os.urandom(6).hex()
    processes = Processes(Slots(count))
    command = "trap '' TERM; setsid sleep 61 & echo up; sleep 61; sleep 61"
    up = [asyncio.Event() for _ in range(count)]
    tasks = [
        asyncio.create_task(shell(processes, command, env=with_mark(mark), on_line=setter(event)))
        for event in up
    ]
    await asyncio.gather(*(event.wait() for event in up))
    started = time.perf_counter()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    control = time.perf_counter() - started
    while (processes.alive or living(mark)) and time.perf_counter() - started < 20:
        await asyncio.sleep(0.005)
    dead = time.perf_counter() - started
    left = len(living(mark))
    usable = said(await shell(processes, "exit 0")) == "exited 0"
    await processes.close()
    return Cancelled(count, control, dead, left, usable)


# R5


def engine_killed(wait: float, settle: float = 1.0) -> tuple[int, int]:
    """Hooks alive when an engine is killed with SIGKILL after `wait` seconds, and `settle` seconds later."""
    mark = os.urandom(6).hex()
    engine = subprocess.Popen(
        [sys.executable, "-m", "bench.process_cases", "victim"],
        cwd=ROOT, env=with_mark(mark), stdout=subprocess.PIPE,
    )  # fmt: skip
    if engine.stdout is None:
        raise AssertionError
    with engine.stdout as up:
        up.readline()
    time.sleep(wait)
    before = len(living(mark)) - 1
    engine.kill()
    engine.wait()
    until = time.monotonic() + settle
    while living(mark) and time.monotonic() < until:
        time.sleep(0.01)
    left = living(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return before, len(left)


async def victim() -> None:
    """Return an engine with hooks of every kind running, forever."""
    processes = Processes(Slots(64))
    up = [asyncio.Event() for _ in ESCAPES]
    runs = [
        shell(processes, f"echo up; {command}", on_line=setter(event))
        for command, event in zip(ESCAPES.values(), up, strict=True)
    ]
    tasks = [asyncio.ensure_future(run) for run in runs]
    await asyncio.gather(*(event.wait() for event in up))
    print("up", flush=True)
    await asyncio.gather(*tasks)


# R6


class Flood(Struct, frozen=True):
    results: Mapping[str, int]
    kept_stdout: int
    kept_stderr: int
    #: Bytes of memory more than before at the peak; seconds the loop stood still at the longest.
    growth: int
    stall: float
    drained: bool


async def floods(count: int, seconds: float, *, endless: bool, at_once: int = 1) -> Flood:
    """Hooks that never stop talking. `endless` lets them, until their deadline."""
    bounds = RunLimits(flood=1 << 60) if endless else RunLimits()
    processes = Processes(bounds=bounds)
    await shell(processes, "head -c 2000000 /dev/zero")
    before = daemon()
    worst = {"memory": before, "stall": 0.0}
    watcher = asyncio.create_task(_watch_loop(worst))
    kept = await many(
        [_kept(shell(processes, "yes out & yes err >&2", seconds)) for _ in range(count)], at_once
    )
    watcher.cancel()
    await processes.close()
    return Flood(
        dict(Counter(word for word, *_ in kept)), max(out for _, out, *_ in kept), max(err for *_, err, _ in kept),
        int(worst["memory"] - before), worst["stall"], all(truncated for *_, truncated in kept),
    )  # fmt: skip


async def _kept(run: Awaitable[RawResult]) -> tuple[str, int, int, bool]:
    result = await run
    if not isinstance(result, Failed):
        raise TypeError(result)
    return said(result), len(result.stdout), len(result.stderr), result.truncated


async def _watch_loop(worst: dict[str, float]) -> None:
    last = time.perf_counter()
    while True:
        await asyncio.sleep(0.005)
        now = time.perf_counter()
        worst["stall"] = max(worst["stall"], now - last - 0.005)
        worst["memory"] = max(worst["memory"], daemon())
        last = time.perf_counter()


# R7


class Unread(Struct, frozen=True):
    results: Mapping[str, int]
    #: Seconds an unread document costs more than none; seconds past the deadline of one that never reads.
    slower: float
    overrun: float


async def unread_stdin(count: int) -> Unread:
    processes = Processes()
    document = b"x" * 5_000_000
    results: list[RawResult] = []
    slower: list[float] = []
    for _ in range(count):
        started = time.perf_counter()
        results.append(await shell(processes, "exit 7"))
        bare = time.perf_counter() - started
        results.append(await shell(processes, "exit 7", stdin=document))
        slower.append(time.perf_counter() - started - 2 * bare)
    overruns = await many([_deaf(processes, document) for _ in range(max(count // 10, 2))], 4)
    await processes.close()
    slower.sort()
    return Unread(dict(Counter(map(said, results))), slower[int(len(slower) * 0.99)], max(overruns))


async def _deaf(processes: Processes, document: bytes) -> float:
    started = time.perf_counter()
    result = await shell(processes, "sleep 30", 0.3, stdin=document)
    if said(result) != "timed_out":
        raise AssertionError(result)
    return time.perf_counter() - started - 0.3


# R8


class HeldPipes(Struct, frozen=True):
    flagged: int
    whole: int
    longest: float
    left: int


async def held_pipes(count: int) -> HeldPipes:
    """A hook that says something and ends, and leaves a child behind that keeps its pipes open."""
    mark = os.urandom(6).hex()
    processes = Processes()

    async def one() -> tuple[bool, bool, float]:
        started = time.perf_counter()
        result = await shell(processes, "setsid sleep 61 & seq 2000; exit 3", env=with_mark(mark))
        took = time.perf_counter() - started
        if not isinstance(result, Exited) or result.code != 3:
            raise AssertionError(result)
        return result.pipes_held, result.stdout.endswith(b"\n2000\n"), took

    seen = await many([one() for _ in range(count)], 4)
    left = len(living(mark))
    await processes.close()
    return HeldPipes(sum(s[0] for s in seen), sum(s[1] for s in seen), max(s[2] for s in seen), left)


# R9


class Crowd(Struct, frozen=True):
    results: Mapping[str, int]
    most_waited_ms: float
    slowest: float


async def crowd(count: int, slots: int, seconds: float) -> Crowd:
    """Many Python hooks at once. Those in line must not lose time that is theirs."""
    processes = Processes(Slots(slots))
    program = "import json, sys; json.load(sys.stdin)"
    started = time.perf_counter()
    results = await asyncio.gather(
        *(
            processes.run(
                [sys.executable, "-I", "-S", "-c", program], stdin=b"{}", env=dict(os.environ), cwd="/",
                timeout=seconds, run_id=str(index),
            )
            for index in range(count)
        )
    )  # fmt: skip
    slowest = time.perf_counter() - started
    await processes.close()
    waited = max(result.queue_ms for result in results if isinstance(result, Exited | Failed))
    return Crowd(dict(Counter(map(said, results))), waited, slowest)


# Scenes in a separate process


def alone(*words: str, seconds: float = 300) -> Any:
    """Run a scene of this module in a separate process and return what it saw."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench.process_cases", *words],
        cwd=ROOT, capture_output=True, timeout=seconds, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return json.loads(done.stdout)


def main(name: str, *words: str) -> None:
    import msgspec

    if name == "victim":
        asyncio.run(victim())
        return
    random.seed()
    seen = asyncio.run(escapes(words[0], int(words[1]), float(words[2])))
    print(msgspec.json.encode(seen).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
