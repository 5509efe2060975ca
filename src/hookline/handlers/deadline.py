"""Limit the time of a coroutine, at next to no cost for one that never waits.

`asyncio.timeout` sets a timer before it is needed. Most hooks answer without ever suspending, and such a
coroutine cannot be interrupted anyway: so the first step is made by hand, and the timer is set only when that
step suspends.
"""

import asyncio
import types
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from time import perf_counter
from typing import Any, Generic, TypeVar

T = TypeVar("T")

#: Seconds after its deadline that a coroutine may clean up before it is abandoned.
_GRACE = 1.0


class DeadlineError(TimeoutError):
    """A coroutine took longer than allowed; unlike a TimeoutError that it raises."""


async def bounded(coroutine: Coroutine[Any, Any, T], seconds: float | None) -> T:
    """Await the coroutine, or raise TimeoutError once it has taken that long (None: no limit).

    A cancellation from outside is raised as such. A coroutine that swallows its cancellation gets a short
    time to clean up and is then abandoned; a value returned after the deadline is dropped. Notes that were
    added to the CancelledError become the text of the TimeoutError.
    """
    context, started = copy_context(), perf_counter()
    try:
        waits_for = context.run(coroutine.send, None)
    except StopIteration as stop:
        return stop.value
    return await Rest(coroutine, waits_for, context, started).within(seconds)


class Rest(Generic[T]):
    """The rest of a coroutine after its first step. It must be awaited in the task that made that step."""

    __slots__ = ("_context", "_coroutine", "_started", "_waits_for", "longest_step")

    def __init__(
        self, coroutine: Coroutine[Any, Any, T], waits_for: Any, context: Context, started: float
    ) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for
        #: Context variables it sets stay its own.
        self._context = context
        self._started = started
        #: Seconds that it blocked the event loop.
        self.longest_step = perf_counter() - started

    async def within(self, seconds: float | None) -> T:
        """Await it like `bounded`; the time of the first step is included."""
        task = asyncio.current_task()
        if seconds is None or task is None:
            return await self._steps(None)
        asked_before = task.cancelling()
        alarm = _Alarm(task, seconds - (perf_counter() - self._started))
        try:
            result = await self._steps(alarm)
        except asyncio.CancelledError as cancelled:
            if alarm.settled(asked_before):
                raise DeadlineError(*getattr(cancelled, "__notes__", ())) from cancelled
            raise
        except BaseException as problem:
            if alarm.settled(asked_before):
                raise DeadlineError(
                    f"it ended with {type(problem).__name__} when it was cancelled"
                ) from problem
            raise
        if alarm.settled(asked_before):
            raise DeadlineError("it ignored its cancellation")
        return result

    @types.coroutine
    def _steps(self, alarm: "_Alarm | None") -> Generator[Any, Any, T]:
        """Do what `await` does from the second step on: pass futures up to the task, results and errors down."""
        coroutine, waits_for = self._coroutine, self._waits_for
        while True:
            try:
                sent = yield waits_for
            except GeneratorExit:
                self._context.run(coroutine.close)
                raise
            except BaseException as error:
                if alarm is not None and alarm.gave_up:
                    self._context.run(_leave, coroutine)
                    error.add_note("it ignored its cancellation and was abandoned")
                    raise
                step, value = coroutine.throw, error
            else:
                step, value = coroutine.send, sent
            started = perf_counter()
            try:
                waits_for = self._context.run(step, value)
            except StopIteration as stop:
                return stop.value
            finally:
                self.longest_step = max(self.longest_step, perf_counter() - started)


class _Alarm:
    """A timer that cancels a task, and knows afterwards if that was the only cancellation."""

    __slots__ = ("_handle", "_rang", "_task", "gave_up")

    def __init__(self, task: "asyncio.Task[Any]", seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._task = task
        self._rang = 0
        #: The grace period is over: the coroutine gets no further step.
        self.gave_up = False
        self._handle = loop.call_later(seconds, self._ring) if seconds > 0 else loop.call_soon(self._ring)

    def _ring(self) -> None:
        self._rang += 1
        self._task.cancel()
        self._handle = asyncio.get_running_loop().call_later(_GRACE, self._give_up)

    def _give_up(self) -> None:
        self.gave_up = True
        self._rang += 1
        self._task.cancel()

    def settled(self, asked_before: int) -> bool:
        """Stop the alarm and undo its cancellations; True when it was the only one to cancel the task."""
        self._handle.cancel()
        left = asked_before + 1
        for _ in range(self._rang):
            left = self._task.uncancel()
        return self._rang > 0 and left <= asked_before


def _leave(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Close it as far as it can be closed."""
    try:
        coroutine.close()
    except BaseException:  # noqa: BLE001, S110 - it even ignores being closed: nothing more can be done
        pass
