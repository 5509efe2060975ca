"""Run `hookline` at a new pseudo-terminal."""

import fcntl
import os
import pty
import signal
import struct
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from tests.cli.run_cli import clean_env, command_line
from tests.waiting import LONG


class Terminal:
    """The agent at a new terminal."""

    def __init__(self, words: Sequence[str], project: Path, home: Path, columns: int = 100) -> None:
        self.pid, self._fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.chdir(project)
            line = command_line(words)
            os.execve(line[0], line, clean_env(home))
        self._seen = b""

    def types(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def until(self, text: str) -> str:
        """Read until this is shown, from where the last wait ended; returns what was shown before it."""
        until = time.monotonic() + LONG
        while text.encode() not in self._seen:
            assert time.monotonic() < until, f"{text!r} was never shown: {self._seen!r}"
            try:
                self._seen += os.read(self._fd, 65536)
            except OSError:
                raise AssertionError(f"it ended before {text!r} was shown: {self._seen!r}") from None
        before, _, self._seen = self._seen.partition(text.encode())
        return before.decode("utf-8", "replace")

    def hangs_up(self) -> None:
        os.close(self._fd)
        self._fd = -1

    def status(self) -> int:
        until = time.monotonic() + LONG
        while time.monotonic() < until:
            if self._fd >= 0:
                self._drain()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("it does not end")

    def _drain(self) -> None:
        os.set_blocking(self._fd, False)
        try:
            os.read(self._fd, 65536)
        except OSError:
            pass
