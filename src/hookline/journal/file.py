"""Write the journal to disk: one JSON line per run, appended by any number of processes.

Every line is one write to a file opened for appending, so lines of different processes never mix and a killed
process loses at most its own last line. If the file cannot be written, that is reported once and tried again
later.
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping
from typing import Any, cast
from zlib import crc32

import msgspec

from hookline.model.run import Called, Run
from hookline.model.safe_text import one_line

#: Written into each line. A reader skips lines of a newer version.
VERSION = 1
#: Each line ends in a checksum of the rest: damaged bytes can still look like a record.
SUM = b',"sum":"'
SUM_LENGTH = len(SUM) + len('01234567"}')

_ROTATE_AT = 64 * 1024 * 1024
_RETRY_AFTER = 30.0
_PROBLEMS_KEPT = 20
#: Windows lacks some of these. A symbolic link is not followed, and a file under a lease is not waited for.
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY")
)  # fmt: skip
#: Names and defaults; the hook, which has none, is always written. (`structs.fields` would cost milliseconds.)
_FIELDS = tuple(zip(Run.__struct_fields__, (msgspec.NODEFAULT, *Run.__struct_defaults__), strict=True))


def state_dir(env: Mapping[str, str]) -> str:
    """Return this user's state directory: below the home directory, never by XDG_STATE_HOME.

    A project's settings could set that variable and so supply its own journal and queue.
    """
    home = env.get("HOME", "")
    # A user without a home: only root may write to /, so the journal is off and reports it.
    home = home if os.path.isabs(home) else account_home() or os.sep
    return os.path.join(home, ".local", "state", "hookline")


def account_home() -> str | None:
    """Return the home directory in the user database; None for a user without an entry."""
    try:
        import pwd  # noqa: PLC0415 - not on every system

        found = pwd.getpwuid(os.geteuid()).pw_dir
    except ImportError:
        found = os.path.expanduser("~")
    except KeyError:
        return None
    return found if os.path.isabs(found) else None


def account_name() -> str:
    """Return the name of this user in the user database, or the number of one without an entry."""
    try:
        import pwd  # noqa: PLC0415 - not on every system

        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return str(os.geteuid())


def journal_path(env: Mapping[str, str]) -> str:
    return os.path.join(state_dir(env), "journal.jsonl")


def jobs_path(env: Mapping[str, str]) -> str:
    """Return the path of this user's queue of durable hooks; calls of agents look if there is one."""
    return os.path.join(state_dir(env), "jobs.sqlite")


def encoded(run: Run) -> bytes:
    """Encode a run as one line, newline included, with the fields that differ from their defaults."""
    line: dict[str, Any] = {"v": VERSION}
    for name, default in _FIELDS:
        value = getattr(run, name)
        if value != default:
            line[name] = value if type(value) is not Called else _filled(value)
    try:
        return summed(line)
    except UnicodeEncodeError:
        # Half a surrogate pair cannot be written as UTF-8; it is escaped instead.
        return summed({name: _escaped(value) for name, value in line.items()})


def _filled(call: Called) -> dict[str, str]:
    return {name: text for name in Called.__struct_fields__ if (text := getattr(call, name))}


def is_whole(line: bytes) -> bool:
    """Return True if the checksum of the line is right."""
    record = line.rstrip(b"\n")
    return record == _with_sum(record[:-SUM_LENGTH] + b"}")


def summed(line: dict[str, Any]) -> bytes:
    """Encode a record as a line with its checksum."""
    return _with_sum(msgspec.json.encode(line)) + b"\n"


def _with_sum(body: bytes) -> bytes:
    return b'%b%b%08x"}' % (body[:-1], SUM, crc32(body))


