"""A time limit that costs next to nothing for a coroutine that never waits.

`asyncio.timeout` sets a timer before it knows whether one is needed. Most hooks answer without ever
suspending, and such a coroutine cannot be interrupted anyway: so the first step is taken by hand, and the
timer is armed only when that step really waits for something.
"""

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from time import monotonic
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")

_FINISHED: Final = object()


async def bounded(work: Coroutine[Any, Any, T], seconds: float | None) -> T:
    """Await the work, or raise TimeoutError once it has taken that long (None: no limit).

    Behaves as `asyncio.timeout` does: a cancellation from outside stays one, and work that swallows its
    cancellation and returns has returned. Notes that were added to the CancelledError on its way out
    become the text of the TimeoutError.
    """
    started = monotonic()
    results: list[T] = []
    steps = _steps(work, results)
    waits_for = next(steps, _FINISHED)
    if waits_for is not _FINISHED:
        if seconds is None:
            await _rest(steps, waits_for)
        else:
            await _rest_until(steps, waits_for, seconds - (monotonic() - started))
    return results[0]


def _keeping(work: Any, results: list[Any]) -> Generator[Any, Any, None]:
    """The steps of the work, as a generator that returns nothing.

    That spares the StopIteration a returned value would have to travel in: half of what `bounded` costs.
    """
    results.append((yield from work))


#: Marked so that it may step into a coroutine; it stays a plain generator for `next`.
_steps = cast("Callable[[Any, list[Any]], Generator[Any, Any, None]]", types.coroutine(_keeping))


async def _rest_until(steps: Generator[Any, Any, None], waits_for: Any, seconds: float) -> None:
    alarm = _Alarm(seconds)
    try:
        await _rest(steps, waits_for)
    except asyncio.CancelledError as cancelled:
        if alarm.was_alone():
            raise TimeoutError("; ".join(getattr(cancelled, "__notes__", ()))) from cancelled
        raise
    except BaseException:
        alarm.was_alone()
        raise
    alarm.was_alone()


class _Alarm:
    """Cancels the current task after a while, and knows afterwards whether it was the only one to do so."""

    __slots__ = ("_asked_before", "_handle", "_rang", "_task")

    def __init__(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("a time limit needs a task to cancel")
        self._task = task
        # Asked only now: nobody outside can have cancelled the task while the first step ran.
        self._asked_before = task.cancelling()
        self._rang = False
        self._handle = loop.call_later(seconds, self._ring) if seconds > 0 else loop.call_soon(self._ring)

    def _ring(self) -> None:
        self._rang = True
        self._task.cancel()

    def was_alone(self) -> bool:
        """Stop the alarm and take back its cancellation; True when it rang and nobody else cancelled."""
        if not self._rang:
            self._handle.cancel()
            return False
        return self._task.uncancel() <= self._asked_before


@types.coroutine
def _rest(steps: Generator[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    """What `await` does, from the second step on: pass waits up to the task, results and errors down."""
    while True:
        try:
            sent = yield waits_for
        except BaseException as error:  # noqa: BLE001 - everything thrown at us belongs to the work
            step, value = steps.throw, error
        else:
            step, value = steps.send, sent
        try:
            waits_for = step(value)
        except StopIteration:
            return
