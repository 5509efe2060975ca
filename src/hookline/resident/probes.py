"""Which paths a piece of code has looked at, and whether they are still as they were then.

Configuration is looked for in some hundred places, and which ones depends on what is found. The resident keeps what
was read as long as nothing of all that has changed. So that no place can be forgotten, the functions of the system
that look at paths are recorded while configuration is read, by exchanging them in the module `os` for so long.
"""

import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

#: Nanoseconds: a file that changed so shortly before may change again without a trace, in the same tick of the clock.
_TICK: Final = 50_000_000
_LOOKING: Final = ("stat", "lstat", "open", "listdir", "scandir", "readlink", "access")
_LISTING: Final = frozenset(("listdir", "scandir"))
# As they are, also while those of the module are exchanged.
_LSTAT: Final = os.lstat
_STAT: Final = os.stat
_ACCESS: Final = os.access

#: File systems whose folders have times that can be relied on; in others each path is looked for.
_LOCAL: Final = frozenset(("ext2", "ext3", "ext4", "xfs", "tmpfs", "overlay", "f2fs", "zfs"))
#: In a mark, the times of change follow from here on.
_SETTLED: Final = 5
#: What is compared; None: nothing is there.
Mark = tuple[int, ...] | None


class Probes:
    """Paths with what was found there."""

    def __init__(self) -> None:
        self._there: dict[str, Mark] = {}
        self._missing = MissingPaths()
        self._listed: dict[str, Mark] = {}
        self._newest = 0

    def add(self, path: str, *, listed: bool = False) -> None:
        """Remember what is at a path now. The first time counts: what was read later is compared with that."""
        known = self._listed if listed else self._there
        if path in known:
            return
        found = known[path] = _mark(path, listed=listed)
        if found is None and not listed:
            self._missing.add(path)
        elif found is not None and len(found) > _SETTLED:
            self._newest = max(self._newest, *found[_SETTLED:])

    def settled(self, now: int | None = None) -> bool:
        """Whether a change from now on (in nanoseconds) will show."""
        return self._newest < (time.time_ns() if now is None else now) - _TICK

    def hold(self) -> bool:
        """Whether everything is as it was."""
        if not self._missing.hold():
            return False
        for path, found in self._there.items():
            if found is not None and _mark(path, listed=False) != found:
                return False
        return all(_mark(path, listed=True) == found for path, found in self._listed.items())

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


class MissingPaths:
    """Paths where nothing is. A folder that has not changed has nothing new in it, so most are not looked for."""

    def __init__(self) -> None:
        self._single: dict[str, None] = {}
        self._folders: dict[str, _Folder] = {}
        self._local: frozenset[int] | None = None

    def add(self, path: str) -> None:
        """Only the first part that is missing counts: as long as it is, so is the rest."""
        while (above := os.path.dirname(path)) != path and not _ACCESS(above, os.F_OK):
            path = above
        if _is_link(path):
            self._single[path] = None
        else:
            self._folders.setdefault(above, _Folder()).missing[path] = None

    def hold(self) -> bool:
        """Whether nothing is there still."""
        for path in self._single:
            if _ACCESS(path, os.F_OK):
                return False
        before = time.time_ns() - _TICK
        for path, folder in self._folders.items():
            try:
                found = _STAT(path)
            except OSError:
                return False
            mark = found.st_ino, found.st_dev, found.st_mtime_ns, found.st_ctime_ns
            if mark == folder.mark:
                continue
            if any(_ACCESS(each, os.F_OK) for each in folder.missing):
                return False
            if self._local is None:
                self._local = _local_devices()
            # What changed just now may change again in the same tick of the clock.
            folder.mark = mark if max(mark[2:]) < before and found.st_dev in self._local else None
        return True


class _Folder:
    """What is missing in a folder, and how the folder was when that was last seen."""

    __slots__ = ("mark", "missing")

    def __init__(self) -> None:
        self.mark: tuple[int, ...] | None = None
        self.missing: dict[str, None] = {}


def _is_link(path: str) -> bool:
    """One that leads nowhere: something may come to be there without a change of the folder."""
    try:
        return stat.S_ISLNK(_LSTAT(path).st_mode)
    except (OSError, ValueError):
        return False


def _local_devices() -> frozenset[int]:
    """Those with file systems of this machine: they change the times of a folder with what is in it, for certain."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as stream:
            mounts = [line.partition(" - ") for line in stream]
    except OSError:
        return frozenset()
    numbers = (mount.split()[2].split(":") for mount, _, kind in mounts if kind.partition(" ")[0] in _LOCAL)
    return frozenset(os.makedev(int(major), int(minor)) for major, minor in numbers)


class Remembered(Generic[T]):
    """What was found out by looking at paths, by key, each for as long as those paths are as they were."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, tuple[T, Probes]] = OrderedDict()

    def get(self, key: Hashable, find: Callable[[], T]) -> T:
        """What `find` returns, or has returned. It must depend on nothing but the key and on paths."""
        known = self._found.get(key)
        if known is not None and known[1].hold():
            self._found.move_to_end(key)
            return known[0]
        with recorded() as probes:
            value = find()
        if probes.settled():
            self._found[key] = value, probes
            if len(self._found) > self._most:
                self._found.popitem(last=False)
        else:
            self._found.pop(key, None)
        return value


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
