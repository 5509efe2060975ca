"""A few threads for functions that block.

A thread cannot be killed. One whose caller went away keeps running to its end, so their number is bounded,
and when all of them are lost that way new work is refused instead of queued behind them for ever. Threads
are daemons: a function that never returns does not keep the program from ending.
"""

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct


class Finished(Struct, frozen=True):
    """How a function ended. An error is carried, not raised: a future cannot carry every kind of it."""

    value: Any = None
    error: BaseException | None = None


class WorkersLostError(Exception):
    """Every thread is held by a function nobody waits for any more."""


class _Job:
    __slots__ = ("abandoned", "future", "loop", "state", "work")

    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.loop = loop
        self.future: asyncio.Future[Finished] = loop.create_future()
        self.state: Literal["queued", "running", "ended"] = "queued"
        self.abandoned = False

    def finish(self, finished: Finished) -> None:
        try:
            self.loop.call_soon_threadsafe(self._deliver, finished)
        except RuntimeError:  # the loop was closed: nobody is left to tell
            pass

    def _deliver(self, finished: Finished) -> None:
        if not self.future.done():
            self.future.set_result(finished)


class Workers:
    """Runs functions in at most `limit` threads; idle threads end by themselves."""

    def __init__(self, limit: int = 32, idle_seconds: float = 10.0) -> None:
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._wake = threading.Condition()
        self._jobs: deque[_Job] = deque()
        self._threads = 0
        self._idle = 0
        self._lost = 0
        self._closed = False

    @property
    def threads(self) -> int:
        return self._threads

    @property
    def lost(self) -> int:
        """Threads still running something whose caller went away."""
        return self._lost

    async def run(self, work: Callable[[], Any]) -> Finished:
        """Run it in a thread. Cancelling returns at once; a function already running runs on."""
        context = contextvars.copy_context()
        job = _Job(lambda: context.run(work), asyncio.get_running_loop())
        self._submit(job)
        try:
            return await job.future
        except asyncio.CancelledError as cancelled:
            if self._abandon(job):
                cancelled.add_note("its thread cannot be stopped and is still running")
            raise

    def close(self) -> None:
        """Let idle threads end; busy ones end after the function they are in."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _submit(self, job: _Job) -> None:
        with self._wake:
            if self._lost >= self._limit:
                raise WorkersLostError(f"{self._lost} functions that were given up are still running")
            self._closed = False
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._wake.notify()
            elif self._threads < self._limit:
                self._start_thread(job)

    def _start_thread(self, job: _Job) -> None:
        try:
            threading.Thread(target=self._serve, name="hookline-function", daemon=True).start()
        except RuntimeError as error:
            if self._threads == 0:
                self._jobs.remove(job)
                raise WorkersLostError("the system gives no thread to run it in") from error
        else:
            self._threads += 1

    def _abandon(self, job: _Job) -> bool:
        """Nobody waits for it any more; True when that leaves a thread lost in it."""
        with self._wake:
            if job.state == "queued":
                self._jobs.remove(job)
            if job.state != "running":
                return False
            job.abandoned = True
            self._lost += 1
            return True

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            try:
                finished = Finished(job.work())
            except BaseException as error:  # noqa: BLE001 - the one who waits decides what an error means
                finished = Finished(error=error)
            self._done(job)
            job.finish(finished)
            # A thread that waits for work must not keep the last result, or its traceback, alive.
            del job, finished

    def _next(self) -> _Job | None:
        with self._wake:
            self._idle += 1
            while not self._jobs:
                if self._closed or not self._wake.wait(self._idle_seconds):
                    if self._jobs:
                        break
                    self._idle -= 1
                    self._threads -= 1
                    return None
            self._idle -= 1
            job = self._jobs.popleft()
            job.state = "running"
            return job

    def _done(self, job: _Job) -> None:
        with self._wake:
            job.state = "ended"
            if job.abandoned:
                self._lost -= 1
