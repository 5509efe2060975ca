"""A pool with interpreters started ahead, for tests: runs scripts and waits until they run warm."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from hookline.extending import RawResult
from hookline.handlers.process.pool import Processes
from hookline.handlers.warm.scripts import WarmScripts
from tests.waiting import LONG

T = TypeVar("T")
PYTHON = "/usr/bin/python3"


def finished(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        async with asyncio.timeout(LONG):
            return await work

    return asyncio.run(limited())


class WarmRuns:
    """Use it with `async with`: everything that it started is gone afterwards."""

    def __init__(
        self, directory: Path, *, children: int = 2, containment: Literal["group", "subreaper"] = "group"
    ) -> None:
        self.directory = directory
        self.scripts = WarmScripts(children=children, after=1)
        self.processes = Processes(containment=containment, warm=self.scripts)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(directory), "LANG": "C.UTF-8"}
        self._number = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.processes.close()
        self.scripts.close()

    def write(self, text: str, name: str = "script.py") -> Path:
        file = self.directory / name
        file.write_text(text, encoding="utf-8")
        return file

    async def run(
        self,
        script: Path | str,
        *args: str,
        env: Mapping[str, str] | None = None,
        python: str = PYTHON,
        timeout: float = LONG,
        warm: bool = True,
        files: Sequence[bytes] = (),
        stdin: bytes = b"",
    ) -> Any:
        self._number += 1
        return await self.processes.run(
            [python, str(script), *args], stdin=stdin, env={**self.env, **(env or {})}, cwd=str(self.directory),
            timeout=timeout, run_id=str(self._number), warm=warm, files=files,
        )  # fmt: skip

    async def warm(self, script: Path | str, *args: str, **more: Any) -> Any:
        """The first result that is warm. The script is run cold before that."""
        while True:
            result: RawResult = await self.run(script, *args, **more)
            if getattr(result, "warm", None) is True:
                return result
            await asyncio.sleep(0.02)
            self.scripts.tend()

    async def ready(self, count: int = 2) -> list[int]:
        """Wait until as many processes wait for a job, and return their pids."""
        script = self.write("pass", "ready.py")
        await self.warm(script)
        while True:
            self.scripts.tend()
            waiting = list(self.scripts.waiting)
            if len(waiting) >= count:
                return waiting
            await asyncio.sleep(0.02)
