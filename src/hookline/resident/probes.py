"""Which paths a piece of code has looked at, and whether they are still as they were then.

Configuration is looked for in some hundred places, and which ones depends on what is found. The resident keeps what
was read as long as nothing of all that has changed. So that no place can be forgotten, the functions of the system
that look at paths are recorded while configuration is read, by exchanging them in the module `os` for so long.
"""

import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final

#: Nanoseconds: a file that changed so shortly before may change again without a trace, in the same tick of the clock.
_TICK: Final = 50_000_000
_LOOKING: Final = ("stat", "lstat", "open", "listdir", "scandir", "readlink", "access")
_LISTING: Final = frozenset(("listdir", "scandir"))
# As they are, also while those of the module are exchanged.
_LSTAT: Final = os.lstat
_STAT: Final = os.stat
_ACCESS: Final = os.access

#: In a mark, the times of change follow from here on.
_SETTLED: Final = 5
#: What is compared; None: nothing is there.
Mark = tuple[int, ...] | None


class Probes:
    """Paths with what was found there."""

    def __init__(self) -> None:
        self._there: dict[str, Mark] = {}
        self._missing: list[str] = []
        self._listed: dict[str, Mark] = {}
        self._newest = 0

    def add(self, path: str, *, listed: bool = False) -> None:
        """Remember what is at a path now. The first time counts: what was read later is compared with that."""
        known = self._listed if listed else self._there
        if path in known:
            return
        found = known[path] = _mark(path, listed=listed)
        if found is None and not listed:
            self._missing.append(path)
        elif found is not None and len(found) > _SETTLED:
            self._newest = max(self._newest, *found[_SETTLED:])

    def settled(self, now: int | None = None) -> bool:
        """Whether a change from now on (in nanoseconds) will show."""
        return self._newest < (time.time_ns() if now is None else now) - _TICK

    def hold(self) -> bool:
        """Whether everything is as it was."""
        if any(_ACCESS(path, os.F_OK) for path in self._missing):
            return False
        return all(
            found is None or _mark(path, listed=False) == found for path, found in self._there.items()
        ) and all(_mark(path, listed=True) == found for path, found in self._listed.items())

    def __len__(self) -> int:
        return len(self._there) + len(self._listed)


def _mark(path: str, *, listed: bool) -> Mark:
    try:
        found = _LSTAT(path)
        if stat.S_ISLNK(found.st_mode):
            found = _STAT(path)
    except (OSError, ValueError):
        return None
    facts = (found.st_mode, found.st_ino, found.st_dev, found.st_uid)
    if stat.S_ISDIR(found.st_mode) and not listed:
        # Files come and go in it; those that count are looked at by themselves.
        return facts
    return (*facts, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@contextmanager
def recorded() -> Generator[Probes]:
    """What is looked at meanwhile. Not across an `await`: other code would be recorded as well."""
    probes = Probes()
    own: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in _LOOKING}
    try:
        for name, function in own.items():
            setattr(os, name, _recording(probes, function, listed=name in _LISTING))
        yield probes
    finally:
        for name, function in own.items():
            setattr(os, name, function)


def _recording(probes: Probes, function: Callable[..., Any], *, listed: bool) -> Callable[..., Any]:
    def record(path: Any = ".", *arguments: Any, **options: Any) -> Any:
        if not isinstance(path, int):  # a descriptor of something that was opened by its path
            probes.add(os.path.abspath(os.fsdecode(path)), listed=listed)
        return function(path, *arguments, **options)

    return record
