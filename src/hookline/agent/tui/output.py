"""Write to the terminal: one write per change; it may go away, and hooks may write to it, too."""

import os
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

#: Undoes what other programs may have switched on: attributes, character sets, scroll region (with the cursor kept
#: where it is), the alternate screen, mouse reports, a hidden cursor, no wrapping.
_REPAIR = (
    "\x1b[0m\x0f\x1b(B\x1b7\x1b[r\x1b8\x1b[?47l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l"
    "\x1b[4l\x1b[?7h\x1b[?25h"
)


class ScreenOutput(Vt100_Output):
    """Output in which everything between `hold` and its end is one write, so that nothing flickers."""

    def __init__(self, stdout: TextIO, size: Any, term: str | None) -> None:
        # Without reports of the cursor's position: terminals that do not answer would block the screen.
        super().__init__(stdout, size, term=term, enable_cpr=False)
        self._holds = 0
        #: The terminal is gone: writing to it failed.
        self.gone = False

    def flush(self) -> None:
        if self._holds:
            return
        if self.gone:
            self._buffer.clear()
            return
        try:
            super().flush()
        except (OSError, ValueError):
            self.gone = True

    @contextmanager
    def hold(self) -> Generator[None]:
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            self.flush()

    def erase_down(self) -> None:
        """Erase from the first column of a row.

        Not in one step: tmux keeps a screen that is erased whole as history.
        """
        self.write_raw("\x1b7\x1b[K\x1b[B\r\x1b[J\x1b8")

    def write_block(self, text: str) -> None:
        """Write finished text, whose escapes are all ours."""
        self.write_raw(text.replace("\n", "\r\n"))

    def repair(self) -> None:
        self.write_raw(_REPAIR)


def standard_output() -> ScreenOutput:
    return ScreenOutput(sys.__stdout__ or sys.stdout, _terminal_size, os.environ.get("TERM"))


def _terminal_size() -> Size:
    try:
        size = os.get_terminal_size(1)
    except OSError:
        return Size(rows=24, columns=80)
    # Some terminals say 0 until they know.
    return Size(rows=size.lines or 24, columns=size.columns or 80)


class TerminalState:
    """Terminal settings from before the screen, and those while it is up."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._before = self._now()
        self._ours: list[Any] | None = None

    def remember(self) -> None:
        """Record the settings when the screen is up: they must stay so."""
        self._ours = self._now()

    def forget(self) -> None:
        """Stop enforcing the settings while another program has the terminal."""
        self._ours = None

    def put_right(self) -> bool:
        """Restore the settings if a program changed them (`stty sane` in a hook). Returns True if it did."""
        if self._ours is None or self._now() == self._ours:
            return False
        self._set(self._ours)
        return True

    def restore(self) -> None:
        self._ours = None
        if self._before is not None:
            self._set(self._before)

    def _now(self) -> list[Any] | None:
        try:
            return termios.tcgetattr(self._descriptor)
        except (termios.error, OSError, ValueError):
            return None

    def _set(self, how: list[Any]) -> None:
        try:
            termios.tcsetattr(self._descriptor, termios.TCSANOW, how)
        except (termios.error, OSError, ValueError):
            pass  # it is gone
