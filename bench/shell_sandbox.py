"""Shell lines run for real where they can do no harm: which forbidden programs does each of them start?

    with Sandbox() as sandbox:
        for ran in sandbox.run([("bash", "env rm y"), ("dash", "echo hi")]):
            print(ran.line, ran.marks)

The lines run as `bash -c LINE` and `sh -c LINE` (dash) in namespaces without rights, without network, with files of
their own that are gone after each line (`bench.shell_room` is what runs inside). The forbidden programs are shims that
leave a mark; all others are the machine's own. A line takes three to five milliseconds.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice, product, repeat
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from msgspec import Struct

SHELLS = ("bash", "dash")
FORBIDDEN = ("rm", "curl")
_ROOM = Path(__file__).with_name("shell_room.py")
_AT_ONCE = 512
_TRIED_EVERY = 100
_ENOUGH = 20.0


class Ran(Struct, frozen=True):
    shell: str
    line: str
    #: The forbidden programs it started, each with the words of its first start, where those are known.
    marks: dict[str, list[str]]
    #: It was not over when its time was; with a mark it is not waited for.
    ended: bool


class SandboxError(Exception):
    """The reason why there is no sandbox here."""


class _Worker:
    """One process in one namespace, which runs one line at a time.

        If the sandbox no longer saw anything, lines would seem to do nothing. So it runs a line that surely starts a
    forbidden program now and then, and at the end.
    """

    def __init__(self, forbidden: Sequence[str]) -> None:
        self._forbidden = forbidden
        self._ran = 0
        self._process = subprocess.Popen(
            [sys.executable, "-ISB", str(_ROOM), *forbidden],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        if not self._answers.readline():
            raise SandboxError(self._last_words())

    def _last_words(self) -> str:
        received = self._process.communicate()[1].decode(errors="replace").strip().splitlines()
        return received[-1] if received else f"exit status {self._process.returncode}"

    def run(self, shell: str, line: str, seconds: float, read_only: bool) -> Ran:
        ran = self._run(shell, line, seconds, read_only)
        self._ran += 1
        if self._ran % _TRIED_EVERY == 0:
            self._try(line)
        return ran

    def _try(self, after: str) -> None:
        for shell, program in product(SHELLS, self._forbidden):
            if program not in self._run(shell, program, _ENOUGH, False).marks:
                raise SandboxError(
                    f"{program} is not seen to start in {shell} any more, after lines like {after!r}"
                )

    def _run(self, shell: str, line: str, seconds: float, read_only: bool) -> Ran:
        self._requests.write(json.dumps([shell, line, seconds, read_only]).encode() + b"\n")
        self._requests.flush()
        answer = self._answers.readline()
        if not answer:
            raise SandboxError(f"{self._last_words()}, at {line!r}")
        marks, ended = json.loads(answer)
        return Ran(shell, line, marks, ended)

    def close(self) -> None:
        if self._process.poll() is None:
            try:
                self._try("the last")
            finally:
                self._process.communicate()


class Sandbox:
    def __init__(self, forbidden: Sequence[str] = FORBIDDEN, workers: int | None = None) -> None:
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._threads = ThreadPoolExecutor(count := workers or os.cpu_count() or 1)
        for _ in range(count):
            self._workers.append(_Worker(forbidden))
            self._free.put(self._workers[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown()
        for worker in self._workers:
            worker.close()

    def run(
        self, lines: Iterable[tuple[str, str]], seconds: float = 2.0, read_only: bool = False
    ) -> Iterator[Ran]:
        """Each line (shell, line) as it went, in their order. At most `seconds` each; `read_only`: in a room in which
        no file can be written."""
        coming = iter(lines)
        while some := list(islice(coming, _AT_ONCE)):
            shells, texts = zip(*some, strict=True)
            yield from self._threads.map(self._run, shells, texts, repeat(seconds), repeat(read_only))

    def reaches(self, line: str, program: str, seconds: float = 2.0) -> tuple[str, ...]:
        """The shells in which the line starts the program."""
        runs = self.run([(shell, line) for shell in SHELLS], seconds)
        return tuple(ran.shell for ran in runs if program in ran.marks)

    def _run(self, shell: str, line: str, seconds: float, read_only: bool) -> Ran:
        worker = self._free.get()
        try:
            return worker.run(shell, line, seconds, read_only)
        finally:
            self._free.put(worker)


@cache
def why_not() -> str | None:
    """Return why there is no sandbox on this machine: unprivileged namespaces may be off, or a shell missing."""
    absent = [path for path in ("/usr/bin/bash", "/usr/bin/dash", "/usr/bin/git") if not os.path.exists(path)]
    if absent:
        return f"{', '.join(absent)} not found"
    try:
        with Sandbox(workers=1):
            return None
    except (SandboxError, OSError) as error:
        return f"no unprivileged namespaces: {error}"
