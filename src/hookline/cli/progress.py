"""One line on stderr that says what is going on, where somebody would otherwise wait without a word."""

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from hookline.model.safetext import one_line


class Progress:
    """Shows nothing unless stderr is a terminal and it took longer than `after` seconds; then five times a second.

    `with Progress() as progress: progress.say("reading 3 of 8")`. The line is gone when the block is left.
    """

    def __init__(self, after: float = 1.0, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._wanted = _is_terminal(self._stream)
        self._next = time.monotonic() + after
        self._shown = False

    def say(self, text: str) -> None:
        if not self._wanted or (now := time.monotonic()) < self._next:
            return
        self._next = now + 0.2
        self._shown = True
        self._write(f"\r\x1b[K{one_line(text, self._columns())}")

    def clear(self) -> None:
        """Take the line away: something else is about to be printed."""
        if self._shown:
            self._shown = False
            self._write("\r\x1b[K")

    def _columns(self) -> int:
        from hookline.cli.width import columns

        return min(columns(80), 200) - 1

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._wanted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
