"""Read the journal: every whole record, and a description of every damaged part."""

import os
import stat
from collections.abc import Iterator
from io import BufferedReader

import msgspec
from msgspec import Struct

from hookline.journal.file import SUM, SUM_LENGTH, VERSION, is_whole
from hookline.model.run import Run
from hookline.model.safe_text import one_line

_LONGEST_LINE = 1024 * 1024
_DAMAGE_KEPT = 1000
#: How every record begins. Quotes inside a JSON string are escaped, so it occurs nowhere else in a line.
_RECORD = b'{"v":'


class Damage(Struct, frozen=True):
    """A damaged part of the file."""

    line: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}" if self.line else self.problem


class JournalReading(Struct, frozen=True):
    runs: tuple[Run, ...]
    damage: tuple[str, ...] = ()


class _Head(Struct, frozen=True):
    v: int
    #: Runs that could not be written here, because the disk was full or the like.
    gap: int = 0


class _UnreadableError(Exception):
    pass


_read_head = msgspec.json.Decoder(_Head).decode
_read_run = msgspec.json.Decoder(Run).decode


def read_journal(path: str) -> JournalReading:
    """Read the whole file at once. Of much damage, the first part is described and the rest counted."""
    runs: list[Run] = []
    damage: list[str] = []
    more = 0
    for item in scan_journal(path):
        if isinstance(item, Run):
            runs.append(item)
        elif len(damage) < _DAMAGE_KEPT:
            damage.append(str(item))
        else:
            more += 1
    if more:
        damage.append(f"and {more} more")
    return JournalReading(tuple(runs), tuple(damage))


def scan_journal(path: str) -> Iterator[Run | Damage]:
    """Yield the records in the order of the file, one at a time, however big it is."""
    try:
        file = regular_file(path)
    except (OSError, ValueError) as error:
        yield Damage(0, one_line(f"the journal cannot be read: {error}", 500))
        return
    with file:
        number = 0
        try:
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
                    yield from _records(line, number)
                else:
                    yield Damage(number, f"longer than {_LONGEST_LINE} bytes, skipped")
                    _skip_line(file)
        except OSError as error:
            yield Damage(number, one_line(f"the rest cannot be read: {error}", 500))


def records_in(line: bytes, number: int) -> Iterator[Run | Damage]:
    """Yield the records of one line, for callers that read the lines themselves."""
    return _records(line, number)


def regular_file(path: str) -> BufferedReader:
    """Open it for reading. Raises OSError, or ValueError when it is not a regular file."""
    # Not blocking: opening a named pipe would otherwise wait for a writer.
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ValueError(f"not a regular file: {path}")
    return os.fdopen(fd, "rb")


def _skip_line(file: BufferedReader) -> None:
    while (more := file.readline(_LONGEST_LINE)) and not more.endswith(b"\n"):
        pass


def _records(line: bytes, number: int) -> Iterator[Run | Damage]:
    """Yield the one record of a line; of a damaged line, those after a torn or garbled beginning."""
    if not line.strip():
        return
    try:
        yield _record(line, number)
    except _UnreadableError as error:
        unfinished = "" if line.endswith(b"\n") else ", and the line does not end"
        yield Damage(number, f"{error}{unfinished}")
        yield from _rescued(line, number)


def _rescued(line: bytes, number: int) -> Iterator[Run | Damage]:
    start = line.find(_RECORD)
    while start >= 0:
        following = line.find(_RECORD, start + 1)
        piece = line[start : following if following > 0 else len(line)]
        try:
            yield _record(piece[: piece.find(SUM) + SUM_LENGTH], number)
        except _UnreadableError:
            pass  # already reported as damage
        start = following


def _record(text: bytes, number: int) -> Run | Damage:
    try:
        head = _read_head(text)
        if head.v > VERSION:
            return Damage(number, f"written by a newer version ({head.v}), not read")
        if not is_whole(text):
            raise _UnreadableError("not a whole record: the check sum is wrong")
        if head.gap:
            return Damage(number, f"{head.gap} runs are missing here: they could not be written")
        return _read_run(text)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _UnreadableError(one_line(f"not a whole record: {error}", 200)) from None
