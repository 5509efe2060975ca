"""Files that hooks want watched: each change of one is an event. Files are compared, so nothing is told twice."""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from importlib import import_module
from typing import Any, Literal

from hookline.agent.storms import Storms

_Mark = tuple[int, int, int]
Change = Literal["add", "change", "unlink"]
#: A directory that is watched stands for its files, up to so many.
_MOST_FILES = 1000
_LOOKED_AT = 0.5
_SETTLES = 0.05


def _ignore(told: str) -> None:
    del told


class FileWatch:
    """Run it as a task beside the agent. `changed` is awaited for each change, one after another."""

    def __init__(
        self, changed: Callable[[str, Change], Awaitable[None]], storms: Storms | None = None
    ) -> None:
        self._changed = changed
        self._storms = storms if storms is not None else Storms(_ignore)
        self._paths: set[str] = set()
        self._marks: dict[str, _Mark] = {}
        self._held: Counter[str] = Counter()
        self._again = asyncio.Event()
        self._over = False

    def add(self, paths: Iterable[str]) -> None:
        """Watch these as well: files that are or may come to be, and directories for what is in them."""
        new = set(paths) - self._paths
        if new:
            self._paths |= new
            self._marks |= _marks(new)
            self._again.set()

    def hold(self, file: str) -> None:
        """A tool of the agent changed this and tells hooks itself: until `seen`, nothing is told of it here."""
        self._held[file] += 1
        self._forget([file])

    def seen(self, file: str) -> None:
        """All hooks have been told; what they did to the file is known as well."""
        self._forget([file])
        self._held[file] -= 1
        if not self._held[file]:
            del self._held[file]

    async def run(self) -> None:
        """Until the task is cancelled or `stop` is called."""
        while not self._over:
            if not self._paths:
                await self._again.wait()
            self._again.clear()
            await self._something_happens()
            for file, change in self._differences():
                if self._storms.passes(file):
                    await self._changed(file, change)
                # What the hooks of this event did to the file is not another one, or they would run for ever.
                self._forget([file])

    def stop(self) -> None:
        self._over = True
        self._again.set()

    def _forget(self, files: Iterable[str]) -> None:
        for file in files:
            now = _mark(file)
            if now is None:
                self._marks.pop(file, None)
            elif self._watches(file):
                # Others must not be marked: they would seem to vanish when all that is watched is looked at.
                self._marks[file] = now

    def _watches(self, file: str) -> bool:
        directory = os.path.dirname(file)
        return file in self._paths or (directory in self._paths and file in _files(directory))

    def _differences(self) -> list[tuple[str, Change]]:
        before, self._marks = self._marks, _marks(self._paths)
        found: list[tuple[str, Change]] = []
        for file, mark in self._marks.items():
            if file not in before:
                found.append((file, "add"))
            elif before[file] != mark:
                found.append((file, "change"))
        found.extend((file, "unlink") for file in before if file not in self._marks)
        return sorted(each for each in found if each[0] not in self._held)

    async def _something_happens(self) -> None:
        watchfiles: Any = import_module("watchfiles")  # only for who has something to watch
        if _marks(self._paths) != self._marks:
            # While hooks of another change ran. Whoever writes gets a moment to finish.
            await asyncio.sleep(_SETTLES)
            return
        try:
            async for _ in watchfiles.awatch(
                *_directories(self._paths),
                recursive=False,
                stop_event=self._again,
                step=50,
                rust_timeout=500,
                yield_on_timeout=True,
            ):
                if self._again.is_set() or _marks(self._paths) != self._marks:
                    return
        except (OSError, RuntimeError):
            # A directory went away at the wrong moment, or the system has no watches left: then we look.
            await asyncio.sleep(_LOOKED_AT)


def _marks(paths: Iterable[str]) -> dict[str, _Mark]:
    found: dict[str, _Mark] = {}
    for path in paths:
        for file in _files(path):
            mark = _mark(file)
            if mark is not None:
                found[file] = mark
    return found


def _files(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            inside = [entry.path for _count, entry in zip(range(_MOST_FILES), entries, strict=False)]
    except OSError:
        return [path]
    return [file for file in inside if not os.path.isdir(file)]


def _mark(file: str) -> _Mark | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _directories(paths: Iterable[str]) -> list[str]:
    """The nearest directory of each that exists: one that comes back is seen by its parent."""
    found: set[str] = set()
    for path in paths:
        directory = path
        while not os.path.isdir(directory) and directory != os.path.dirname(directory):
            directory = os.path.dirname(directory)
        found.add(directory)
    return sorted(found)
