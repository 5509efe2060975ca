"""Warm scripts at full counts: parity on every interpreter, and many runs with kills at random."""

import asyncio
import os
import random
import signal
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from bench.findings import Finding
from hookline.handlers.process.containment import children
from tests.handlers.warm.parity import Differences, interpreters, scripts
from tests.handlers.warm.warm_runs import WarmRuns

#: Scripts until the next line of progress.
_AT_A_TIME = 50
_RUNS = 5_000
_KILLS = 200


async def warm(say: Callable[[str], None]) -> Iterable[Finding]:
    found: list[Finding] = []
    for python in interpreters():
        with tempfile.TemporaryDirectory() as directory:
            differences, unlike, every = Differences(python, Path(directory)), list[str](), scripts()
            for start in range(0, len(every), _AT_A_TIME):
                unlike += await differences.among(every[start : start + _AT_A_TIME])
                say(f"{python}: {differences.compared} scripts")
        for each in unlike:
            say(each)
        name = f"scripts of {differences.compared} that differ warm, {python}"
        found.append(Finding(name, str(len(unlike)), "0", not unlike))
    found += await _many_runs(say)
    found += await _kills(say)
    return found


async def _many_runs(say: Callable[[str], None]) -> list[Finding]:
    """Nothing leaks."""
    with tempfile.TemporaryDirectory() as directory:
        async with WarmRuns(Path(directory)) as runs:
            await runs.ready()
            script = runs.write("import json, sys; print(json.dumps(sys.argv[1:]))")
            before, size, wrong = 0, 0, 0
            for number in range(_RUNS):
                result = await runs.run(script, str(number))
                wrong += result.stdout != b'["%d"]\n' % number
                if number % 1000 == 999:
                    say(f"{number + 1} runs")
                if number == _RUNS // 5:
                    before, size = len(os.listdir("/proc/self/fd")), _daemon_bytes()
            await asyncio.sleep(1)
            runs.scripts.tend()
            more, grown = len(os.listdir("/proc/self/fd")) - before, _daemon_bytes() - size
            say(f"{_RUNS} runs: {dict(runs.scripts.runs)}")
    left = children()
    return [
        Finding(f"wrong answers of {_RUNS} warm runs", str(wrong), "0", not wrong),
        Finding("descriptors leaked by them", str(max(more, 0)), "<= 8", more <= 8),
        Finding("memory grown by them", f"{grown / 1e6:.1f} MB", "<= 5 MB", grown <= 5_000_000),
        Finding("processes left by them", str(len(left)), "0", not left),
    ]


async def _kills(say: Callable[[str], None]) -> list[Finding]:
    """The zygote, a process that waits or one that runs is killed: the answer is right, or it is a failure."""
    chosen = random.Random(17)
    wrong = twice = 0
    with tempfile.TemporaryDirectory() as directory:
        async with WarmRuns(Path(directory)) as runs:
            script = runs.write("import sys; open(sys.argv[1], 'a').write('x'); print('done'); sys.exit(2)")
            for number in range(_KILLS):
                await runs.warm(runs.write("pass", "ready.py"))
                mark = os.path.join(directory, f"ran{number}")
                running = asyncio.ensure_future(runs.run(script, mark))
                await asyncio.sleep(chosen.random() * 0.01)
                victims = [*runs.scripts.zygotes, *runs.scripts.waiting, *(children() - runs.scripts.pids)]
                victims = [pid for pid in victims if pid != runs.processes.watchdog.pid]
                if victims:
                    with suppress(ProcessLookupError):
                        os.kill(chosen.choice(victims), signal.SIGKILL)
                result = await running
                answered = getattr(result, "code", None) == 2 and result.stdout == b"done\n"
                failed = getattr(result, "cause", None) == "signalled"
                wrong += not (answered or failed)
                twice += os.path.exists(mark) and Path(mark).read_text() != "x"
                if not runs.scripts.zygotes:
                    runs.scripts.close()  # it would be tried again in a few seconds
            say(f"{_KILLS} kills: {dict(runs.scripts.runs)}")
    return [
        Finding(f"wrong answers after {_KILLS} kills", str(wrong), "0", not wrong),
        Finding("scripts run twice after a kill", str(twice), "0", not twice),
    ]


def _daemon_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
