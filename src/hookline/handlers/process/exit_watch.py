"""Being told on the loop that a child has ended, without reaping it."""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Protocol


class ExitWatch(Protocol):
    def close(self) -> None:
        """Stop watching. Harmless when called twice."""
        ...


WatchesExit = Callable[[asyncio.AbstractEventLoop, int, Callable[[], None]], ExitWatch]


def exit_watch(loop: asyncio.AbstractEventLoop, pid: int, ended: Callable[[], None]) -> ExitWatch:
    """Call `ended` once on the loop when the child is dead. It stays a zombie, so its pid stays its own."""
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # Not Linux, a kernel or a sandbox without it, or no descriptor left: a thread needs none of that.
        return WaiterThread(loop, pid, ended)
    return PidfdWatch(loop, fd, ended)


class PidfdWatch:
    """A descriptor that becomes readable when the process ends."""

    __slots__ = ("_ended", "_fd", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int, ended: Callable[[], None]) -> None:
        self._loop = loop
        self._fd = fd
        self._ended = ended
        loop.add_reader(fd, self._readable)

    def _readable(self) -> None:
        ended = self._ended
        self.close()
        ended()

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        self._ended = _nobody
        if fd >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(fd)
            os.close(fd)


class WaiterThread:
    """For systems without pidfd: a thread that does nothing but wait for one child."""

    __slots__ = ("_ended", "_loop", "_pid")

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, ended: Callable[[], None]) -> None:
        self._loop = loop
        self._pid = pid
        self._ended = ended
        threading.Thread(target=self._wait, name=f"hookline-wait-{pid}", daemon=True).start()

    def _wait(self) -> None:
        try:
            os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            pass  # somebody reaped it: it has ended all the same
        try:
            self._loop.call_soon_threadsafe(self._tell)
        except RuntimeError:
            pass  # the loop was closed; whoever closed it has taken the child over

    def _tell(self) -> None:
        ended = self._ended
        self.close()
        ended()

    def close(self) -> None:
        self._ended = _nobody


def _nobody() -> None:
    """Who is told once nobody watches: so that a watch does not keep its owner in memory."""
