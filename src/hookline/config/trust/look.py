"""The files that a command names, as they were at one look. Where a hook is no command, `files` is not needed."""

import os

from msgspec import Struct

#: Device, number, size and times of a file: equal ones mean the same content.
Signature = tuple[int, int, int, int, int]


class NamedFile(Struct, frozen=True, gc=False):
    """A file that a command names."""

    #: The text that names it.
    text: str
    #: Its real path.
    path: str
    #: The sha256 of its content; else why that is not covered, in brackets.
    digest: str


def signature(found: os.stat_result) -> Signature:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Look(Struct, frozen=True, gc=False):
    """The files that command lines name, and how everything was that they may name."""

    files: tuple[NamedFile, ...] = ()
    #: Signatures by path; None where there is nothing.
    seen: tuple[tuple[str, Signature | None], ...] = ()
    #: Directories that were looked into: device and number by path.
    folders: tuple[tuple[str, int, int], ...] = ()
    #: False: something changed just now, so that a further change may not show.
    settled: bool = True

    def holds(self) -> bool:
        """Whether everything is as it was."""
        stat_of, there = os.stat, os.access
        try:
            for path, before in self.seen:
                if before is None:
                    if there(path, os.F_OK):
                        return False
                elif signature(stat_of(path)) != before:
                    return False
            for path, device, number in self.folders:
                now = stat_of(path)
                if (now.st_dev, now.st_ino) != (device, number):
                    return False
        except OSError:
            return False
        return self.settled
