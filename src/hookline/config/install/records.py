"""What files of agents were before Hookline was installed, so that they can become that again, byte for byte.

One record for each file, below the user's home directory. A change is written down as a whole before the first file is
touched: what a killed process had begun is finished by the next one.
"""

import os
import stat
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from hookline.config.install.files import Snapshot, missing_folders, replace, snapshot
from hookline.dialects.installer import InstallError
from hookline.trust.digest import sha256
from hookline.trust.store import check_owner, replace_file

#: Below the home directory. Not by XDG_STATE_HOME, which a project's settings could set.
FOLDER = (".local", "state", "hookline", "installed")
_PENDING = "pending.json"
_BACKUPS = "backups"
_MOST_BACKUPS = 100


class Record(Struct, frozen=True, kw_only=True):
    """A file of an agent, as Hookline left it, and as it would be without us."""

    file: str
    agent: str
    scope: str
    at: str
    #: Of what we wrote.
    written: str
    #: None: there was no such file.
    original: bytes | None = None
    #: Folders that were made for it, the innermost first.
    folders: tuple[str, ...] = ()


class Write(Struct, frozen=True):
    """One file of a change."""

    file: str
    #: Where it is, without links.
    real: str
    before: bytes | None
    after: bytes | None
    #: None: forget the file.
    record: Record | None = None
    folders: tuple[str, ...] = ()


class Records:
    """The records of one user."""

    def __init__(self, home: str) -> None:
        self.folder = os.path.join(os.path.realpath(home), *FOLDER) if os.path.isabs(home) else ""

    def read(self, file: str) -> Record | None:
        """None where there is none that can be relied on."""
        try:
            found = msgspec.json.decode(self._bytes(self._name(file)), type=Record)
        except (OSError, msgspec.DecodeError):
            return None
        return found if found.file == file else None

    @contextmanager
    def locked(self) -> Generator[None]:
        """One change at a time; what was begun and not finished is finished first. Raises InstallError."""
        import fcntl  # noqa: PLC0415 only to write

        if not self.folder:
            raise InstallError("HOME is not an absolute path, so it cannot be kept what files were before")
        try:
            os.makedirs(os.path.join(self.folder, _BACKUPS), 0o700, exist_ok=True)
            check_owner(os.lstat(self.folder), stat.S_ISDIR)
            lock = os.path.join(self.folder, "lock")
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise InstallError(f"{self.folder} cannot be written: {problem.strerror or problem}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._finish()
            yield
        finally:
            os.close(descriptor)

    def recover(self) -> None:
        """Finish what a killed process had begun, if there is something. Raises InstallError."""
        if self.folder and os.path.lexists(os.path.join(self.folder, _PENDING)):
            with self.locked():
                pass

    def carry_out(self, writes: Sequence[Write]) -> list[str]:
        """Write the files of one change, all or none; the paths of the backups. Raises InstallError."""
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
            os.unlink(os.path.join(self.folder, _PENDING))
            raise
        os.unlink(os.path.join(self.folder, _PENDING))
        return backups

    def _finish(self) -> None:
        """What a killed process had begun. If somebody else has changed one of its files since, it is left."""
        try:
            writes = msgspec.json.decode(self._bytes(_PENDING), type=list[Write])
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError):
            writes = []
        with suppress(InstallError):
            for each in writes:
                _unchanged(each)
            self._perform(writes)
        os.unlink(os.path.join(self.folder, _PENDING))

    def _perform(self, writes: Sequence[Write]) -> None:
        for each in writes:
            now = _unchanged(each)
            if now.content != each.after:
                replace(now, each.after)
            if each.after is None:
                for folder in each.folders:
                    with suppress(OSError):
                        os.rmdir(folder)
        for each in writes:
            if each.record is not None:
                self._put(self._name(each.file), msgspec.json.encode(each.record))
            else:
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.folder, self._name(each.file)))

    def _back_up(self, each: Write) -> str:
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        name = os.path.join(_BACKUPS, f"{now}-{time.time_ns() % 1_000_000:06}-{os.path.basename(each.file)}")
        self._put(name, each.before or b"")
        self._forget_old_backups()
        return os.path.join(self.folder, name)

    def _forget_old_backups(self) -> None:
        folder = os.path.join(self.folder, _BACKUPS)
        # Their names begin with the time.
        for name in sorted(os.listdir(folder))[:-_MOST_BACKUPS]:
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))

    def _put(self, name: str, content: bytes) -> None:
        file = os.path.join(self.folder, name)
        try:
            replace_file(file, content, durable=True)
        except OSError as problem:
            raise InstallError(f"{file} cannot be written: {problem.strerror or problem}") from None

    def _bytes(self, name: str) -> bytes:
        if not self.folder:
            raise FileNotFoundError
        file = os.path.join(self.folder, name)
        check_owner(os.lstat(self.folder), stat.S_ISDIR)
        check_owner(os.lstat(file), stat.S_ISREG)
        with open(file, "rb") as stream:
            return stream.read()

    @staticmethod
    def _name(file: str) -> str:
        return f"{sha256(os.fsencode(file)).hexdigest()[:40]}.json"


def _unchanged(each: Write) -> Snapshot:
    """The file, which is as it was when the change was planned, or already as it is to be."""
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
) -> Write:
    """A file of an installation: what it becomes, and what it would be without us."""
    content = None if after is None else after.encode()
    record = Record(
        file=before.file,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        written=digest(content),
        original=original,
        folders=known.folders if known is not None else tuple(missing_folders(before)),
        **facts,
    )
    return Write(before.file, before.real, before.content, content, record)
