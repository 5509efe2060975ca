"""Copy the runs of other machines from the audit into one journal per machine, for the team's console.

A copy can be deleted at any time: it is read again from the server, as far back as the server has it. One
process writes it at a time. The position in the stream and the lengths of its files are stored together;
after a kill it continues from there. Nothing that other machines send is trusted: names, sizes and times are
checked.
"""

import asyncio
import fcntl
import os
import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.journal.file import encoded, state_dir
from hookline.model.run import Run
from hookline.model.safe_text import one_line
from hookline.team.fleet.audit.ship import Batch, UnreadableBatchError, read_batch
from hookline.team.fleet.connection import AUDIT, Fleet, FleetError, StoredMessage, connected
from hookline.team.fleet.settings import FleetSettings, is_worker_name
from hookline.trust.store import replace_file

#: Bytes after which a file is full. Each machine has two; together they are no more than the audit of the server.
_FULL: Final = 16 << 20
_MOST_MACHINES: Final = 256
_LONGEST_LINE: Final = 1 << 20
#: Counts of runs remembered per machine: it begins a new count when it has lost its position.
_MOST_COUNTS: Final = 8
#: Numbers beyond it are made up.
_HIGHEST: Final = 1 << 50
#: Seconds by which the clock of a machine may be ahead of the server's.
_AHEAD: Final = 60.0
#: Seconds until the server, or the lock, is tried again.
_AGAIN: Final = 1.0
#: Seconds for which a gap is shown.
_SHOWN: Final = 7 * 86_400.0
_CAPITAL: Final = re.compile(r"[A-Z]")
_FILE: Final = re.compile(r"((?:[a-z0-9_=-]|~[a-z])+)\.jsonl(?:\.1)?")


class _Copied(Struct, kw_only=True):
    """Copied data of one machine."""

    #: Which file it is, and how much of it counts.
    inode: int = 0
    size: int = 0
    #: The number of the next run, in each of its counts.
    following: dict[str, int] = {}
    #: Runs that are missing, and when that was last found, by the server's clock.
    missing: int = 0
    missed: float = 0.0
    heard: float = 0.0


class _Position(Struct, kw_only=True):
    #: Which stream it is, by the time at which it was made, and the last of its messages that was read.
    stream: str = ""
    number: int = 0
    #: When there was last nothing left to read, in seconds since the epoch.
    at: float = 0.0
    machines: dict[str, _Copied] = {}
    #: Messages that are not ours, and machines that were dropped.
    refused: int = 0
    dropped: int = 0


