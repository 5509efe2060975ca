"""Run a program at a new pseudo-terminal, and read what a person would see there."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests.waiting import LONG


def row_text(row: Mapping[int, Any]) -> str:
    """A row of pyte's, which holds only the cells that were written."""
    return "".join(row[at].data for at in range(max(row, default=-1) + 1)).rstrip()


class RealTerminal:
    """Runs a command line; a thread draws what it writes."""

    def __init__(
        self,
        line: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        rows: int = 30,
        columns: int = 90,
        *,
        draws: bool = True,
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=20_000, ratio=0.1)
        self._stream = pyte.ByteStream(self.screen)
        #: False: a terminal that is as fast as real ones are, which pyte is not.
        self._draws = draws
        self._ours, self.device = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.device)
        self.raw = b""
        self.process = subprocess.Popen(
            list(line), cwd=cwd, env={**env, "TERM": "xterm-256color"},
            stdin=self.device, stdout=self.device, stderr=self.device,
            start_new_session=True, preexec_fn=_take_terminal,  # noqa: PLW1509 it makes one system call
        )  # fmt: skip
        self._lock = threading.Lock()
        self._over = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._over:
            try:
                if not select.select([self._ours], [], [], 0.1)[0]:
                    continue
                text = os.read(self._ours, 65536)
            except (OSError, ValueError):
                return
            with self._lock:
                self.raw = (self.raw + text)[-5_000_000:]
                if self._draws:
                    self._stream.feed(text)

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def pastes(self, text: str) -> None:
        self.types(f"\x1b[200~{text}\x1b[201~")

    def resize(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def text(self) -> str:
        with self._lock:
            rows = [row_text(self.screen.buffer[at]) for at in range(self.screen.lines)]
        return "\n".join(rows).rstrip() + "\n"

    @property
    def everything(self) -> str:
        """Also what has left the screen at its top."""
        with self._lock:
            lines: Any = self.screen.history.top
            above = [row_text(line) for line in lines]
        return "\n".join([*above, self.text])

    def until(self, wanted: str | Callable[[], object], seconds: float = LONG) -> str:
        end = time.monotonic() + seconds
        holds = (lambda: wanted in self.text) if isinstance(wanted, str) else wanted
        while not holds():
            assert time.monotonic() < end, f"{wanted!r} was never shown:\n{self.text}"
            time.sleep(0.02)
        return self.text

    def hangs_up(self) -> None:
        """The reader goes first: the number of a closed descriptor may soon be another file's."""
        self._over = True
        self._reader.join()
        os.close(self._ours)
        self._ours = -1

    def status(self, seconds: float = LONG) -> int:
        try:
            return self.process.wait(seconds)
        finally:
            if self.process.poll() is None:
                self.process.kill()

    @property
    def settings(self) -> list[Any]:
        """Return the terminal's settings, as `stty` shows them."""
        return termios.tcgetattr(self.device)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._ours >= 0:
            self.hangs_up()
        os.close(self.device)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
