"""Record the former contents of agents' files, so that they can be restored byte for byte.

One record for each file, below the user's home directory. A change is recorded as a whole before the first
file is touched: the next process finishes the change of a killed one.
"""

import os
import stat
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from hookline.config.install.files import Snapshot, missing_directories, replace, snapshot
from hookline.dialects.installer import InstallError
from hookline.trust.digest import sha256
from hookline.trust.store import check_owner, replace_file

#: Below the home directory. Not by XDG_STATE_HOME, which a project's settings could set.
DIRECTORY = (".local", "state", "hookline", "installed")
_PENDING = "pending.json"
_BACKUPS = "backups"
_MOST_BACKUPS = 100


class Record(Struct, frozen=True, kw_only=True):
    """A file of an agent, as Hookline left it, and as it would be without us."""

    file: str
    agent: str
    scope: str
    at: str
    #: Digest of the content that we wrote.
    written: str
    #: None if there was no such file.
    original: bytes | None = None
    #: Directories that were made for it, the innermost first.
    directories: tuple[str, ...] = ()


class FileWrite(Struct, frozen=True):
    """One file of a change."""

    file: str
    #: The real path, without links.
    real: str
    before: bytes | None
    after: bytes | None
    #: None removes the record.
    record: Record | None = None
    directories: tuple[str, ...] = ()


class InstallRecords:
    """The records of one user."""

    def __init__(self, home: str) -> None:
        self.directory = os.path.join(os.path.realpath(home), *DIRECTORY) if os.path.isabs(home) else ""

    def read(self, file: str) -> Record | None:
        """Return the record; None where there is no reliable one."""
        try:
            found = msgspec.json.decode(self._bytes(self._name(file)), type=Record)
        except (OSError, msgspec.DecodeError):
            return None
        return found if found.file == file else None

    @contextmanager
    def locked(self) -> Generator[None]:
        """Lock for one change at a time; finish an unfinished one first. Raises InstallError."""
        import fcntl  # noqa: PLC0415 only to write

        if not self.directory:
            raise InstallError("cannot back up files: HOME is not absolute; set HOME")
        try:
            os.makedirs(os.path.join(self.directory, _BACKUPS), 0o700, exist_ok=True)
            check_owner(os.lstat(self.directory), stat.S_ISDIR)
            lock = os.path.join(self.directory, "lock")
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise InstallError(f"{self.directory} cannot be written: {problem.strerror or problem}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._finish()
            yield
        finally:
            os.close(descriptor)

    def recover(self) -> None:
        """Finish the change of a killed process, if there is one. Raises InstallError."""
        if self.directory and os.path.lexists(os.path.join(self.directory, _PENDING)):
            with self.locked():
                pass

    def carry_out(self, writes: Sequence[FileWrite]) -> list[str]:
        """Write the files of one change, all or none; return the paths of the backups. Raises InstallError."""
        for each in writes:
            _unchanged(each)
        backups = [self._back_up(each) for each in writes if each.before is not None]
        self._put(_PENDING, msgspec.json.encode(writes))
        try:
            self._perform(writes)
        except BaseException:  # also where the user ends it
            for each in writes:
                now = snapshot(each.file)
                if now.content == each.after != each.before:
                    replace(now, each.before)
            os.unlink(os.path.join(self.directory, _PENDING))
            raise
        os.unlink(os.path.join(self.directory, _PENDING))
        return backups

    def _finish(self) -> None:
        """Finish the change of a killed process. A file that another program has changed since is left."""
        try:
            writes = msgspec.json.decode(self._bytes(_PENDING), type=list[FileWrite])
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError):
            writes = []
        with suppress(InstallError):
            for each in writes:
                _unchanged(each)
            self._perform(writes)
        os.unlink(os.path.join(self.directory, _PENDING))

    def _perform(self, writes: Sequence[FileWrite]) -> None:
        for each in writes:
            now = _unchanged(each)
            if now.content != each.after:
                replace(now, each.after)
            if each.after is None:
                for directory in each.directories:
                    with suppress(OSError):
                        os.rmdir(directory)
        for each in writes:
            if each.record is not None:
                self._put(self._name(each.file), msgspec.json.encode(each.record))
            else:
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.directory, self._name(each.file)))

    def _back_up(self, each: FileWrite) -> str:
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        name = os.path.join(_BACKUPS, f"{now}-{time.time_ns() % 1_000_000:06}-{os.path.basename(each.file)}")
        self._put(name, each.before or b"")
        self._forget_old_backups()
        return os.path.join(self.directory, name)

    def _forget_old_backups(self) -> None:
        directory = os.path.join(self.directory, _BACKUPS)
        # Their names begin with the time.
        for name in sorted(os.listdir(directory))[:-_MOST_BACKUPS]:
            with suppress(OSError):
                os.unlink(os.path.join(directory, name))

    def _put(self, name: str, content: bytes) -> None:
        file = os.path.join(self.directory, name)
        try:
            replace_file(file, content, durable=True)
        except OSError as problem:
            raise InstallError(f"{file} cannot be written: {problem.strerror or problem}") from None

    def _bytes(self, name: str) -> bytes:
        if not self.directory:
            raise FileNotFoundError
        file = os.path.join(self.directory, name)
        check_owner(os.lstat(self.directory), stat.S_ISDIR)
        check_owner(os.lstat(file), stat.S_ISREG)
        with open(file, "rb") as stream:
            return stream.read()

    @staticmethod
    def _name(file: str) -> str:
        return f"{sha256(os.fsencode(file)).hexdigest()[:40]}.json"


def _unchanged(each: FileWrite) -> Snapshot:
    """Return the file, which must be as it was when the change was planned, or already as it should be."""
    now = snapshot(each.file)
    if now.real != each.real or now.content not in (each.before, each.after):
        raise InstallError(f"{each.file} was changed by another program just now: run it again")
    return now


def digest(content: bytes | None) -> str:
    return "" if content is None else sha256(content).hexdigest()


def write_for(
    before: Snapshot,
    after: str | None,
    original: bytes | None,
    known: Record | None,
    facts: Mapping[str, str],
) -> FileWrite:
    """Make one write of an installation: the new content, and the content without us."""
    content = None if after is None else after.encode()
    record = Record(
        file=before.file,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        written=digest(content),
        original=original,
        directories=known.directories if known is not None else tuple(missing_directories(before)),
        **facts,
    )
    return FileWrite(before.file, before.real, before.content, content, record)
