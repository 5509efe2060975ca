"""Warm Python scripts against the same scripts started anew, in turns in one run."""

import asyncio
import os
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from time import perf_counter

from bench.ratios import ratio
from hookline.handlers.process.pool import Processes
from hookline.handlers.warm.scripts import WarmScripts

#: Not the interpreter of a virtual environment, which runs code of packages when it starts.
PYTHON = "/usr/bin/python3"
#: Runs, a tenth of a second apart, after which the bench gives up.
_MOST_TRIES = 300
CALL = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git status"}}\n'
GUARD = """
import json, re, sys

call = json.load(sys.stdin)
command = call.get("tool_input", {}).get("command", "")
for pattern in (r"\\brm\\s+-[a-z]*r[a-z]*f", r"git\\s+push\\s+.*--force", r"\\bmkfs\\b"):
    if re.search(pattern, command):
        print(json.dumps({"decision": "block", "reason": f"matches {pattern}"}))
        sys.exit(0)
"""
NINE_IMPORTS = (
    "import argparse, datetime, hashlib, logging, pathlib, shutil, subprocess, tempfile, urllib.request\n"
)


class Script:
    """One script, cold or warm, as a command hook of a shell line would run it."""

    def __init__(self, directory: str, text: str) -> None:
        self._file = os.path.join(directory, f"guard{len(text)}.py")
        with open(self._file, "w", encoding="utf-8") as file:
            file.write(text)
        self._line = ["/bin/sh", "-c", f"{PYTHON} {self._file}"]
        self._directory = directory
        self.scripts = WarmScripts()
        self._processes = Processes(warm=self.scripts)
        self._env = {"PATH": "/usr/bin:/bin", "HOME": directory, "LANG": "C.UTF-8"}

    async def run(self, warm: bool) -> float:
        started = perf_counter()
        result = await self._processes.run(
            self._line,
            stdin=CALL, env=self._env, cwd=self._directory, timeout=60, run_id="bench", warm=warm,
        )  # fmt: skip
        took = perf_counter() - started
        if warm and getattr(result, "warm", None) is not True:
            return -1.0
        return took

    async def ready(self) -> None:
        """Until its processes wait and have learned what it imports."""
        learned = 0
        for _ in range(_MOST_TRIES):
            learned += await self.run(True) > 0
            await self.settle()
            if learned == 6:
                return
        raise RuntimeError(f"it does not run warm: {self._why_cold()}")

    async def settle(self) -> None:
        """As between two calls of an agent: a process waits again."""
        await asyncio.sleep(0.1)
        self.scripts.tend()

    async def cold(self) -> float:
        await self.settle()
        return await self.run(False)

    async def warm(self) -> float:
        await self.settle()
        return await self._certain()

    async def second(self) -> float:
        """Of two calls with no pause between them, the second one."""
        await self.settle()
        await self._certain()
        return await self._certain()

    async def _certain(self) -> float:
        for _ in range(_MOST_TRIES):
            took = await self.run(True)
            if took > 0:
                return took
            await self.settle()
        raise RuntimeError(f"it does not run warm any more: {self._why_cold()}")

    def _why_cold(self) -> str | None:
        return self.scripts.why_cold(self._line, self._env, self._directory)

    async def close(self) -> None:
        await self._processes.close()
        self.scripts.close()


async def _against_cold(text: str, measured: Callable[[Script], Callable[[], Awaitable[float]]]) -> float:
    with tempfile.TemporaryDirectory() as directory:
        script = Script(directory, text)
        try:
            await script.ready()
            return await ratio(measured(script), script.cold, 31)
        finally:
            await script.close()


async def guard() -> float:
    return await _against_cold(GUARD, lambda script: script.warm)


async def nine_imports() -> float:
    return await _against_cold(NINE_IMPORTS + GUARD, lambda script: script.warm)


async def second_call() -> float:
    return await _against_cold(GUARD, lambda script: script.second)


async def _milliseconds() -> None:
    """`python -m bench.warm_scripts`: the same in milliseconds."""
    for name, text in (("guard", GUARD), ("nine imports", NINE_IMPORTS + GUARD)):
        with tempfile.TemporaryDirectory() as directory:
            script = Script(directory, text)
            await script.ready()
            took: dict[str, list[float]] = {"cold": [], "warm": [], "second": []}
            for _ in range(25):
                for kind, times in took.items():
                    times.append(await getattr(script, kind)() * 1e3)
            middle = {kind: round(statistics.median(times), 2) for kind, times in took.items()}
            print(name, middle, dict(script.scripts.runs))
            await script.close()


if __name__ == "__main__":
    asyncio.run(_milliseconds())
