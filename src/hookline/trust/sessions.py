"""Remember a session between calls of `hookline hook`: where it began, its guards, and notices already shown.

One small file per session below the user's home directory. A call works without it: a file that is damaged,
or that another user could have written, is not used, and the call is treated as the first of its session.
"""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from hookline.disk import DISK, Disk, read_at_most
from hookline.model.events import Capability
from hookline.model.hook import Hook
from hookline.model.session_info import SessionInfo
from hookline.trust.digest import sha256
from hookline.trust.store import check_owner, replace_file

if TYPE_CHECKING:
    from hookline.trust.trust import Trust

#: Below the home directory. Not by XDG_STATE_HOME, which a project's settings could set.
DIRECTORY = (".local", "state", "hookline", "sessions")
_VERSION = 1
_MOST_BYTES = 4 << 20
_DAY = 86_400
#: A session that was silent for so long has ended.
_KEPT_SECONDS = 30 * _DAY
#: The file whose time says when old files were last searched for.
_SWEPT = "swept"
#: The target of a redirection, or of `tee`.
_WRITTEN = r"""(?:>|\btee\b(?:\s+-\S+)*)\s*["']?([^\s"';&|<>()]+)"""
#: Endings of the names of files that programs write as they run.
_RECORDS = (".log", ".jsonl", ".out", ".err", ".pid", ".tmp", ".cache", ".db", ".sqlite", ".sqlite3")
_SHARED = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


class KnownGuard(Struct, frozen=True):
    """A hook that could stop an action when it was last seen."""

    event: str
    #: Its name and position, for people.
    label: str


class SeenSession(Struct, frozen=True, kw_only=True):
    """One session of one agent, by the ids its payloads have."""

    version: int = _VERSION
    dialect: str
    session: str
    #: The files that its hooks come from, if the agent's entry names them.
    files: tuple[str, ...] = ()
    #: The directory whose hooks apply; empty if the session began outside of any project.
    directory: str = ""
    #: The project it began in, or the directory where there is none.
    root: str = ""
    #: By identity: the active guards when it began, and those added since.
    guards: dict[str, KnownGuard] = {}
    #: Notices that were shown once and are not repeated.
    shown: tuple[str, ...] = ()


