"""Record paths and variables that loaders read; keep their results until one of them changes.

Configuration is searched for in some hundred paths, and which ones depends on the files found. Loaders read
all of them through their `Disk`, so no path can be forgotten.
"""

import errno
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, TypeVar

from hookline.disk import Disk

T = TypeVar("T")

#: Nanoseconds: a file that changed so shortly before may change again without a trace, in the same tick of
#: the clock.
_TICK: Final = 50_000_000
#: File systems whose directories have reliable times; in others each path is checked.
_LOCAL: Final = frozenset(("ext2", "ext3", "ext4", "xfs", "tmpfs", "overlay", "f2fs", "zfs"))
#: A path that loops by links is not followed further.
_MOST_LINKS: Final = 40
#: The time of the last change, and the compared facts; None if nothing is there.
Mark = tuple[int, ...] | None


class RecordingDisk(Disk):
    """A disk that records the reads of one load. It reads each path once: one load sees one state."""

    def __init__(self) -> None:
        #: By absolute path: its status, or the number of the error.
        self._looks: dict[str, os.stat_result | int] | None = {}
        self._real_paths: dict[str, str] = {}
        self._snapshot = PathSnapshot()

    def end(self) -> "PathSnapshot":
        """Stop recording. Objects that keep this disk, such as trust, read the files themselves from now on."""
        self._looks = None
        self._real_paths = {}
        return self._snapshot

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        return RecordedVariables(env, self._snapshot.variables)

    def lstat(self, path: str) -> os.stat_result:
        found = self._look(path)
        if isinstance(found, int):
            raise OSError(found, os.strerror(found), path)
        return found

    def stat(self, path: str) -> os.stat_result:
        found = self.lstat(path)
        return os.stat(path) if stat.S_ISLNK(found.st_mode) else found

    def exists(self, path: str) -> bool:
        try:
            self.stat(path)
        except (OSError, ValueError):
            return False
        return True

    def open(self, path: str, flags: int) -> int:
        self._look(path)
        return os.open(path, flags)

    def listdir(self, path: str) -> list[str]:
        if self._looks is not None:
            self._look(path)
            self._snapshot.add_listed(os.path.abspath(path))
        return os.listdir(path)

    def realpath(self, path: str) -> str:
        if self._looks is None:
            return os.path.realpath(path)
        known = self._real_paths.get(path)
        if known is None:
            known = self._real_paths[path] = self._follow(path)
        return known

    def _look(self, path: str) -> os.stat_result | int:
        if self._looks is None:
            return os.lstat(path)
        path = path if path[:1] == "/" else os.path.abspath(path)
        found = self._looks.get(path)
        if found is None:
            try:
                found = os.lstat(path)
            except OSError as problem:
                found = problem.errno or errno.EIO
            self._looks[path] = found
            self._snapshot.add(path)
        return found

    def _follow(self, path: str) -> str:
        """Resolve links as `os.path.realpath` does, and record every part of the path."""
        left = os.path.join(os.getcwd(), path).split("/")[::-1]
        real, links = "", 0
        while left:
            name = left.pop()
            if name in ("", "."):
                continue
            if name == "..":
                real = real.rpartition("/")[0]
                continue
            here = f"{real}/{name}"
            if links < _MOST_LINKS and self.islink(here):
                links += 1
                target = os.readlink(here)
                real = "" if target[:1] == "/" else real
                left += target.split("/")[::-1]
            else:
                real = here
        return real or "/"


class RecordedVariables(Mapping[str, str]):
    """An environment that records which variables were looked up, also by what keeps it after the load."""

    def __init__(self, env: Mapping[str, str], looked_up: dict[str, str | None]) -> None:
        self._env = env
        self._looked_up = looked_up

    def __getitem__(self, name: str) -> str:
        self._looked_up[name] = self._env.get(name)
        return self._env[name]

    def __iter__(self) -> Iterator[str]:
        self._looked_up.update(self._env)
        return iter(self._env)

    def __len__(self) -> int:
        return len(self._env)


