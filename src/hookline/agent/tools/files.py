"""Access files for tools: regular files only, bounded reads, atomic replacement.

A device, a FIFO or a socket is refused before it is opened and again once it is open: reading one can hang,
and opening one can have effects.
"""

import os
import stat
from typing import Final

from msgspec import Struct

from hookline.matching.nearest import nearest
from hookline.model.errors import ToolError

#: Files larger than this are neither edited nor replaced.
LARGEST_EDITED: Final = 16 << 20

_CHUNK: Final = 1 << 16
_MOST_NAMES: Final = 5000

_KINDS: Final = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegularError(OSError):
    """An error for anything but a regular file; `kind` says what it is."""

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(f"{shown(path)} is {kind}")
        self.kind = kind


class TooLargeError(Exception):
    """An error for a file larger than the limit."""

    def __init__(self, path: str, size: int, most: int) -> None:
        super().__init__(f"{shown(path)} has {size} bytes; the limit is {most}")


class FileContent(Struct, frozen=True):
    """A file's bytes, and its stat result at that time."""

    content: bytes
    facts: os.stat_result


def shown(path: str) -> str:
    """Return the path as text that can be encoded: names on a disk are bytes."""
    return path.encode("utf-8", "replace").decode()


def kind_of(mode: int) -> str:
    return next((name for is_one, name in _KINDS if is_one(mode)), "not a regular file")


def open_regular(path: str, *, follow: bool = True) -> int:
    """Open a file for reading. Never blocks. Raises OSError, NotRegularError among them."""
    before = os.stat(path, follow_symlinks=follow)
    if not stat.S_ISREG(before.st_mode):
        raise NotRegularError(path, kind_of(before.st_mode))
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    fd = os.open(path, flags)
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise NotRegularError(path, kind_of(mode))
    return fd


def read_regular(path: str, most: int, *, follow: bool = True) -> FileContent:
    """Read the whole file. Raises OSError, and TooLargeError when it has more than `most` bytes."""
    fd = open_regular(path, follow=follow)
    try:
        facts = os.fstat(fd)
        if facts.st_size > most:
            raise TooLargeError(path, facts.st_size, most)
        return FileContent(_read_all(fd, facts.st_size, path, most), facts)
    finally:
        os.close(fd)


def _read_all(fd: int, size: int, path: str, most: int) -> bytes:
    # Most files come in one read. A buffer much larger than the file would cost more than reading it.
    content = os.read(fd, size + 1)
    if size and len(content) == size:
        return content
    pieces = [content]
    # Files in /proc report no size, so the bytes are counted.
    while chunk := os.read(fd, _CHUNK):
        pieces.append(chunk)
        size = sum(len(piece) for piece in pieces)
        if size > most:
            raise TooLargeError(path, size, most)
    return b"".join(pieces)


def replace_file(path: str, content: bytes, old: os.stat_result | None) -> os.stat_result:
    """Replace the content atomically: a reader sees all of the old or all of the new."""
    directory, name = os.path.split(path)
    fd, temporary = _temporary_beside(directory, name)
    try:
        try:
            _write_all(fd, content)
            if old is not None:
                _copy_mode(fd, old)
            facts = os.fstat(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise
    return facts


def _temporary_beside(directory: str, name: str) -> tuple[int, str]:
    # Not mkstemp: its mode 0600 would ignore the umask.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(100):
        path = os.path.join(directory, f".{name[:100]}.{os.urandom(6).hex()}")
        try:
            return os.open(path, flags, 0o666), path
        except FileExistsError:
            continue
    raise FileExistsError(f"no free name beside {shown(name)}")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _write_all(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _copy_mode(fd: int, old: os.stat_result) -> None:
    """Give it the owner and mode of the file it replaces, as far as allowed."""
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except OSError:
            pass
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


def missing(path: str) -> str:
    """Return a message about a missing file, with the name that was probably meant."""
    directory, name = os.path.split(path)
    if not os.path.isdir(directory):
        return f"{shown(path)} does not exist: the directory {shown(directory)} is missing."
    names: list[str] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) >= _MOST_NAMES:
                    break
    except OSError:
        pass
    close = nearest(name, names)
    meant = f" Did you mean {shown(os.path.join(directory, close))}?" if close else ""
    return f"{shown(path)} does not exist.{meant}"


def refusal(path: str, problem: Exception) -> ToolError:
    """Return the message for the model when a file cannot be used."""
    if isinstance(problem, FileNotFoundError):
        return ToolError(missing(path))
    if isinstance(problem, NotRegularError | TooLargeError):
        is_directory = isinstance(problem, NotRegularError) and problem.kind == "a directory"
        return ToolError(
            f"{problem}; Glob, or ls in Bash, lists its files." if is_directory else f"{problem}."
        )
    if isinstance(problem, BlockingIOError):
        return ToolError(f"{shown(path)} has nothing to read now.")
    reason = problem.strerror if isinstance(problem, OSError) else None
    return ToolError(f"{shown(path)} cannot be used: {reason or problem}.")
