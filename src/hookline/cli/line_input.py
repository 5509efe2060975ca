"""Lines from standard input without blocking the loop: a terminal, a pipe or a file."""

import asyncio
import os
from collections import deque

_CHUNK = 65536
_LONGEST = 1_000_000


class LineInput:
    """One reader of one descriptor. After the last line there is None, for ever."""

    def __init__(self, descriptor: int) -> None:
        self._fd = descriptor
        self._lines: deque[str] = deque()
        self._rest = b""
        self._over = False

    async def line(self) -> str | None:
        while not self._lines and not self._over:
            self._take(await self._chunk())
        return self._lines.popleft() if self._lines else None

    async def _chunk(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._fd, _settle, ready)
        except (OSError, ValueError, NotImplementedError):
            # A plain file is always ready; no loop can wait for it.
            return self._read()
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)
        return self._read()

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, _CHUNK)
        except OSError:
            return b""

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            self._over = True
        whole = self._rest + chunk
        if len(whole) > _LONGEST:
            # Nobody types this; what would grow for ever is cut into prompts.
            whole += b"\n"
        *lines, self._rest = whole.split(b"\n")
        if self._over and self._rest:
            lines, self._rest = [*lines, self._rest], b""
        self._lines.extend(line.decode("utf-8", "replace").rstrip("\r") for line in lines)


def _settle(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)
