"""Read the console's runs: from the journal of this machine, or another ordered source.

A source consists of segments that only grow, such as the files of a journal or a stream. A run is found again
by its segment and offset, so that it need not be copied.
"""

import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol
from zlib import crc32

from msgspec import Struct

from hookline.journal.reader import Damage, records_in
from hookline.model.run import Run

_LONGEST_LINE = 1024 * 1024
_PIECE = 16 * 1024
_SEAM = 64


class Segment(Struct, frozen=True):
    """A part of a source."""

    #: Its unique name, different also from a later replacement.
    name: str
    #: The offset after the current last run.
    end: int


class JournalEntry(Struct, frozen=True):
    """One run, or a damaged record."""

    offset: int
    #: A damaged line can have several runs.
    nth: int
    #: Where the next entry begins.
    following: int
    #: The machine on which the hook ran.
    machine: str
    item: Run | Damage


class RunSource(Protocol):
    """Ordered runs of any number of machines. Methods are called from several threads."""

    @property
    def name(self) -> str:
        """A name unlike those of other sources of the same console."""
        ...

    @property
    def local(self) -> bool:
        """True if the runs were made on this machine, whose configuration and transcripts can explain them."""
        ...

    def segments(self) -> Sequence[Segment]:
        """Return the current segments, oldest first. Raises OSError if they cannot be read."""
        ...

    def entries(self, segment: str, offset: int) -> Iterator[JournalEntry]:
        """Yield complete entries from an offset on."""
        ...

    def run(self, segment: str, offset: int, nth: int) -> Run | None:
        """Return a run; None: it is gone."""
        ...

    def seam(self, segment: str, offset: int) -> int:
        """Return a checksum of the data before the offset. If it changes, the segment was rewritten."""
        ...

    def notes(self) -> Sequence[str]:
        """Return notes for readers of its runs, such as that it is not up to date."""
        ...

    def close(self) -> None: ...


class JournalSource:
    """A machine's journal, and the full one that it replaced. It is this machine's, or a copy of another's."""

    def __init__(self, path: str, machine: str, *, local: bool = True) -> None:
        self.name = path
        self.local = local
        self._path = path
        self._machine = machine
        self._lock = threading.Lock()
        self._stats: tuple[object, ...] = ()
        self._files: dict[str, int] = {}
        self._segments: tuple[Segment, ...] = ()

    def segments(self) -> Sequence[Segment]:
        with self._lock:
            stats = tuple(_stat(path) for path in (f"{self._path}.1", self._path))
            if stats != self._stats:
                self._open()
                self._stats = stats
            return self._segments

    def _open(self) -> None:
        """Open current files, and close those that are gone."""
        found: dict[str, int] = {}
        sizes: dict[str, int] = {}
        for path in (f"{self._path}.1", self._path):
            opened = _opened(path)
            if opened is not None:
                fd, name, size = opened
                if name in found:
                    os.close(fd)  # renamed between the two looks
                else:
                    found[name], sizes[name] = fd, size
        for fd in self._files.values():
            os.close(fd)
        self._files = found
        self._segments = tuple(Segment(name, sizes[name]) for name in found)

    def entries(self, segment: str, offset: int) -> Iterator[JournalEntry]:
        fd = self._duplicate(segment)
        if fd is None:
            return
        with os.fdopen(fd, "rb") as file:
            file.seek(offset)
            while line := file.readline(_LONGEST_LINE):
                start = offset
                if not line.endswith(b"\n"):
                    if len(line) < _LONGEST_LINE:
                        return  # not complete yet
                    while line and not line.endswith(b"\n"):
                        line = file.readline(_LONGEST_LINE)
                    offset = file.tell()
                    problem = f"a line longer than {_LONGEST_LINE} bytes, skipped"
                    yield JournalEntry(start, 0, offset, self._machine, Damage(0, problem))
                    continue
                offset += len(line)
                for nth, item in enumerate(records_in(line, 0)):
                    yield JournalEntry(start, nth, offset, self._machine, item)

    def run(self, segment: str, offset: int, nth: int) -> Run | None:
        line = self._line(segment, offset)
        for number, item in enumerate(records_in(line, 0)) if line else ():
            if number == nth:
                return item if isinstance(item, Run) else None
        return None

    def _line(self, segment: str, offset: int) -> bytes:
        with self._lock:
            fd = self._files.get(segment)
            if fd is None or offset < 0:
                return b""
            if offset and os.pread(fd, 1, offset - 1) != b"\n":
                return b""  # a made-up address
            line = b""
            while b"\n" not in line and len(line) < _LONGEST_LINE:
                piece = os.pread(fd, _PIECE, offset + len(line))
                if not piece:
                    return b""
                line += piece
        return line[: line.find(b"\n") + 1]

    def seam(self, segment: str, offset: int) -> int:
        with self._lock:
            fd = self._files.get(segment)
            if fd is None:
                return -1
            before = os.pread(fd, min(_SEAM, offset), max(offset - _SEAM, 0))
        return crc32(before) if len(before) == min(_SEAM, offset) else -1

    def _duplicate(self, segment: str) -> int | None:
        """Return a separate file description, because reading moves its position."""
        with self._lock:
            fd = self._files.get(segment)
            if fd is None:
                return None
            try:
                return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                pass
        for path in (self._path, f"{self._path}.1"):  # a system without /proc
            opened = _opened(path)
            if opened is not None:
                if opened[1] == segment:
                    return opened[0]
                os.close(opened[0])
        return None

    def notes(self) -> Sequence[str]:
        return ()

    def close(self) -> None:
        with self._lock:
            for fd in self._files.values():
                os.close(fd)
            self._files, self._segments, self._stats = {}, (), ()


