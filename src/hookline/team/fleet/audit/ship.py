"""Send the journal of each machine to one stream: by offset, masked, with every gap counted.

The journal is the spool. While its runs are not sent, its files are kept by our own links, up to a bound;
then the oldest is removed, and its runs are counted as missing. Runs are numbered by machine, including
missing ones: a reader finds even gaps that no machine could report, such as those of a server that lost its
disk.
"""

import asyncio
import gzip
import os
import re
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from secrets import token_hex
from typing import Any, Final

import msgspec
from msgspec import Struct

from hookline.journal.file import journal_path, state_dir
from hookline.journal.journal import Journal
from hookline.journal.reader import Damage, records_in
from hookline.journal.redaction import Redactor
from hookline.model.errors import HooklineError
from hookline.model.run import Run
from hookline.team.fleet.connection import AUDIT, Fleet, FleetError
from hookline.trust.store import replace_file

#: Poll interval of the journal, in seconds.
_LOOK: Final = 0.5
#: Bytes of the journal in one message, at most, and files of it that are kept.
_BATCH: Final = 256 * 1024
_MOST_FILES: Final = 5
_LONGEST_LINE: Final = 1 << 20
#: Bytes of a batch when it is unpacked, at most: few bytes can become many.
_UNPACKED: Final = 16 << 20
#: Instead of an inode: the machine had no journal when it joined the fleet.
_NONE_YET: Final = -1
_MISSING: Final = re.compile(r"(\d+) runs are missing here")


class Position(Struct, frozen=True, kw_only=True):
    """Position up to which the journal was sent."""

    #: Which count of runs it is: one that had to begin anew is another one.
    count: str = ""
    #: Which of our links, by its number, and where in it.
    file: int = 0
    offset: int = 0
    #: The number of the next run.
    number: int = 0
    #: The inode that was linked last.
    inode: int = 0
    #: Runs that are gone before they could be sent, and not yet reported.
    missing: int = 0
    #: All runs that are missing in the audit, and when that was last found, in seconds since the epoch.
    missing_ever: int = 0
    missed: float = 0.0
    #: The number up to which runs that the server has lost were counted.
    compared: int = 0


class Batch(Struct, frozen=True, kw_only=True):
    """Runs of one machine, in order."""

    machine: str
    count: str = ""
    #: The number of the first; missing runs come before it.
    first: int
    missing: int = 0
    runs: tuple[Run, ...] = ()