class AuditCopy:
    """Copies of other machines' journals, updated while it runs."""

    def __init__(self, settings: FleetSettings, env: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.machine = settings.worker
        self._settings = settings
        self._say = say
        self._folder = os.path.join(state_dir(env), "audit")
        #: The file in which this user's worker records what it has sent: its runs are in the journal here.
        self._worker = os.path.join(state_dir(env), "fleet", "audit.json")
        self._position = _Position()
        self._problem = "The audit was not asked yet"
        self._left = 0

    # -- for display; called from any thread

    def journals(self) -> Mapping[str, str]:
        """Return the journal of each machine but this one."""
        try:
            files = os.listdir(self._folder)
        except FileNotFoundError:
            return {}
        own = self._own
        found = {_machine(match[1]) for file in files if (match := _FILE.fullmatch(file))}
        return {name: self._path(name) for name in sorted(found) if is_worker_name(name) and name != own}

    def notes(self) -> Sequence[str]:
        """Return notes that readers of the runs need."""
        position, now, found = self._position, time.time(), list[str]()
        if self._problem:
            shown = (
                f"shown as of {_recorded(position.at)}" if position.at else "not here yet, or not all of them"
            )
            found.append(f"{self._problem}. The runs of other machines are {shown}.")
        elif self._left:
            found.append(f"Reading the audit of the fleet: {self._left:,} messages to go.")
        elif not position.machines:
            found.append("No other machine has sent a run to the audit of the fleet yet.")
        gaps = [
            f"{each.missing:,} of {name}"
            for name, each in sorted(position.machines.items())
            if each.missing and now - each.missed < _SHOWN
        ]
        if gaps:
            found.append(one_line(f"Runs missing in the audit: {', '.join(gaps)}", 300))
        if position.refused:
            found.append(
                f"{position.refused:,} messages of the audit were refused: they are not runs of a machine."
            )
        if position.dropped:
            found.append(
                f"{_MOST_MACHINES} machines are kept here; {position.dropped:,} had to make room, those first that were"
                " silent the longest."
            )
        return found

    # -- the one that copies

    async def run(self) -> None:
        """Copy until cancelled. Raises MissingExtraError."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        while True:
            try:
                with self._alone():
                    await self._copy()
            except BlockingIOError:
                self._position = self._read()
                self._note(
                    "Another console of yours copies the audit of the fleet, and this one shows that copy"
                )
            except FleetError as problem:
                self._note(str(problem))
            except OSError as problem:
                where = problem.filename or self._folder
                self._note(f"The copy of the audit cannot be written: {where}: {problem.strerror or problem}")
            await asyncio.sleep(_AGAIN)

    async def _copy(self) -> None:
        """Copy from the server. Raises FleetError when it goes away, OSError if nothing can be written."""
        self._position = position = self._begin()
        try:
            async with connected(self._settings) as fleet, asyncio.TaskGroup() as group:
                group.create_task(fleet.until_lost())
                group.create_task(self._follow(fleet, position))
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None
        finally:
            with suppress(OSError):  # everything since the last commit is read again
                self._keep(position)

    async def _follow(self, fleet: Fleet, position: _Position) -> None:
        made, first, last = await fleet.extent(AUDIT)
        if made != position.stream or last < position.number:
            # Another stream, or a restored one: the numbers of runs show which are here already.
            position.stream, position.number = made, 0
        whole = first <= 1
        self._is_left(position, max(0, last - max(position.number, first - 1)))
        async for messages in fleet.follow(AUDIT, "hl.run.>", position.number):
            for message in messages:
                # Not in a thread, which would continue after the lock is released.
                self._take(position, message, whole=whole and not position.dropped)
                position.number = message.number
                await asyncio.sleep(0)
            if messages:
                self._keep(position)
            self._is_left(position, messages[-1].left if messages else 0)

    def _is_left(self, position: _Position, messages: int) -> None:
        """Record how many messages are left, as the server said."""
        self._left, self._problem = messages, ""
        if not messages:
            position.at = time.time()

    def _take(self, position: _Position, message: StoredMessage, *, whole: bool) -> None:
        name = message.subject.removeprefix("hl.run.")
        try:
            batch = read_batch(message.data)
        except UnreadableBatchError:
            batch = None
        if batch is None or not is_worker_name(name) or batch.machine != name or not _is_possible(batch):
            position.refused += 1
        elif name != self._own:
            self._add(position, batch, message.written, whole=whole)

    def _add(self, position: _Position, batch: Batch, written: float, *, whole: bool) -> None:
        copied = position.machines.get(batch.machine)
        if copied is None:
            self._make_room(position)
            copied = position.machines[batch.machine] = _Copied()
        begins = batch.first - batch.missing
        expected = copied.following.get(batch.count, 0 if whole else begins)
        missing = max(0, begins - expected) + (batch.missing if batch.first > expected else 0)
        # A worker that was killed before recording what it sent sends it twice.
        runs = batch.runs[max(0, expected - batch.first) :]
        lines = [encoded(_in_time(run, written)) for run in runs]
        fitting = [line for line in lines if len(line) < _LONGEST_LINE]
        missing += len(lines) - len(fitting)
        self._append(batch.machine, copied, b"".join(fitting))
        copied.following.pop(batch.count, None)  # the one that was heard of last is the last
        copied.following[batch.count] = max(expected, batch.first + len(batch.runs))
        while len(copied.following) > _MOST_COUNTS:
            del copied.following[next(iter(copied.following))]
        copied.heard = written
        if missing:
            copied.missing, copied.missed = copied.missing + missing, written

    def _append(self, machine: str, copied: _Copied, lines: bytes) -> None:
        if not lines:
            return
        path = self._path(machine)
        if copied.size >= _FULL:
            os.replace(path, f"{path}.1")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(lines)
            file.flush()
            found = os.fstat(file.fileno())
        copied.inode, copied.size = found.st_ino, found.st_size

    def _make_room(self, position: _Position) -> None:
        while len(position.machines) >= _MOST_MACHINES:
            name = min(position.machines, key=lambda each: position.machines[each].heard)
            del position.machines[name]
            position.dropped += 1
            self._remove(name)

    # -- where we are

    def _begin(self) -> _Position:
        """Return the position, with files that match it."""
        position = self._read()
        if not all(self._fits(name, copied) for name, copied in position.machines.items()):
            self._say("the copy of the audit is damaged and is rebuilt")
            position = _Position()
        for name in self.journals().keys() - position.machines.keys():
            self._remove(name)
        return position

    def _fits(self, machine: str, copied: _Copied) -> bool:
        """Return True if all recorded data is there.

        Anything more was written by a process that was killed, and is truncated.
        """
        path = self._path(machine)
        inode, size = _inode_and_size(path)
        if inode == copied.inode and size >= copied.size:
            if size > copied.size:
                os.truncate(path, copied.size)
            return True
        if _inode_and_size(f"{path}.1") != (copied.inode, copied.size):
            return False
        if inode:  # the file was full, and another one begun
            os.unlink(path)
        if copied.inode:
            os.replace(f"{path}.1", path)
        return True

    def _read(self) -> _Position:
        try:
            with open(self._file, "rb") as stream:
                return msgspec.json.decode(stream.read(), type=_Position)
        except FileNotFoundError:
            return _Position()
        except msgspec.MsgspecError:
            self._say(f"{self._file} cannot be read, and the copy of the audit is made anew")
            return _Position()

    def _keep(self, position: _Position) -> None:
        replace_file(self._file, msgspec.json.encode(position))

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Take the lock. Raises BlockingIOError if another process has it."""
        lock = os.open(os.path.join(self._folder, "copy.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(lock)

    def _remove(self, machine: str) -> None:
        for ending in ("", ".1"):
            try:
                os.unlink(self._path(machine) + ending)
            except FileNotFoundError:
                pass

    def _note(self, problem: str) -> None:
        """Report a problem once; pages show it while it lasts."""
        # An address may have a password.
        shown = one_line(re.sub(r"//[^/@\s]*@", "//", problem), 300)
        shown = shown[:1].upper() + shown[1:]
        if shown != self._problem:
            self._problem = shown
            self._say(shown)

    @property
    def _own(self) -> str:
        return self.machine if os.path.exists(self._worker) else ""

    @property
    def _file(self) -> str:
        return os.path.join(self._folder, "position.json")

    def _path(self, machine: str) -> str:
        """Return a machine's file, encoded so that Alpha and alpha differ on every file system."""
        name = _CAPITAL.sub(lambda found: f"~{found[0].lower()}", machine)
        return os.path.join(self._folder, f"{name}.jsonl")


def _machine(file: str) -> str:
    return re.sub(r"~([a-z])", lambda found: found[1].upper(), file)


def _is_possible(batch: Batch) -> bool:
    return 0 <= batch.missing <= batch.first < _HIGHEST and len(batch.count) < 64


def _in_time(run: Run, written: float) -> Run:
    """Limit a run's time to its arrival at the server: else it would be the newest for ever."""
    return run if run.at <= written + _AHEAD else replace(run, at=written)


def _inode_and_size(path: str) -> tuple[int, int]:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_size


def _recorded(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
