"""The process of an MCP server: lines in, lines out, its last words kept, and an end that always comes."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from hookline.handlers.process.exit_watch import exit_watch
from hookline.handlers.process.spawn import Started, signal_group, start
from hookline.handlers.process.watchdog import Watchdog
from hookline.model.raw import Broke

#: Small: all lines of one are looked at in one go.
_CHUNK = 16384
#: A server that sends more than this in one line is not speaking the protocol.
_LONGEST_LINE = 16 << 20
_LONGEST_WORDS = 4096
#: How long a server has to go by itself once its input is closed, and again once it was told to.
_GRACE = 1.0


class ServerEndedError(Exception):
    """Its process is not there, or does not take anything any more."""


class ServerProcess:
    """Started in a session of its own. When the agent dies, however it dies, the watchdog kills the group."""

    def __init__(self, started: Started, watchdog: Watchdog) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = started
        self._watchdog = watchdog
        self._stdin_open = True
        self._words = b""
        #: The exit status, negative for a signal, once it has ended.
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._exit = exit_watch(self._loop, started.pid, self._reap)
        self._loop.add_reader(started.stderr, self._hear)
        watchdog.began(self._loop, started.pid)

    @classmethod
    def begin(
        cls, argv: Sequence[str], env: Mapping[str, str], cwd: str, watchdog: Watchdog
    ) -> "ServerProcess":
        """Raises ServerEndedError with a sentence that says why it cannot be started."""
        started = start(argv, env=env, cwd=cwd)
        if isinstance(started, Broke):
            raise ServerEndedError(started.detail)
        return cls(started, watchdog)

    @property
    def words(self) -> str:
        """The last line it wrote to stderr."""
        lines = self._words.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    async def lines(self) -> AsyncGenerator[bytes]:
        """What it prints, line by line, until it has ended or closed its output."""
        begun: list[bytes] = []
        while chunk := await self._read():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield b"".join((*begun, end))
                begun.clear()
            begun.append(rest)
            if len(begun) * _CHUNK > _LONGEST_LINE and sum(map(len, begun)) > _LONGEST_LINE:
                raise ServerEndedError(f"it printed a line of more than {_LONGEST_LINE >> 20} MB")
            # One that never stops printing must not keep everybody else from their turn.
            await asyncio.sleep(0)

    async def write(self, line: bytes) -> None:
        """Raises ServerEndedError when nobody reads any more."""
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
        """As the protocol wants it: its input ends, then it is told to go, then it is made to."""
        try:
            self._close_stdin()
            if not await self._gone_within(_GRACE):
                signal_group(self._started.pid, signal.SIGTERM)
                await self._gone_within(_GRACE)
        finally:
            self.kill()

    def kill(self) -> None:
        """At once, and nothing is left; for whoever cannot wait."""
        self._close_stdin()
        if not self.ended.done():
            signal_group(self._started.pid, signal.SIGKILL)
            self._exit.close()
            self._reap()

    async def _gone_within(self, seconds: float) -> bool:
        await asyncio.wait({self.ended}, timeout=seconds)
        return self.ended.done()

    async def _read(self) -> bytes:
        """The next bytes; nothing when it ended, also where something it started still holds its output."""
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
        """Until the descriptor is ready or the process has ended."""
        ready: asyncio.Future[None] = self._loop.create_future()
        add(descriptor, _settle, ready)
        try:
            await asyncio.wait({ready, self.ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            remove(descriptor)

    def _hear(self) -> None:
        try:
            heard = os.read(self._started.stderr, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            self._loop.remove_reader(self._started.stderr)
        self._words = (self._words + heard)[-_LONGEST_WORDS:]

    def _reap(self) -> None:
        """What is left of its group goes first: afterwards its number may be a stranger's."""
        signal_group(self._started.pid, signal.SIGKILL)
        self._watchdog.ended(self._started.pid)
        try:
            status = self._started.popen.wait(_GRACE)
        except subprocess.TimeoutExpired:  # the kernel itself is busy with it; nobody can do more
            status = -signal.SIGKILL
        self._hear()
        self._loop.remove_reader(self._started.stderr)
        if not self.ended.done():
            self.ended.set_result(status)

    def release(self) -> None:
        """Give the descriptors back, once nobody reads or writes any more."""
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