def _escaped(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_escaped(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - tuple of Any
    if isinstance(value, dict):
        return {name: _escaped(text) for name, text in cast("dict[str, Any]", value).items()}
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


class JournalFile:
    """A writer that appends runs, or other records by their `encode`, to one file.

    It opens the file for the first run and never raises.
    """

    def __init__(
        self,
        path: str,
        *,
        rotate_at: int = _ROTATE_AT,
        retry_after: float = _RETRY_AFTER,
        clock: Callable[[], float] = time.monotonic,
        encode: Callable[[Any], bytes] = encoded,
    ) -> None:
        self.path = path
        self._encode = encode
        self._rotate_at = rotate_at
        self._retry_after = retry_after
        self._clock = clock
        self._fd: int | None = None
        self._identity = (0, 0)
        #: The file ends in the middle of a line, because a write of ours or of another process was interrupted.
        self._torn = False
        self._retry_at: float | None = None
        self._missing = 0
        self._lost = 0
        self._problems: dict[str, None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self._problems)

    @property
    def lost(self) -> int:
        """The number of runs that were not written because the file was not writable."""
        return self._lost

    def append(self, run: Any) -> None:
        if self._retry_at is not None and self._clock() < self._retry_at:
            self._lose()
            return
        try:
            line = self._encode(run)
        except Exception as error:  # noqa: BLE001 - a field of a wrong type costs this line, not the journal
            self._lose()
            self._note(f"journal: a run could not be written: {type(error).__name__}: {error} ({self.path})")
            return
        try:
            gap = summed({"v": VERSION, "gap": self._missing}) if self._missing else b""
            self._write(gap + line)
        except (OSError, ValueError) as error:
            self._lose()
            self._turn_off(error)
        else:
            self._missing = 0
            self._retry_at = None

    def check(self) -> None:
        """Check now that a run can be written later."""
        if self._retry_at is None or self._clock() >= self._retry_at:
            try:
                self._ready()
            except (OSError, ValueError) as error:
                self._turn_off(error)

    def close(self) -> None:
        """Close the file; a later run opens it again."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            try:
                os.close(fd)
            except OSError as error:
                self._note(f"journal: {_reason(error)} on closing ({self.path})")

    def _write(self, lines: bytes) -> None:
        fd = self._ready()
        rest = memoryview(b"\n" + lines if self._torn else lines)
        while rest:
            written = os.write(fd, rest)
            if written == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            rest = rest[written:]
            self._torn = bool(rest)

    def _ready(self) -> int:
        """Return a descriptor of the file at the path: other processes may have rotated or removed it."""
        found = _status(self.path)
        if self._fd is None or found is None or (found.st_dev, found.st_ino) != self._identity:
            return self._open()
        if found.st_size >= self._rotate_at and stat.S_ISREG(found.st_mode):
            rotate(self.path, self._rotate_at)
            return self._open()
        return self._fd

    def _open(self) -> int:
        self.close()
        if not os.path.isabs(self.path):
            raise ValueError("not an absolute path")
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        fd = os.open(self.path, _FLAGS, 0o600)
        try:
            found = os.fstat(fd)
            _check_owner(fd, found)
            self._torn = _ends_torn(fd, found)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        self._identity = (found.st_dev, found.st_ino)
        return fd

    def _turn_off(self, error: OSError | ValueError) -> None:
        self.close()
        self._retry_at = self._clock() + self._retry_after
        self._note(f"journal off: {_reason(error)} ({self.path})")

    def _lose(self) -> None:
        self._missing += 1
        self._lost += 1

    def _note(self, problem: str) -> None:
        if len(self._problems) < _PROBLEMS_KEPT:
            self._problems[one_line(problem, 500)] = None


def rotate(path: str, limit: int) -> None:
    """Rename a full file to `.1`, once, however many processes found it full."""
    # A descriptor of our own: locks belong to the open file, which a forked child would share.
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if _locked(fd):
            mine, found = os.fstat(fd), _status(path)
            if found is not None and found.st_ino == mine.st_ino and mine.st_size >= limit:
                os.replace(path, path + ".1")
    finally:
        os.close(fd)


def _locked(fd: int) -> bool:
    import fcntl  # noqa: PLC0415 - not on Windows, and only needed once per 64 MB

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _check_owner(fd: int, found: os.stat_result) -> None:
    if stat.S_ISCHR(found.st_mode):
        return
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("not a regular file")
    if found.st_uid != os.geteuid():
        raise ValueError("owned by another user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.fchmod(fd, 0o600)


def _ends_torn(fd: int, found: os.stat_result) -> bool:
    if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
        return False
    return os.pread(fd, 1, found.st_size - 1) not in {b"\n", b""}


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return "a symbolic link is in its place" if error.errno == errno.ELOOP else os.strerror(error.errno)
    return str(error)
