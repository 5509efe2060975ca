"""Following a journal while others write it, also across its rotation."""

import os
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain

from hookline.cli.commands.log.report import Wanted, run_lines
from hookline.cli.commands.log.run import items, moved_aside, nothing_yet, run_json, tell_damage
from hookline.cli.output import FINE, keep_showing, tell
from hookline.cli.text import terminal_width
from hookline.journal.reader import Damage, records_in
from hookline.model.run import Run

_CHUNK = 1024 * 1024
#: A line that is longer is given up; whoever writes the journal writes none.
_LONGEST = 4 * _CHUNK


class Tail:
    """What was written since the last look; the first look gives all there is."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rest = b""
        self._line = 0
        self._fd = self._opened()

    def look(self) -> Iterator[Run | Damage]:
        """Everything that is complete by now. A rotated file is read to its end before the new one."""
        yield from self._read()
        if self._replaced():
            yield from self._read()  # what came between the last read and the rotation
            self.close()
            if self._rest:
                yield from records_in(self._rest, self._line + 1)
            self._rest, self._line = b"", 0
            self._fd = self._opened()
            yield from self._read()

    @property
    def there(self) -> bool:
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
            return None  # not there yet, or again

    def _replaced(self) -> bool:
        if self._fd is None:
            return os.path.exists(self._path)
        try:
            there = os.stat(self._path)
        except OSError:
            return False  # gone, and nothing in its place yet
        mine = os.fstat(self._fd)
        shorter = os.lseek(self._fd, 0, os.SEEK_CUR) > mine.st_size
        return shorter or (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino)

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


#: Seconds between two looks: a stat and a read of nothing each.
_LOOKS_EVERY = 0.25


def follow(path: str, wanted: Wanted, limit: int | None, *, as_json: bool) -> int:
    """Ends when stdout does; an interrupt ends it like every command."""
    tail = Tail(path)  # first: what is moved aside from now on is still read by it
    try:
        newest, damage = _so_far(path, tail, wanted, limit)
        if not tail.there and not damage:
            tell(nothing_yet(path, terminal_width()))
        tell_damage(path, damage)
        for run in newest:
            status = _show(run, as_json=as_json)
            if status is not None:
                return status
        return _go_on(path, tail, wanted, damage[-1] if damage else "", as_json=as_json)
    finally:
        tail.close()


def _so_far(path: str, tail: Tail, wanted: Wanted, limit: int | None) -> tuple[Sequence[Run], Sequence[str]]:
    newest: deque[Run] = deque(maxlen=limit)
    damage: list[str] = []
    for item in chain(items(moved_aside(path), wanted.since), tail.look()):
        if isinstance(item, Damage):
            damage += [str(item)] if str(item) not in damage[-1:] else []
        elif wanted.takes(item):
            newest.append(item)
    return newest, damage


def _go_on(path: str, tail: Tail, wanted: Wanted, told: str, *, as_json: bool) -> int:
    while not _nobody_reads():
        for item in tail.look():
            if isinstance(item, Damage):
                if str(item) != told:  # what cannot be read now cannot be read four times a second
                    tell_damage(path, [str(item)])
                told = str(item)
            elif wanted.takes(item):
                status = _show(item, as_json=as_json)
                if status is not None:
                    return status
        time.sleep(_LOOKS_EVERY)
    return FINE


def _show(run: Run, *, as_json: bool) -> int | None:
    text = run_json(run) if as_json else "\n".join(run_lines(run, terminal_width()))
    return keep_showing(text, as_json=as_json)


def _nobody_reads() -> bool:
    """Whether the other end of a pipe is closed: found out without writing, which may be hours away."""
    try:
        import select

        poll = select.poll()  # not on every system
        poll.register(sys.stdout.fileno(), 0)
        return bool(poll.poll(0)) and not os.isatty(sys.stdout.fileno())
    except (ImportError, AttributeError, OSError, ValueError):
        return False