class PathSnapshot:
    """The paths that one load read, with their states, and the variables, with their values."""

    def __init__(self) -> None:
        self.variables: dict[str, str | None] = {}
        self._there: dict[str, Mark] = {}
        self._missing = MissingPaths()
        self._listed: dict[str, Mark] = {}
        self._newest = 0

    def add(self, path: str) -> None:
        """Remember the state of a path. The first one is kept: later reads are compared with it."""
        if path not in self._there:
            self._there[path] = found = _mark(path)
            if found is None:
                self._missing.add(path)
            else:
                self._newest = max(self._newest, found[0])

    def add_listed(self, path: str) -> None:
        """Remember the contents of a directory."""
        if path not in self._listed:
            self._listed[path] = found = _mark(path, listed=True)
            if found is not None:
                self._newest = max(self._newest, found[0])

    def settled(self, now: int | None = None) -> bool:
        """Return True if a change from now on (in nanoseconds) will show."""
        return self._newest < (time.time_ns() if now is None else now) - _TICK

    def is_of(self, env: Mapping[str, str]) -> bool:
        """Return True if the variables that were looked up are the same in this environment."""
        return all(env.get(name) == value for name, value in self.variables.items())

    def holds(self) -> bool:
        """Return True if no path changed."""
        looked: dict[str, os.stat_result] = {}
        for path, found in self._there.items():
            if found is not None and _mark(path, looked=looked) != found:
                return False
        for path, found in self._listed.items():
            if _mark(path, listed=True) != found:
                return False
        return self._missing.hold(looked)

    def __len__(self) -> int:
        return len(self._there) + len(self._listed)


def _mark(
    path: str, *, listed: bool = False, follow: bool = False, looked: dict[str, os.stat_result] | None = None
) -> Mark:
    """Return a mark that distinguishes a path from a replacement; for a link, also its target.

    The status of a directory is added to `looked`.
    """
    try:
        found = os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None
    facts = (found.st_mode, found.st_ino, found.st_dev, found.st_uid)
    if stat.S_ISDIR(found.st_mode) and not listed:
        # Files in it come and go; relevant ones are recorded separately.
        if looked is not None:
            looked[path] = found
        return (0, *facts)
    changed, touched = found.st_ctime_ns, found.st_mtime_ns
    own = (max(changed, touched), *facts, found.st_size, touched, changed)
    if not stat.S_ISLNK(found.st_mode):
        return own
    target = _mark(path, listed=listed, follow=True)
    return own if target is None else (max(own[0], target[0]), *own, *target)


class MissingPaths:
    """Paths where nothing is. A directory that has not changed has nothing new in it, so most are not
    checked."""

    def __init__(self) -> None:
        self._single: dict[str, None] = {}
        self._directories: dict[str, _Directory] = {}
        self._local: frozenset[int] | None = None

    def add(self, path: str) -> None:
        """Add a path; only its first missing part matters: as long as that is missing, so is the rest."""
        while (above := os.path.dirname(path)) != path and not os.access(above, os.F_OK):
            path = above
        if _is_link(path):
            self._single[path] = None
        else:
            self._directories.setdefault(above, _Directory()).missing[path] = None

    def hold(self, looked: Mapping[str, os.stat_result]) -> bool:
        """Return True if still nothing is there. `looked` has directories that were just looked at."""
        for path in self._single:
            if os.access(path, os.F_OK):
                return False
        before = time.time_ns() - _TICK
        for path, directory in self._directories.items():
            found = looked.get(path)
            if found is None:
                try:
                    found = os.stat(path)
                except OSError:
                    return False
            mark = found.st_ino, found.st_dev, found.st_mtime_ns, found.st_ctime_ns
            if mark == directory.mark:
                continue
            if any(map(os.path.lexists, directory.missing)):
                return False
            if self._local is None:
                self._local = _local_devices()
            # A file that changed just now may change again in the same tick of the clock.
            directory.mark = mark if max(mark[2:]) < before and found.st_dev in self._local else None
        return True


class _Directory:
    """Paths missing in a directory, and the state of the directory when that was last checked."""

    __slots__ = ("mark", "missing")

    def __init__(self) -> None:
        self.mark: tuple[int, ...] | None = None
        self.missing: dict[str, None] = {}


def _is_link(path: str) -> bool:
    """Find a link without a target: the target may appear without a change of the directory."""
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _local_devices() -> frozenset[int]:
    """Return the devices of local file systems: a directory there gets other times with each new entry."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as stream:
            mounts = [line.partition(" - ") for line in stream]
    except OSError:
        return frozenset()
    numbers = [mount.split()[2].split(":") for mount, _, kind in mounts if kind.partition(" ")[0] in _LOCAL]
    return frozenset([os.makedev(int(major), int(minor)) for major, minor in numbers])


class PathCache:
    """Results of loaders, by key, each until one of the paths that it was read from changes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, tuple[Any, PathSnapshot]] = OrderedDict()

    def get(self, key: Hashable, find: Callable[[Disk], T], env: Mapping[str, str]) -> T:
        """Return the result of `find`, cached if possible. It must depend on nothing but the key, the disk, and
        variables of `env` that it looks up through the disk."""
        known = self._found.get(key)
        if known is not None and known[1].is_of(env) and known[1].holds():
            self._found.move_to_end(key)
            return known[0]
        disk = RecordingDisk()
        value = find(disk)
        snapshot = disk.end()
        if snapshot.settled():
            self._found[key] = value, snapshot
            if len(self._found) > self._most:
                self._found.popitem(last=False)
        else:
            self._found.pop(key, None)
        return value
