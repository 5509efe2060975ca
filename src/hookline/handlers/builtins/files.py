"""Reading small files of a project that nobody vouches for."""

import os
import stat


def read_start(path: str, most: int) -> bytes:
    """The first bytes of a regular file; OSError for anything else. Never waits on a pipe or a device."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        parts: list[bytes] = []
        while most > 0 and (part := os.read(descriptor, most)):
            parts.append(part)
            most -= len(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def upward(start: str, last: str | None) -> list[str]:
    """The directory, its parent and so on, up to the root or to `last` if that is on the way."""
    found = [os.path.abspath(start)]
    while found[-1] != last and (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found
