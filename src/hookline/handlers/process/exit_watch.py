"""Call a function on the event loop when a child has ended, without reaping it."""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Protocol


class ExitWatch(Protocol):
    def close(self) -> None:
        """Stop watching. May be called twice."""
        ...

    def forked(self) -> None:
        """Drop it in the child of a fork. The loop belongs to the parent: its watches must not be touched."""
        ...


WatchExit = Callable[[asyncio.AbstractEventLoop, int, Callable[[], None]], ExitWatch]


def exit_watch(loop: asyncio.AbstractEventLoop, pid: int, ended: Callable[[], None]) -> ExitWatch:
    """Call `ended` once on the loop when the child is dead. It stays a zombie, so its pid stays its own."""
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # Not Linux, a kernel or sandbox without pidfd, or no descriptor left: a thread works everywhere.
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
        self._ended = _ignore
        if fd >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(fd)
            os.close(fd)

    def forked(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
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
            pass  # it was reaped elsewhere, so it has ended
        try:
            self._loop.call_soon_threadsafe(self._notify)
        except RuntimeError:
            pass  # the loop was closed; the pool ends the child without it

    def _notify(self) -> None:
        ended = self._ended
        self.close()
        ended()

    def close(self) -> None:
        self._ended = _ignore

    def forked(self) -> None:
        self.close()


def _ignore() -> None:
    """Replaces the callback of a closed watch, so that the watch does not keep its owner in memory."""
