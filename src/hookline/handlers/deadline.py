"""A time limit that costs next to nothing for a coroutine that never waits.

`asyncio.timeout` sets a timer before it knows whether one is needed. Most hooks answer without ever
suspending, and such a coroutine cannot be interrupted anyway: so the first step is made by hand, and the timer
is set only when that step suspends.
"""

import asyncio
import types
from collections.abc import Coroutine, Generator
from time import monotonic
from typing import Any, Final, TypeVar

T = TypeVar("T")

_FINISHED: Final = object()


#: How long after its deadline a coroutine may clean up before it is abandoned.
_GRACE = 1.0


async def bounded(coroutine: Coroutine[Any, Any, T], seconds: float | None) -> T:
    """Await the coroutine, or raise TimeoutError once it has taken that long (None: no limit).

    A cancellation from outside is raised as such. A coroutine that swallows its cancellation gets a moment to clean up
    and is then abandoned; what it returns after its deadline is dropped. Notes that were added to the CancelledError
    become the text of the TimeoutError.
    """
    started = monotonic()
    task = asyncio.current_task()
    asked_before = task.cancelling() if task is not None else 0
    try:
        waits_for = coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    if seconds is None or task is None:
        return await _rest(coroutine, waits_for, None)
    alarm = _Alarm(task, seconds - (monotonic() - started))
    try:
        result = await _rest(coroutine, waits_for, alarm)
    except asyncio.CancelledError as cancelled:
        if alarm.settled(asked_before):
            raise TimeoutError(*getattr(cancelled, "__notes__", ())) from cancelled
        raise
    except BaseException as problem:
        if alarm.settled(asked_before):
            raise TimeoutError(f"it ended with {type(problem).__name__} when it was cancelled") from problem
        raise
    if alarm.settled(asked_before):
        raise TimeoutError("it ignored its cancellation")
    return result


class _Alarm:
    """Cancels a task after a while, and knows afterwards whether that was the only cancellation."""

    __slots__ = ("_handle", "_rang", "_task", "gave_up")

    def __init__(self, task: asyncio.Task[Any], seconds: float) -> None:
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


@types.coroutine
def _rest(coroutine: Coroutine[Any, Any, T], waits_for: Any, alarm: _Alarm | None) -> Generator[Any, Any, T]:
    """What `await` does from the second step on: pass futures up to the task, results and errors down."""
    while True:
        try:
            sent = yield waits_for
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:
            if alarm is not None and alarm.gave_up:
                _leave(coroutine)
                error.add_note("it ignored its cancellation and was abandoned")
                raise
            step, value = coroutine.throw, error
        else:
            step, value = coroutine.send, sent
        try:
            waits_for = step(value)
        except StopIteration as stop:
            return stop.value


def _leave(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Close it as far as it lets itself be closed."""
    try:
        coroutine.close()
    except BaseException:  # noqa: BLE001, S110 - it even ignores being closed: nothing more can be done
        pass
