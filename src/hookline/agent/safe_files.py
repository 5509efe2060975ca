"""Open files safely: others' files with bounds and never a device or a pipe, our own for this user alone."""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager

_CHUNK = 64 * 1024
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"))


class UnusableFileError(Exception):
    """An error of a file that cannot be used; the message completes "it …"."""


def reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def opened(path: str) -> Generator[int]:
    """Open a regular file. It is checked before it is opened: opening some devices has effects."""
    try:
        _refuse_special(os.stat(path))
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        raise UnusableFileError(f"cannot be read: {reason(error)}") from None
    try:
        _refuse_special(os.fstat(descriptor))
        yield descriptor
    except OSError as error:
        raise UnusableFileError(f"cannot be read: {reason(error)}") from None
    finally:
        os.close(descriptor)


def read_text(path: str, most: int) -> str:
    """Read a whole small text file."""
    with opened(path) as descriptor:
        raw = b"".join(chunks(descriptor, most + 1))
    if len(raw) > most:
        raise UnusableFileError(f"has more than {most:,} bytes")
    if b"\0" in raw:
        raise UnusableFileError("is not text")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnusableFileError("is not UTF-8 text") from None


def chunks(descriptor: int, most: int) -> Iterator[bytes]:
    while most > 0 and (chunk := os.read(descriptor, min(most, _CHUNK))):
        yield chunk
        most -= len(chunk)


def _refuse_special(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise UnusableFileError("is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise UnusableFileError("is a device or a pipe, not a file")


_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY")
)  # fmt: skip


class FileTakenError(Exception):
    """An error: something else has the file's path, or another process uses it; the message says which."""


def private_directory(directory: str) -> None:
    """Create a directory and its parents, for this user alone."""
    if os.path.isdir(directory):
        return
    above = os.path.dirname(directory)
    if above != directory:
        private_directory(above)
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        pass


def opened_for_appending(path: str, create: int) -> int:
    """Return a locked descriptor. `create` is O_CREAT, O_EXCL or 0. Raises FileTakenError, OSError or ValueError."""
    if create:
        private_directory(os.path.dirname(path))
    fd = os.open(path, _APPEND_FLAGS | create, 0o600)
    problem = _unusable(fd)
    if problem is not None:
        os.close(fd)
        raise FileTakenError(f"{problem}: {path}")
    return fd


def _unusable(fd: int) -> str | None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        return "this is not a regular file"
    return None if _locked(fd) else "another process uses this session"


def _locked(fd: int) -> bool:
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: nothing can be done about two at once.
        return True
    return True
