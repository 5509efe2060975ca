"""Files that hooks want watched: each change of one is an event. Files are compared, so nothing is told twice."""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal

from hookline.agent.storms import Storms
from hookline.config.file_changes import Mark, mark, standing_directories, until_different

Change = Literal["add", "change", "unlink"]
#: A directory that is watched stands for its files, up to so many.
_MOST_FILES = 1000
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
        self._marks: dict[str, Mark] = {}
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
            now = mark(file)
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
        for file, now in self._marks.items():
            if file not in before:
                found.append((file, "add"))
            elif before[file] != now:
                found.append((file, "change"))
        found.extend((file, "unlink") for file in before if file not in self._marks)
        return sorted(each for each in found if each[0] not in self._held)

    async def _something_happens(self) -> None:
        if _marks(self._paths) != self._marks:
            # While hooks of another change ran. Whoever writes gets a moment to finish.
            await asyncio.sleep(_SETTLES)
            return
        await until_different(standing_directories(self._paths), self._again, self._different)

    def _different(self) -> bool:
        return self._again.is_set() or _marks(self._paths) != self._marks


def _marks(paths: Iterable[str]) -> dict[str, Mark]:
    found: dict[str, Mark] = {}
    for path in paths:
        for file in _files(path):
            now = mark(file)
            if now is not None:
                found[file] = now
    return found


def _files(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            inside = [entry.path for _count, entry in zip(range(_MOST_FILES), entries, strict=False)]
    except OSError:
        return [path]
    return [file for file in inside if not os.path.isdir(file)]