class SessionStore:
    """The sessions of one user. `problems` has the errors of reading and writing."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.directory = os.path.join(home, *DIRECTORY) if os.path.isabs(home) else ""
        self.problems: list[str] = []

    def recall(self, new: SeenSession, disk: Disk = DISK) -> SeenSession | None:
        """Return the stored record of a session; None if it is not known with certainty."""
        if not self.directory:
            return None
        file = self._file(new)
        try:
            found = self._read(file, disk)
        except FileNotFoundError:
            return None
        except _UnusableError as problem:
            return self._unused(file, str(problem))
        if (found.version, *_ids(found)) != (_VERSION, *_ids(new)):
            return self._unused(file, "it was written for something else")
        return found

    def keep(self, record: SeenSession) -> bool:
        """Remember a session. If that fails, the next call does not know what this one knew."""
        if not self.directory:
            return False
        file = self._file(record)
        try:
            self._make_directory()
            replace_file(file, msgspec.json.encode(record))
        except (OSError, ValueError, _UnusableError) as problem:
            self.problems.append(
                f"{file} cannot be written: {_reason(problem)}; later calls do not know this one"
            )
            return False
        return True

    def open_calls(self, record: SeenSession) -> int | None:
        """Open the file by which processes called for the same call of a session meet; None if there is none."""
        if not self.directory:
            return None
        file = f"{self._file(record).removesuffix('.json')}.calls"
        try:
            self._make_directory()
            descriptor = os.open(file, _SHARED, 0o600)
        except (OSError, ValueError):
            return None
        try:
            check_owner(os.fstat(descriptor), stat.S_ISREG)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    def _make_directory(self) -> None:
        """Make the directory if it is missing. Raises OSError if it is not this user's alone."""
        try:
            found = os.lstat(self.directory)
        except FileNotFoundError:
            os.makedirs(self.directory, 0o700, exist_ok=True)
            found = os.lstat(self.directory)
        check_owner(found, stat.S_ISDIR)

    def confirm(self, root: str, present: Iterable[str]) -> int:
        """Accept the present guards for the user: sessions of this project forget all others.

        `present` has the identities of the guards that are there now. Returns the number of sessions that had
        missed one.
        """
        there, changed = frozenset(present), 0
        for record in self._all():
            left = {identity: guard for identity, guard in record.guards.items() if identity in there}
            if record.root == root and len(left) < len(record.guards):
                changed += self.keep(msgspec.structs.replace(record, guards=left))
        return changed

    def missed(self, root: str, present: Iterable[str]) -> dict[str, KnownGuard]:
        """Return the guards, by identity, that sessions of this project had and that are gone."""
        there = frozenset(present)
        return {
            identity: guard
            for record in self._all()
            if record.root == root
            for identity, guard in record.guards.items()
            if identity not in there
        }

    def sweep(self, now: float | None = None) -> None:
        """Remove the files of sessions that ended long ago; searches at most once a day."""
        if not self.directory:
            return
        now = time.time() if now is None else now
        swept = os.path.join(self.directory, _SWEPT)
        with suppress(OSError, _UnusableError):
            if now - _changed(swept) < _DAY:
                return
            replace_file(swept, b"")
            with os.scandir(self.directory) as entries:
                old = [each.path for each in entries if now - _changed(each.path) > _KEPT_SECONDS]
            for file in old:
                with suppress(OSError):
                    os.unlink(file)

    def last_calls(self) -> dict[str, tuple[float, str]]:
        """Return, by dialect, when each agent last called Hookline in a remembered session, and in which project."""
        found: dict[str, tuple[float, str]] = {}
        for record in self._all():
            file = self._file(record)
            for each in (file, f"{file.removesuffix('.json')}.calls"):
                with suppress(OSError):
                    call = (_changed(each), record.root)
                    found[record.dialect] = max(call, found.get(record.dialect, call))
        return found

    def roots(self) -> tuple[str, ...]:
        """Return the projects of remembered sessions."""
        return tuple(sorted({record.root for record in self._all() if record.root and record.directory}))

    def _all(self) -> Iterator[SeenSession]:
        try:
            names = sorted(os.listdir(self.directory)) if self.directory else []
        except OSError:
            names = []
        for name in names:
            if name.endswith(".json"):
                with suppress(OSError, _UnusableError):
                    yield self._read(os.path.join(self.directory, name), DISK)

    def _file(self, record: SeenSession) -> str:
        digest = sha256("\0".join(_ids(record)).encode("utf-8", "surrogatepass")).hexdigest()
        return os.path.join(self.directory, f"{digest}.json")

    def _read(self, file: str, disk: Disk) -> SeenSession:
        try:
            check_owner(disk.lstat(self.directory), stat.S_ISDIR)
        except FileNotFoundError:
            raise
        except OSError as problem:
            raise _UnusableError(
                f"cannot use {self.directory}: {problem.strerror}; check its owner and mode"
            ) from None
        try:
            return msgspec.json.decode(_content(file, disk), type=SeenSession)
        except FileNotFoundError:
            raise
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise _UnusableError(_reason(problem)) from None

    def _unused(self, file: str, why: str) -> None:
        self.problems.append(f"{file} is not used: {why}; the session is treated as new")


