"""Files that nobody vouches for, read with bounds: no device is opened, no pipe is waited for."""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager

_CHUNK = 64 * 1024
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"))


class UnreadableError(Exception):
    """The file cannot be used; the message completes "it ..."."""


def reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def opened(path: str) -> Generator[int]:
    """A descriptor of a regular file. It is looked at first: merely opening some devices does something."""
    try:
        _refuse_special(os.stat(path))
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        raise UnreadableError(f"cannot be read: {reason(error)}") from None
    try:
        _refuse_special(os.fstat(descriptor))
        yield descriptor
    except OSError as error:
        raise UnreadableError(f"cannot be read: {reason(error)}") from None
    finally:
        os.close(descriptor)


def read_text(path: str, most: int) -> str:
    """A whole small text file."""
    with opened(path) as descriptor:
        raw = b"".join(chunks(descriptor, most + 1))
    if len(raw) > most:
        raise UnreadableError(f"has more than {most:,} bytes")
    if b"\0" in raw:
        raise UnreadableError("is not text")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError("is not UTF-8 text") from None


def chunks(descriptor: int, most: int) -> Iterator[bytes]:
    while most > 0 and (chunk := os.read(descriptor, min(most, _CHUNK))):
        yield chunk
        most -= len(chunk)


def _refuse_special(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise UnreadableError("is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableError("is a device or a pipe, not a file")
