"""Read files of agents, and write them as a whole or not at all.

A file is replaced by a new one in the same directory. Links are followed, and the file they lead to is
replaced; in a project they may not lead out of it.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from hookline.dialects.installer import InstallError
from hookline.trust.project import is_inside

_MOST_BYTES = 10_000_000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_DRAFT = re.compile(r"\.(.+)\.hookline-[0-9a-f]{8}")


class Snapshot(Struct, frozen=True):
    """A file at one point in time."""

    #: The path that its agent uses.
    file: str
    #: The real path, without links.
    real: str
    #: None if it does not exist.
    content: bytes | None

    @property
    def text(self) -> str | None:
        """The text. Raises InstallError for a file that is not text."""
        try:
            return None if self.content is None else self.content.decode()
        except UnicodeDecodeError:
            raise InstallError(f"{self.file} is not a text in UTF-8; nothing was changed") from None

    @property
    def is_linked(self) -> bool:
        return os.path.islink(self.file)


def snapshot(file: str, inside: str | None = None) -> Snapshot:
    """Read a file. Raises InstallError if it cannot be read, or is outside of the directory it must be in."""
    real = os.path.realpath(file)
    if inside is not None and not is_inside(real, os.path.realpath(inside)):
        raise InstallError(
            f"{file} leads to {real}, which is outside the project {inside}: it is not touched"
        )
    try:
        found = os.lstat(real)
    except FileNotFoundError:
        if os.path.islink(file):
            raise InstallError(f"{file} is a link to {real}, which does not exist: remove the link") from None
        return Snapshot(file, real, None)
    except OSError as problem:
        raise InstallError(f"{file} cannot be read: {problem.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        raise InstallError(f"{file} is not a file")
    try:
        with os.fdopen(os.open(real, _READ), "rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as problem:
        raise InstallError(f"{file} cannot be read: {problem.strerror}") from None
    if len(content) > _MOST_BYTES:
        raise InstallError(f"{file} is larger than {_MOST_BYTES:,} bytes")
    return Snapshot(file, real, content)


def refuse_unwritable(before: Snapshot) -> None:
    """Raise InstallError where writing would fail, or where the file is read-only."""
    directory = os.path.dirname(before.real)
    while not os.path.lexists(directory):
        directory = os.path.dirname(directory)
    if before.content is not None:
        mode = os.stat(before.real).st_mode
        if not mode & _WRITABLE or not os.access(before.real, os.W_OK):
            raise InstallError(
                f"{before.file} is read-only: make it writable first (chmod u+w); nothing was changed"
            )
    if not os.path.isdir(directory):
        raise InstallError(f"{directory} is not a directory, so {before.file} cannot be written")
    if not os.access(directory, os.W_OK | os.X_OK):
        hint = (
            ": run this as the administrator (sudo)" if before.real.startswith(("/etc/", "/Library/")) else ""
        )
        raise InstallError(f"{directory} is not writable, so {before.file} cannot be written{hint}")


def missing_directories(before: Snapshot) -> list[str]:
    """List the missing directories above a file, the innermost first."""
    found: list[str] = []
    directory = os.path.dirname(before.real)
    while not os.path.lexists(directory):
        found.append(directory)
        directory = os.path.dirname(directory)
    return found


def replace(before: Snapshot, content: bytes | None) -> None:
    """Write the new content of a file, or remove it. Raises InstallError, also if it has changed in the
    meantime."""
    try:
        if snapshot(before.file).content != before.content or os.path.realpath(before.file) != before.real:
            raise InstallError(f"{before.file} was changed by another program just now: run it again")
        if content is None:
            os.unlink(before.real)
        else:
            _replace(before, content)
    except OSError as problem:
        raise InstallError(f"{before.file} cannot be written: {problem.strerror or problem}") from None


def _replace(before: Snapshot, content: bytes) -> None:
    directory, name = os.path.split(before.real)
    os.makedirs(directory, exist_ok=True)
    for left in _drafts(directory, name):
        with suppress(OSError):
            os.unlink(left)
    draft = os.path.join(directory, f".{name}.hookline-{os.urandom(4).hex()}")
    # A new file gets the mode that the user's files have; one that is replaced keeps its own.
    descriptor = os.open(draft, _NEW, 0o666 if before.content is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if before.content is not None:
                _keep_mode(descriptor, before.real)
            os.fsync(descriptor)
        os.replace(draft, before.real)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    with suppress(OSError):
        sync_directory(directory)


def _keep_mode(descriptor: int, file: str) -> None:
    """Keep mode and owner of the file that is replaced."""
    found = os.stat(file)
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))


def _drafts(directory: str, name: str) -> Iterator[str]:
    """Yield drafts of a process that was killed before it could rename its file."""
    for each in os.listdir(directory):
        found = _DRAFT.fullmatch(each)
        if found and found[1] == name:
            yield os.path.join(directory, each)


def sync_directory(directory: str) -> None:
    """Make sure that new names in a directory outlive a crash of the machine."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