class HookGuards:
    """The guards among some hooks. Each is identified once, for as long as its files stay the same."""

    def __init__(self, hooks: Sequence[Hook]) -> None:
        # A signed bundle may replace another.
        self._guards = [hook for hook in hooks if is_guard(hook) and hook.bundle is None]
        #: By position: the files and the trust that the rest comes from.
        self._known: dict[int, tuple[Mapping[str, str], bool, str, KnownGuard]] = {}

    def present(self, trust: "Trust") -> dict[str, KnownGuard]:
        """Return those that may run, by identity: the others stop nothing."""
        found: dict[str, KnownGuard] = {}
        for at, hook in enumerate(self._guards):
            trusted = trust.status(hook).runs
            if not trusted and not trust.admit(hook, SessionInfo()).admitted:
                continue
            files, known = trust.item(hook).files, self._known.get(at)
            if known is None or known[0] is not files or known[1] != trusted:
                guard = KnownGuard(hook.event.name, _label(hook, trusted=trusted))
                known = self._known[at] = files, trusted, guard_identity(hook, files), guard
            found[known[2]] = known[3]
        return found


def is_guard(hook: Hook) -> bool:
    """Return True if a hook can stop an action. Not one that is broken: it is not meant to stay so."""
    return (
        hook.event.guard
        and bool(hook.policy.may & Capability.BLOCK)
        and hook.mode == "enforce"
        and hook.waiting == "wait"
        and hook.broken is None
    )


def guard_identity(hook: Hook, files: Mapping[str, str]) -> str:
    """Return the identity of a guard: two are the same if they stop the same, in the same way, wherever they
    are configured.

    `files` are those that its command names, with their digests.
    """
    on_failure = hook.on_failure if isinstance(hook.on_failure, str | None) else dict(hook.on_failure)
    facts = (
        hook.dialect,
        hook.event.name,
        hook.policy.event_name,
        hook.kind,
        hook.spec,
        None if hook.matcher is None else hook.matcher.text,
        None if hook.condition is None else hook.condition.text,
        hook.in_doubt,
        hook.timeout,
        hook.once,
        on_failure,
        hook.required,
        _read_only(hook, files),
    )
    return sha256(msgspec.json.encode(facts, order="deterministic", enc_hook=_kind)).hexdigest()


def _read_only(hook: Hook, files: Mapping[str, str]) -> dict[str, str]:
    """Return the files without those that the command itself writes: they change with every run."""
    if not files:
        return {}
    # Compiled here: few calls come this far, and importing has to stay cheap.
    written = {
        os.path.basename(match[1]) for match in re.finditer(_WRITTEN, getattr(hook.spec, "command", ""))
    }
    return {
        path: digest
        for path, digest in files.items()
        if not path.endswith(_RECORDS) and os.path.basename(path) not in written
    }


def missing_guards(record: SeenSession, present: Mapping[str, KnownGuard]) -> tuple[KnownGuard, ...]:
    """Return guards that the session had, and that are gone or changed."""
    return tuple(guard for identity, guard in record.guards.items() if identity not in present)


class _UnusableError(Exception):
    """A file that exists and is not used; the text says why."""


def _kind(value: object) -> str:
    """Represent a value that JSON does not have, the same in every process, as an address is not."""
    return type(value).__qualname__


def _ids(record: SeenSession) -> tuple[str, ...]:
    return (record.dialect, record.session, *record.files)


def _label(hook: Hook, *, trusted: bool) -> str:
    """Return name and position. An untrusted file may choose a name for the model, which sees the label."""
    place = str(hook.where)
    if not trusted:
        return f"a rule of this project ({place})"
    return f"{hook.name} ({place})" if place else hook.name


def _content(file: str, disk: Disk) -> bytes:
    descriptor = disk.open(file, _READ)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        check_owner(found, stat.S_ISREG)
        content = read_at_most(stream, found.st_size, _MOST_BYTES)
        if len(content) > _MOST_BYTES:
            raise _UnusableError("it is too large")
        if time.time() - found.st_mtime > _DAY:
            # The session is alive, however long ago it began.
            with suppress(OSError):
                os.utime(descriptor)
    return content


def _changed(file: str) -> float:
    try:
        return os.lstat(file).st_mtime
    except FileNotFoundError:
        return 0.0


def _reason(problem: Exception) -> str:
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    if isinstance(problem, UnicodeEncodeError):
        return "it would have text that is not UTF-8"
    return str(problem) if isinstance(problem, _UnusableError) else "it is damaged"