class CopiedJournals:
    """Journals of other machines, each in a copy that another process keeps up to date."""

    local = False

    def __init__(
        self, name: str, journals: Callable[[], Mapping[str, str]], notes: Callable[[], Sequence[str]]
    ) -> None:
        self.name = name
        self.notes = notes
        #: The current file of each machine.
        self._journals = journals
        self._lock = threading.Lock()
        self._sources: dict[str, JournalSource] = {}
        self._by_segment: dict[str, JournalSource] = {}

    def segments(self) -> Sequence[Segment]:
        with self._lock:
            journals = self._journals()
            for machine in self._sources.keys() - journals.keys():
                self._sources.pop(machine).close()
            for machine in journals.keys() - self._sources.keys():
                self._sources[machine] = JournalSource(journals[machine], machine, local=False)
            found = [(each, source) for source in self._sources.values() for each in source.segments()]
            self._by_segment = {each.name: source for each, source in found}
            return [each for each, _ in found]

    def entries(self, segment: str, offset: int) -> Iterator[JournalEntry]:
        source = self._by_segment.get(segment)
        return source.entries(segment, offset) if source is not None else iter(())

    def run(self, segment: str, offset: int, nth: int) -> Run | None:
        source = self._by_segment.get(segment)
        return source.run(segment, offset, nth) if source is not None else None

    def seam(self, segment: str, offset: int) -> int:
        source = self._by_segment.get(segment)
        return source.seam(segment, offset) if source is not None else -1

    def close(self) -> None:
        with self._lock:
            for source in self._sources.values():
                source.close()
            self._sources, self._by_segment = {}, {}


def _stat(path: str) -> object:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _opened(path: str) -> tuple[int, str, int] | None:
    """Open a file with at least one whole line: return its descriptor, its name as a segment, and its size."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    found = os.fstat(fd)
    # Not only its number, which another file may have later: its first line has the time of the first run.
    first = os.pread(fd, _PIECE, 0) if stat.S_ISREG(found.st_mode) else b""
    if not first or (b"\n" not in first and len(first) < _PIECE):
        os.close(fd)
        return None
    mark = crc32(first.partition(b"\n")[0])
    return fd, f"{found.st_dev:x}-{found.st_ino:x}-{mark:08x}", found.st_size
