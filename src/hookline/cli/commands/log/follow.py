"""`hookline log --follow`: the newest runs, then each new one, until the reader of stdout is gone."""

import os
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from hookline.cli.commands.log.report import no_journal_text, run_lines
from hookline.cli.commands.log.run import Filter, records_of, report_damage, rotated
from hookline.cli.output import ExitStatus, note, show_part
from hookline.cli.text import terminal_width
from hookline.journal.reader import Damage, records_in
from hookline.model.run import Run

#: Seconds between two looks: a stat, and a read of nothing.
_INTERVAL = 0.25
_CHUNK = 1024 * 1024
#: A longer line is skipped; Hookline writes none.
_LONGEST = 4 * _CHUNK


class Tail:
    """What was written to a journal since the last look, across its rotation; the first look gives all there is."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rest = b""
        self._line = 0
        self._fd = self._opened()

    def look(self) -> Iterator[Run | Damage]:
        """Everything that is complete by now. A rotated file is read to its end before the new one."""
        yield from self._read()
        if self._replaced():
            yield from self._read()  # what was written between the last read and the rotation
            self.close()
            if self._rest:
                yield from records_in(self._rest, self._line + 1)
            self._rest, self._line = b"", 0
            self._fd = self._opened()
            yield from self._read()

    @property
    def is_open(self) -> bool:
        return self._fd is not None

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _opened(self) -> int | None:
        try:
            return os.open(
                self._path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
            )
        except OSError:
            return None  # not there yet, or not any more

    def _replaced(self) -> bool:
        if self._fd is None:
            return os.path.exists(self._path)
        try:
            current = os.stat(self._path)
        except OSError:
            return False  # gone, and nothing in its place yet
        opened = os.fstat(self._fd)
        shorter = os.lseek(self._fd, 0, os.SEEK_CUR) > opened.st_size
        return shorter or (current.st_dev, current.st_ino) != (opened.st_dev, opened.st_ino)

    def _read(self) -> Iterator[Run | Damage]:
        while self._fd is not None:
            try:
                chunk = os.read(self._fd, _CHUNK)
            except OSError as problem:
                yield Damage(0, f"the journal cannot be read: {problem.strerror}")
                self.close()
                return
            if not chunk:
                return
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            for line in lines:
                self._line += 1
                yield from records_in(line + b"\n", self._line)
            if len(self._rest) > _LONGEST:
                yield Damage(self._line + 1, f"longer than {_LONGEST} bytes, skipped")
                self._rest = b""


def follow(path: str, wanted: Filter, limit: int | None, *, as_json: bool) -> ExitStatus:
    """Ends when stdout does, or on an interrupt."""
    tail = Tail(path)  # first, so that a file rotated from now on is still read to its end
    try:
        newest, damage = _so_far(path, tail, wanted, limit)
        if not tail.is_open and not damage:
            note(no_journal_text(path, terminal_width()))
        report_damage(path, damage)
        for run in newest:
            status = _show(run, as_json=as_json)
            if status is not None:
                return status
        return _from_now_on(path, tail, wanted, damage[-1] if damage else "", as_json=as_json)
    finally:
        tail.close()


def _so_far(path: str, tail: Tail, wanted: Filter, limit: int | None) -> tuple[Sequence[Run], Sequence[str]]:
    newest: deque[Run] = deque(maxlen=limit)
    damage: list[str] = []
    for item in chain(records_of(rotated(path), wanted.since), tail.look()):
        if isinstance(item, Damage):
            damage += [str(item)] if str(item) not in damage[-1:] else []
        elif wanted.takes(item):
            newest.append(item)
    return newest, damage


def _from_now_on(path: str, tail: Tail, wanted: Filter, reported: str, *, as_json: bool) -> ExitStatus:
    while not _reader_is_gone():
        for item in tail.look():
            if isinstance(item, Damage):
                if str(item) != reported:  # an unreadable file would be reported at every look
                    report_damage(path, [str(item)])
                reported = str(item)
            elif wanted.takes(item):
                status = _show(item, as_json=as_json)
                if status is not None:
                    return status
        time.sleep(_INTERVAL)
    return ExitStatus.OK


def _show(run: Run, *, as_json: bool) -> ExitStatus | None:
    text = msgspec.json.encode(run).decode() if as_json else "\n".join(run_lines(run, terminal_width()))
    return show_part(text, as_json=as_json)


def _reader_is_gone() -> bool:
    """Whether the other end of the pipe is closed, found out without writing: the next run may be hours away."""
    try:
        import select

        poll = select.poll()  # not on every system
        poll.register(sys.stdout.fileno(), 0)
        return bool(poll.poll(0)) and not os.isatty(sys.stdout.fileno())
    except (ImportError, AttributeError, OSError, ValueError):
        return False