class Shipper:
    """Sender of this user's journal."""

    def __init__(
        self, env: Mapping[str, str], machine: str, note: Callable[[str], None], mask: tuple[str, ...] = (),
        seconds: float = _LOOK,
    ) -> None:  # fmt: skip
        self._journal = journal_path(env)
        self._folder = os.path.join(state_dir(env), "fleet")
        self._machine = machine
        self._note = note
        self._mask = mask
        self._seconds = seconds
        self._cleaner = Journal(Redactor(env))
        self._position: Position | None = None

    async def keep(self) -> None:
        """Keep unsent files, with or without a server, until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_LOOK)

    async def run(self, fleet: Fleet) -> None:
        """Send existing and new runs until cancelled. Raises FleetError."""
        await self._compare(fleet)
        while True:
            while await self._send(fleet):
                pass
            await asyncio.sleep(self._seconds)

    def missing(self) -> tuple[int, float]:
        """Return how many runs of this machine are missing in the audit, and when that was last found."""
        position = self._at()
        return position.missing_ever + position.missing, position.missed

    async def _compare(self, fleet: Fleet) -> None:
        """Count runs that the server had and has lost: what it has last of this machine must be what was sent last.

        So nobody has to read the whole audit for it. Raises FleetError.
        """
        position = self._at()
        if not position.number:
            return
        last = await fleet.last(AUDIT, f"hl.run.{self._machine}")
        end, lost = _end_of(last, position.count), 0
        if end is None:
            # Of an empty stream nothing is left; one that has become too old is no loss.
            lost = position.number - position.compared if (await fleet.extent(AUDIT))[1] <= 1 else 0
        elif end < position.number:
            lost = position.number - max(end, position.compared)
        if lost > 0:
            self._note(f"the server has lost {lost:,} runs of the audit")
            position = msgspec.structs.replace(
                position,
                missing_ever=position.missing_ever + lost,
                missed=time.time(),
                compared=position.number,
            )
            self._keep(position)

    def unsent(self) -> int:
        """The bytes of the journal that are not sent."""
        position = self._at()
        try:
            sizes = [os.path.getsize(file) for number, file in self._links() if number >= position.file]
        except OSError:
            return 0  # one was sent meanwhile
        return max(0, sum(sizes) - position.offset)

    # -- unsent files

    def look(self) -> None:
        """Link new files of the journal, and remove the oldest links where there are too many."""
        try:
            self._link_new()
            self._drop_oldest()
        except (OSError, HooklineError) as problem:
            self._note(f"the journal cannot be kept for the audit: {problem}")

    def _link_new(self) -> None:
        position = self._at()
        current, last = _inode(self._journal), _inode(self._journal + ".1")
        if not current or current == position.inode:
            if not current and not position.inode:
                self._keep(msgspec.structs.replace(position, inode=_NONE_YET))
            return
        if position.inode not in (0, _NONE_YET, last):
            if last:
                self._link(self._journal + ".1")
            # Another file may have existed in between: that is unknown.
            position = self._at()
            self._keep(msgspec.structs.replace(position, missing=position.missing + 1))
            self._note("the journal was rotated while no worker ran: runs may be missing in the audit")
        self._link(self._journal)
        if not position.inode:  # from the time on at which the machine came into the fleet
            self._keep(msgspec.structs.replace(self._at(), offset=os.path.getsize(self._journal)))

    def _link(self, source: str) -> None:
        position = self._at()
        number = max((number for number, _file in self._links()), default=position.file) + 1
        os.link(source, os.path.join(self._folder, f"journal.{number}"))
        first = position.file or number
        self._keep(msgspec.structs.replace(position, file=first, inode=_inode(source)))

    def _drop_oldest(self) -> None:
        links = self._links()
        while len(links) > _MOST_FILES:
            number, file = links.pop(0)
            position = self._at()
            lost = 0
            if number >= position.file:
                with open(file, "rb") as stream:
                    stream.seek(position.offset if number == position.file else 0)
                    lost = sum(1 for _line in stream)
                self._note(
                    f"{lost:,} runs were not sent in time: the journal has grown beyond the limit of unsent files"
                )
            self._keep(
                msgspec.structs.replace(
                    position, missing=position.missing + lost, file=max(position.file, number + 1),
                    offset=0 if number >= position.file else position.offset,
                )
            )  # fmt: skip
            os.unlink(file)

    def _links(self) -> list[tuple[int, str]]:
        """Return our links to files of the journal, oldest first."""
        found = [name for name in os.listdir(self._folder) if re.fullmatch(r"journal\.\d+", name)]
        return sorted((int(name[8:]), os.path.join(self._folder, name)) for name in found)

    # -- sending

    async def _send(self, fleet: Fleet) -> bool:
        """Send some runs. Returns True if there may be more."""
        position = self._at()
        links = [each for each in self._links() if each[0] >= position.file]
        if not links:
            return False
        number, file = links[0]
        if number > position.file:
            position = msgspec.structs.replace(position, file=number, offset=0)
        lines, end = _lines(file, position.offset, final=len(links) > 1)
        if not lines and not position.missing:
            if len(links) == 1:
                return False
            os.unlink(file)
            self._keep(msgspec.structs.replace(position, file=links[1][0], offset=0))
            return True
        runs, missing = self._read(lines)
        missing += position.missing
        batch = Batch(
            machine=self._machine,
            count=position.count,
            first=position.number + missing,
            missing=missing,
            runs=tuple(runs),
        )
        await fleet.publish(
            f"hl.run.{self._machine}", gzip.compress(msgspec.json.encode(batch), 3), _headers(batch)
        )
        self._keep(
            msgspec.structs.replace(
                position, offset=end, number=batch.first + len(runs), missing=0,
                missing_ever=position.missing_ever + missing, missed=time.time() if missing else position.missed,
            )
        )  # fmt: skip
        return True

    def _read(self, lines: list[bytes]) -> tuple[list[Run], int]:
        runs: list[Run] = []
        missing = 0
        for line in lines:
            for found in records_in(line, 0):
                if isinstance(found, Damage):
                    delivered = _MISSING.match(found.problem)
                    missing += int(delivered[1]) if delivered else 1
                else:
                    runs.append(self._masked(found))
        return runs, missing

    def _masked(self, run: Run) -> Run:
        """Return the run as the journal would keep it, without this machine's secrets and without masked fields."""
        clean = self._cleaner.cleaned(run)
        changes: dict[str, Any] = {
            name: default
            for name, default in zip(Run.__struct_fields__[1:], Run.__struct_defaults__, strict=True)
            if name in self._mask
        }
        return msgspec.structs.replace(clean, **changes) if changes else clean

    # -- where we are

    @property
    def _file(self) -> str:
        return os.path.join(self._folder, "audit.json")

    def _at(self) -> Position:
        if self._position is None:
            try:
                with open(self._file, "rb") as stream:
                    self._position = msgspec.json.decode(stream.read(), type=Position)
            except FileNotFoundError:
                self._position = Position(count=token_hex(4))
            except (OSError, msgspec.MsgspecError) as problem:
                self._note(f"{self._file} cannot be read, so runs may be missing in the audit: {problem}")
                self._position = Position(count=token_hex(4), missing=1)
        return self._position

    def _keep(self, position: Position) -> None:
        try:
            replace_file(self._file, msgspec.json.encode(position))
        except OSError as problem:
            raise FleetError(f"{self._file} cannot be written: {problem.strerror or problem}") from None
        self._position = position


