"""Look at files on behalf of everything that reads configuration.

Loaders reach the file system through a `Disk` that they are given, so that a program that keeps what was read can pass
one that records the paths: it learns from the loader itself which files a configuration was read from.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final


def ancestors(path: str) -> Iterator[str]:
    """Yield the path and every directory above it, up to the root."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def read_at_most(stream: BinaryIO, size: int, most: int) -> bytes:
    """Read a file that says that it has this size; one byte more than `most` if it is larger than that.

    A plain `read(most + 1)` makes room for all these bytes first, which takes longer than the rest.
    """
    content = stream.read(min(size, most) + 1)
    # It has grown, or its file system does not know sizes.
    return content + stream.read(most + 1 - len(content)) if size < len(content) <= most else content


class Disk:
    """The file system, read only. The methods do what the functions of `os` and `os.path` with these names do."""

    def lstat(self, path: str) -> os.stat_result:
        return os.lstat(path)

    def stat(self, path: str) -> os.stat_result:
        return os.stat(path)

    def open(self, path: str, flags: int) -> int:
        """Return a descriptor for reading."""
        return os.open(path, flags)

    def listdir(self, path: str) -> list[str]:
        return os.listdir(path)

    def realpath(self, path: str) -> str:
        return os.path.realpath(path)

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """Return the environment for the same loaders, which look up variables by name."""
        return env

    def lexists(self, path: str) -> bool:
        try:
            self.lstat(path)
        except (OSError, ValueError):
            return False
        return True

    def exists(self, path: str) -> bool:
        try:
            return os.access(
                path, os.F_OK
            )  # where nothing is, a status would be an error, which takes longer
        except ValueError:
            return False

    def isdir(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(self.stat(path).st_mode)
        except (OSError, ValueError):
            return False

    def isfile(self, path: str) -> bool:
        try:
            return stat.S_ISREG(self.stat(path).st_mode)
        except (OSError, ValueError):
            return False

    def islink(self, path: str) -> bool:
        try:
            return stat.S_ISLNK(self.lstat(path).st_mode)
        except (OSError, ValueError):
            return False

    def is_there(self, path: str) -> bool:
        """Return True if a path exists, or may: only "does not exist" says that there is nothing to read.

        A directory that may not be searched could hold guards. Reading the path then fails, and that is reported.
        """
        try:
            self.lstat(path)
        except (FileNotFoundError, ValueError):
            return False
        except OSError:
            return True
        return True


#: Looks each time and remembers nothing.
DISK: Final = Disk()
