"""Following a journal while others write it, also across its rotation."""

import os
from collections.abc import Iterator

from hookline.engine.journal_reading import Damage, records_in
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
