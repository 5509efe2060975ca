"""The terminal: how wide it is, whether it shows colours, and a line of progress."""

import os
import sys
import time
from types import TracebackType
from typing import Literal, Self, TextIO

Colour = Literal["red", "green", "yellow", "blue", "cyan", "bold", "dim"]

_CODES: dict[Colour, str] = {
    "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2",
}  # fmt: skip
_NARROWEST = 40
_UNLIMITED = 1000


def columns(default: int = _UNLIMITED) -> int:
    """Columns of the terminal, COLUMNS where it is set, else `default`: a file or a pipe has no width.

    Not by shutil: importing it loads every archive format.
    """
    try:
        return max(os.get_terminal_size().columns, _NARROWEST)
    except OSError:
        wanted = os.environ.get("COLUMNS", "")
        return int(wanted) if wanted.isdigit() else default


def paint(text: str, colour: Colour, stream: TextIO | None = None) -> str:
    """The text in that colour if `stream` (default: stdout) shows colours, else unchanged.

    Paint last: `printable`, `one_line` and `table` strip escapes, these too.
    """
    if not shows_colours(sys.stdout if stream is None else stream):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def shows_colours(stream: TextIO | None) -> bool:
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return _is_terminal(stream)


class Progress:
    """One line on stderr that says what is going on, for commands that may take a while.

    Shown only on a terminal, after `after` seconds, at most five times a second, and removed at the end:
    `with Progress() as progress: progress.say("reading 3 of 8")`.
    """

    def __init__(self, after: float = 1.0, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._wanted = _is_terminal(self._stream)
        self._next = time.monotonic() + after
        self._shown = False

    def say(self, text: str) -> None:
        if not self._wanted or (now := time.monotonic()) < self._next:
            return
        # Only here: `hookline --help` imports this module as well.
        from hookline.model.safe_text import one_line

        self._next = now + 0.2
        self._shown = True
        self._write(f"\r\x1b[K{one_line(text, min(columns(80), 200) - 1)}")

    def clear(self) -> None:
        """Remove the line, before something else is printed."""
        if self._shown:
            self._shown = False
            self._write("\r\x1b[K")

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
