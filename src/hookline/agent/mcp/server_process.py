"""Run the process of an MCP server: lines in, lines out, the last lines of its stderr, and a quick end."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from hookline.handlers.process.exit_watch import exit_watch
from hookline.handlers.process.spawn import Started, signal_group, start
from hookline.handlers.process.watchdog import Watchdog
from hookline.model.raw import Failed

#: Small: all lines of a chunk are handled without a pause.
_CHUNK = 16384
#: A longer line is not the protocol.
_LONGEST_LINE = 16 << 20
_LONGEST_STDERR = 4096
#: Seconds for a server to exit once its input is closed, and again after SIGTERM.
_GRACE = 1.0


class ServerEndedError(Exception):
    """An error: the process has ended or does not read any more."""


class ServerProcess:
    """A process in its own session. If the agent dies, however it dies, the watchdog kills the group."""

    def __init__(self, started: Started, watchdog: Watchdog) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = started
        self._watchdog = watchdog
        self._stdin_open = True
        self._stderr = b""
        #: The exit status, negative for a signal, once it has ended.
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._exit = exit_watch(self._loop, started.pid, self._reap)
        self._loop.add_reader(started.stderr, self._read_stderr)
        watchdog.began(self._loop, started.pid)

    @classmethod
    def begin(
        cls, argv: Sequence[str], env: Mapping[str, str], cwd: str, watchdog: Watchdog
    ) -> "ServerProcess":
        """Start the process. Raises ServerEndedError with a sentence that says why it cannot be started."""
        watchdog.start()
        started = start(argv, env=env, cwd=cwd)
        if isinstance(started, Failed):
            raise ServerEndedError(started.detail)
        return cls(started, watchdog)

    @property
    def last_stderr(self) -> str:
        """The last line it wrote to stderr."""
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    async def lines(self) -> AsyncGenerator[bytes]:
        """Yield its output line by line, until it has ended or closed it."""
        begun: list[bytes] = []
        while chunk := await self._read():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield b"".join((*begun, end))
                begun.clear()
            begun.append(rest)
            if len(begun) * _CHUNK > _LONGEST_LINE and sum(map(len, begun)) > _LONGEST_LINE:
                raise ServerEndedError(f"it printed a line of more than {_LONGEST_LINE >> 20} MB")
            # A server that never stops printing must not block the loop.
            await asyncio.sleep(0)

    async def write(self, line: bytes) -> None:
        """Write a line. Raises ServerEndedError when the process does not read any more."""
        left = memoryview(line)
        while left:
            if not self._stdin_open or self.ended.done():
                raise ServerEndedError("it does not read any more")
            try:
                left = left[os.write(self._started.stdin, left) :]
            except BlockingIOError:
                await self._until(self._loop.add_writer, self._loop.remove_writer, self._started.stdin)
            except OSError as problem:
                raise ServerEndedError(f"it does not read any more: {problem.strerror}") from None

    async def end(self) -> None:
        """End the process as the protocol wants it: close its input, then SIGTERM, then SIGKILL."""
        try:
            self._close_stdin()
            if not await self._exits_within(_GRACE):
                signal_group(self._started.pid, signal.SIGTERM)
                await self._exits_within(_GRACE)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the whole group now."""
        self._close_stdin()
        if not self.ended.done():
            signal_group(self._started.pid, signal.SIGKILL)
            self._exit.close()
            self._reap()

    async def _exits_within(self, seconds: float) -> bool:
        await asyncio.wait({self.ended}, timeout=seconds)
        return self.ended.done()

    async def _read(self) -> bytes:
        """Return the next bytes; none when it ended, even if a process it started still holds its output open."""
        while True:
            try:
                return os.read(self._started.stdout, _CHUNK)
            except BlockingIOError:
                if self.ended.done():
                    return b""
            except OSError:
                return b""
            await self._until(self._loop.add_reader, self._loop.remove_reader, self._started.stdout)

    async def _until(
        self, add: Callable[..., object], remove: Callable[[int], object], descriptor: int
    ) -> None:
        """Wait until the descriptor is ready or the process has ended."""
        ready: asyncio.Future[None] = self._loop.create_future()
        add(descriptor, _settle, ready)
        try:
            await asyncio.wait({ready, self.ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            remove(descriptor)

    def _read_stderr(self) -> None:
        try:
            chunk = os.read(self._started.stderr, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_reader(self._started.stderr)
        self._stderr = (self._stderr + chunk)[-_LONGEST_STDERR:]

    def _reap(self) -> None:
        """Kill what is left of its group, then reap it: once it is reaped, its pid may belong to another process."""
        signal_group(self._started.pid, signal.SIGKILL)
        self._watchdog.ended(self._started.pid)
        try:
            process = self._started.popen
            status = process.wait(_GRACE) if isinstance(process, subprocess.Popen) else -signal.SIGKILL
        except subprocess.TimeoutExpired:  # stuck in the kernel
            status = -signal.SIGKILL
        self._read_stderr()
        self._loop.remove_reader(self._started.stderr)
        if not self.ended.done():
            self.ended.set_result(status)

    def release(self) -> None:
        """Close the descriptors, after the last read and write."""
        self._close_stdin()
        for descriptor in (self._started.stdout, self._started.stderr):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _close_stdin(self) -> None:
        if self._stdin_open:
            self._stdin_open = False
            self._loop.remove_writer(self._started.stdin)
            os.close(self._started.stdin)


def _settle(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)
