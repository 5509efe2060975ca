"""Store trust: one file for each project, below the user's home directory.

Nothing in a project or in the environment chooses where it is, apart from HOME itself. A store that is
damaged, or that another user could have written, trusts nothing.
"""

import os
import stat
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from hookline.disk import DISK, Disk, read_at_most
from hookline.model.errors import HooklineError
from hookline.trust.digest import sha256
from hookline.trust.items import TrustItem, as_utf8
from hookline.trust.project import is_inside

#: Below the home directory.
DIRECTORY = (".local", "state", "hookline", "trust")
_MOST_BYTES = 64 << 20
_VERSION = 1
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_T = TypeVar("_T")


class StoreError(HooklineError):
    """Trust cannot be stored; the message says why, and where."""


class _DirectoryError(OSError):
    """The directory is not used, so nothing in it is."""


class StoredItem(Struct, frozen=True, kw_only=True):
    """An item as it was when the user trusted it."""

    identity: str
    kind: str
    file: str
    label: str
    facts: str
    files: dict[str, str] = {}
    at: str = ""


class StoredProject(Struct, frozen=True, kw_only=True):
    version: int = _VERSION
    root: str
    items: tuple[StoredItem, ...] = ()


class TrustStore:
    """The store of one user. `problems` says why something in it is not used."""

    def __init__(self, home: str, disk: Disk = DISK) -> None:
        self._disk = disk
        self._home = disk.realpath(home) if os.path.isabs(home) else ""
        self.directory = os.path.join(self._home, *DIRECTORY)
        self.problems: list[str] = []

    def refusal(self, root: str) -> str | None:
        """Return why this store does not apply to a project, or None."""
        if not self._home:
            return "HOME is not an absolute path, so there is no trust store: nothing of a project is trusted"
        if self._home != root and is_inside(self._disk.realpath(self.directory), root):
            return f"the trust store {self.directory} is inside the project {root}: nothing of it is trusted"
        return None

    def read(self, root: str) -> StoredProject:
        """Return the trusted items of a project; none if they cannot be read with certainty."""
        nothing = StoredProject(root=root)
        refused = self.refusal(root)
        if refused is not None:
            return self._problem(refused, nothing)
        file = self._file(root)
        try:
            found = msgspec.json.decode(self._bytes(file), type=StoredProject)
        except FileNotFoundError:
            return nothing
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
            self._unused(file, problem)
            return nothing
        if found.version != _VERSION or found.root != as_utf8(root):
            return self._problem(f"{file} is not used: it was written for something else", nothing)
        return found

    def _unused(self, file: str, problem: Exception) -> None:
        why = problem.strerror or str(problem) if isinstance(problem, OSError) else "it is damaged"
        if isinstance(problem, _DirectoryError):
            self._problem(
                f"{self.directory} is not used: {why}; nothing in it is trusted; make sure that only you can write it",
                None,
            )
            return
        fix = "remove it and run `hookline trust` again"
        self._problem(f"{file} is not used: {why}; nothing in it is trusted; {fix}", None)

    def add(self, root: str, items: Sequence[TrustItem], gone: Sequence[str] = ()) -> None:
        """Trust items of a project, and forget others, by identity. Raises StoreError."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._locked(root):
            new = {item.identity: _stored(item, now) for item in items}
            kept = [
                item
                for item in self.read(root).items
                if item.identity not in new and item.identity not in gone
            ]
            project = StoredProject(root=as_utf8(root), items=(*kept, *new.values()))
            content = msgspec.json.encode(project)
            self._replace(self._prepared(), os.path.basename(self._file(root)), content)

    def revoke(self, root: str) -> bool:
        """Forget a project; return False if it was not known. Raises StoreError."""
        with self._locked(root):
            try:
                os.unlink(self._file(root))
            except FileNotFoundError:
                return False
            except OSError as problem:
                raise StoreError(f"{self._file(root)} cannot be removed: {problem.strerror}") from None
        return True

    def projects(self) -> Iterator[StoredProject]:
        """Yield every project with trusted items, by its root."""
        refused = None if self._home else self.refusal(os.sep)
        if refused is not None:
            return self._problem(refused, None)
        try:
            names = sorted(name for name in self._disk.listdir(self.directory) if name.endswith(".json"))
        except OSError:
            names = []
        found: list[StoredProject] = []
        for name in names:
            file = os.path.join(self.directory, name)
            try:
                project = msgspec.json.decode(self._bytes(file), type=StoredProject)
            except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
                self._unused(file, problem)
                continue
            found.append(project)
        yield from sorted(found, key=lambda each: each.root)

    # -- old versions of files, to show what changed

    def keep(self, digest: str, content: bytes) -> None:
        """Keep the content of a trusted file. If it cannot be kept, it is only missing in a later comparison."""
        with suppress(OSError, StoreError):
            self._replace(os.path.join(self._prepared(), "files"), digest, content)

    def kept(self, digest: str) -> bytes | None:
        try:
            content = self._bytes(os.path.join(self.directory, "files", digest))
        except OSError:
            return None
        return content if sha256(content).hexdigest() == digest else None

    # -- files

    def _file(self, root: str) -> str:
        return os.path.join(self.directory, f"{sha256(os.fsencode(root)).hexdigest()[:40]}.json")

    def _bytes(self, file: str) -> bytes:
        """Read a file. Raises OSError, also for a file that another user could have written."""
        directory = os.path.dirname(file)
        try:
            check_owner(self._disk.lstat(directory), stat.S_ISDIR)
        except FileNotFoundError:
            raise
        except OSError as problem:
            raise _DirectoryError(0, problem.strerror, directory) from None
        check_owner(self._disk.lstat(file), stat.S_ISREG)
        descriptor = self._disk.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as stream:
            found = os.fstat(descriptor)
            check_owner(found, stat.S_ISREG)
            content = read_at_most(stream, found.st_size, _MOST_BYTES)
        if len(content) > _MOST_BYTES:
            raise OSError(0, "it is too large")
        return content

    def _replace(self, directory: str, name: str, content: bytes) -> None:
        file = os.path.join(directory, name)
        try:
            os.makedirs(directory, 0o700, exist_ok=True)
            replace_file(file, content, durable=True)
        except OSError as problem:
            raise StoreError(f"{file} cannot be written: {problem.strerror or problem}") from None

    def _prepared(self) -> str:
        """Return the directory, made if needed. Raises StoreError if other users can use it."""
        if not self._home:
            raise StoreError("trust cannot be stored: HOME is not an absolute path; set HOME")
        try:
            os.makedirs(self.directory, 0o700, exist_ok=True)
            check_owner(os.lstat(self.directory), stat.S_ISDIR)
        except OSError as problem:
            raise StoreError(
                f"trust cannot be stored in {self.directory}: {problem.strerror or problem}"
            ) from None
        return self.directory

    @contextmanager
    def _locked(self, root: str) -> Generator[None]:
        import fcntl  # noqa: PLC0415 only to write

        refused = self.refusal(root)
        if refused is not None:
            raise StoreError(refused)
        file = os.path.join(self._prepared(), "lock")
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise StoreError(f"{file} cannot be opened: {problem.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _problem(self, text: str, nothing: _T) -> _T:
        if text not in self.problems:
            self.problems.append(text)
        return nothing


class AcceptedItems:
    """The items that the user accepted: for good, as the store has them, or for this session."""

    def __init__(self, store: TrustStore) -> None:
        self.store = store
        #: Identities.
        self._session: set[str] = set()
        #: By root and identity, as they were read.
        self._stored: dict[str, Mapping[str, StoredItem]] = {}

    def has(self, item: TrustItem, root: str) -> bool:
        """Return True if the user accepted exactly this item of a project."""
        identity = item.identity
        return identity in self._session or identity in self.stored(root)

    def stored(self, root: str) -> Mapping[str, StoredItem]:
        """Return the stored items of a project, by identity: the same mapping until it is read again."""
        if root not in self._stored:
            self._stored[root] = {item.identity: item for item in self.store.read(root).items}
        return self._stored[root]

    def reload(self, root: str) -> None:
        """Read the store again: another process may have written it."""
        self._stored.pop(root, None)

    def add(self, root: str, items: Sequence[TrustItem], gone: Sequence[str]) -> None:
        """Store items of a project and remove those that are gone. Raises StoreError."""
        self.store.add(root, items, gone)
        self.reload(root)

    def add_for_session(self, items: Iterable[TrustItem]) -> None:
        self._session.update(item.identity for item in items)


def replace_file(file: str, content: bytes, *, durable: bool = False) -> None:
    """Write a file that only this user can read, as a whole or not at all. `durable`: it survives a power
    failure."""
    draft = f"{file}.{os.getpid()}.{time.time_ns()}.new"
    try:
        descriptor = os.open(draft, _NEW, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(descriptor)
        os.replace(draft, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def check_owner(found: os.stat_result, is_kind: Callable[[int], bool]) -> None:
    """Raise OSError if it is not of that kind, or another user owns it or can write it."""
    if stat.S_ISLNK(found.st_mode):
        raise OSError(0, "it is a symbolic link")
    if not is_kind(found.st_mode):
        raise OSError(0, "it is not a directory" if is_kind is stat.S_ISDIR else "it is not a file")
    if found.st_uid != os.geteuid():
        raise OSError(0, f"it belongs to another user (uid {found.st_uid})")
    if found.st_mode & 0o022:
        raise OSError(0, "other users can write it")


def _stored(item: TrustItem, at: str) -> StoredItem:
    return StoredItem(
        identity=item.identity,
        kind=item.kind,
        file=item.file,
        label=item.label,
        facts=item.facts,
        files=dict(item.files),
        at=at,
    )
