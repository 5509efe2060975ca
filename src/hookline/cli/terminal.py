"""How wide the terminal is. Not by shutil, which loads every archive format there is."""

import argparse
import os
import sys
import time
from types import TracebackType
from typing import Literal, Self, TextIO

from hookline.model.safe_text import one_line

UNLIMITED = 1000


def columns(default: int = UNLIMITED) -> int:
    """Columns of the terminal; what goes into a file or a pipe need not fit one."""
    try:
        return max(os.get_terminal_size().columns, 40)
    except OSError:
        told = os.environ.get("COLUMNS", "")
        return int(told) if told.isdigit() else default


def help_format(prog: str) -> argparse.HelpFormatter:
    """Keeps our line breaks, and does not ask shutil for the width."""
    return argparse.RawDescriptionHelpFormatter(prog, width=min(columns(100), 110))


Colour = Literal["red", "green", "yellow", "blue", "cyan", "bold", "dim"]

_CODES: dict[Colour, str] = {
    "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2",
}  # fmt: skip


def paint(text: str, colour: Colour, stream: TextIO | None = None) -> str:
    """The text in that colour where `stream` (stdout unless told) shows colours, else as it is.

    Paint what is printable already: `printable`, `one_line` and `table` take escapes out, these too.
    """
    if not shows_colours(sys.stdout if stream is None else stream):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def shows_colours(stream: TextIO | None) -> bool:
    """A terminal that did not ask to be left alone; a stream that is closed shows nothing."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


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
