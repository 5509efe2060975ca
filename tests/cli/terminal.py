"""Run a command in this process at a real pseudo-terminal, and type there."""

import os
import pty
import re
import select
import sys
import threading
from types import TracebackType
from typing import Self

import pytest

from hookline.cli.main import run

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """`with Terminal("trust") as at: at.wait_for("?"); at.enter("y")`; then `status` and `seen`."""

    def __init__(self, *words: str) -> None:
        self._patch = pytest.MonkeyPatch()
        self._words = words
        self._master, self._slave = pty.openpty()
        self._thread = threading.Thread(target=self._run)
        self.status: int | None = None
        self.seen = ""

    def _run(self) -> None:
        try:
            self.status = run(self._words)
        finally:
            sys.stdout.flush()
            os.write(self._slave, b"\x04\x04END")

    def wait_for(self, text: str) -> str:
        """Return the output since the last time, up to this text."""
        begin = len(self.seen)
        while text not in self.seen[begin:]:
            assert "\x04\x04END" not in self.seen, self.seen
            assert select.select([self._master], [], [], 30)[0], self.seen
            self.seen += _STYLE.sub("", os.read(self._master, 65536).decode().replace("\r\n", "\n"))
        return self.seen[begin:]

    def enter(self, line: str) -> None:
        os.write(self._master, f"{line}\n".encode())

    def __enter__(self) -> Self:
        streams = [os.fdopen(os.dup(self._slave), mode, encoding="utf-8") for mode in ("r", "w")]
        self._patch.setattr(sys, "stdin", streams[0])
        self._patch.setattr(sys, "stdout", streams[1])
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and "\x04\x04END" not in self.seen:
            self.wait_for("\x04\x04END")
        self._thread.join(30)
        for stream in (sys.stdin, sys.stdout):
            stream.close()
        self._patch.undo()
        os.close(self._slave)
        os.close(self._master)