def _headers(batch: Batch) -> dict[str, str]:
    """Return headers from which a reader counts gaps without the runs.

    The id lets the server drop a batch sent twice.
    """
    return {
        "Hookline-Machine": batch.machine,
        "Hookline-Count-Of": batch.count,
        "Hookline-First": str(batch.first),
        "Hookline-Count": str(len(batch.runs)),
        "Hookline-Missing": str(batch.missing),
        "Nats-Msg-Id": f"{batch.count}.{batch.first}.{len(batch.runs)}",
    }  # fmt: skip


def _end_of(headers: Mapping[str, str] | None, count: str) -> int | None:
    """Return the number after the last run of a batch; None if it is not one of this count."""
    found = [] if headers is None else list(_numbers(headers))
    return next((first + size for _, count_of, first, size, _ in found if count_of == count), None)


def _lines(file: str, offset: int, *, final: bool) -> tuple[list[bytes], int]:
    """Return whole lines from an offset on, and where they end. In a full file the last line counts, too."""
    with open(file, "rb") as stream:
        stream.seek(offset)
        data = stream.read(_BATCH)
    whole = data.rpartition(b"\n")[0]
    if whole:
        data = whole + b"\n"
    elif data and not final and len(data) < _LONGEST_LINE and len(data) < _BATCH:
        return [], offset
    return data.splitlines(keepends=True), offset + len(data)


def _inode(file: str) -> int:
    try:
        return os.stat(file).st_ino
    except FileNotFoundError:
        return 0


# -- reading


class UnreadableBatchError(HooklineError):
    """An error for a message that is not a batch of runs."""


def read_batch(data: bytes) -> Batch:
    """Decode a batch. Raises UnreadableError."""
    try:
        unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
        text = unpacking.decompress(data, _UNPACKED)
        if not unpacking.eof:
            raise UnreadableBatchError("it is not whole, or too large")
        return msgspec.json.decode(text, type=Batch)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise UnreadableBatchError(str(problem)) from None


async def batches(fleet: Fleet) -> AsyncIterator[Batch]:
    """Yield all batches that the stream has now, oldest first. Batches that were sent twice come once."""
    known: dict[tuple[str, str], int] = {}
    async for data, _headers_of in fleet.read(AUDIT, "hl.run.>"):
        try:
            batch = read_batch(data)
        except UnreadableBatchError:
            continue  # the numbers of its machine show the gap
        counted, end = (batch.machine, batch.count), batch.first + len(batch.runs)
        twice = max(
            0, known.get(counted, 0) - batch.first
        )  # a worker was killed before it recorded the first time
        if end > known.get(counted, 0):
            known[counted] = end
            yield msgspec.structs.replace(batch, first=batch.first + twice, runs=batch.runs[twice:])


async def gaps(fleet: Fleet) -> Mapping[str, int]:
    """Count the runs missing in the audit, by machine. Runs that became too old are not missing."""
    whole = (await fleet.extent(AUDIT))[1] <= 1
    missing: dict[str, int] = {}
    following: dict[tuple[str, str], int] = {}
    async for _data, headers in fleet.read(AUDIT, "hl.run.>", headers_only=True):
        for machine, count_of, first, count, gone in _numbers(headers):
            begins = first - gone
            expected = following.get((machine, count_of), 0 if whole else begins)
            more = max(0, begins - expected) + (gone if first > expected else 0)
            missing[machine] = missing.get(machine, 0) + more
            following[machine, count_of] = max(expected, first + count)
    return missing


def _numbers(headers: Mapping[str, str]) -> Iterator[tuple[str, str, int, int, int]]:
    try:
        first, count, gone = (int(headers[f"Hookline-{name}"]) for name in ("First", "Count", "Missing"))
        yield headers["Hookline-Machine"], headers["Hookline-Count-Of"], first, count, gone
    except (KeyError, ValueError):
        return
