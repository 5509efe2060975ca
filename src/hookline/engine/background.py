"""Hooks that are not waited for: started at the event, their answers go to the session's inbox when they end."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hookline.engine.lanes import PreparedHook
from hookline.engine.run_hook import (
    CANCELLED,
    DETACHED,
    SKIPPED,
    Judgement,
    call_handler,
    decode,
    finish_detached,
    record,
)
from hookline.model.raw import Broke
from hookline.model.wire import Call

if TYPE_CHECKING:
    from hookline.engine.dispatch import DispatchState

Calls = Sequence[tuple[PreparedHook, Call]]


class Background:
    """Owns the tasks of background hooks and runs a few at a time. Closing it waits for them, then cancels."""

    def __init__(self, at_once: int = 8, limit: int = 1000) -> None:
        self._at_once = at_once
        self._limit = limit
        self._tasks: set[asyncio.Task[object]] = set()
        self._slots: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}
        self.closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def full(self) -> bool:
        return self.closed or len(self._tasks) >= self._limit

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Run it as soon as a slot is free."""
        task = self._own(self._in_slot(work))
        # A task that is cancelled before its first step never awaits the work: it must be closed.
        task.add_done_callback(lambda _task: work.close())

    def adopt(self, work: Coroutine[Any, Any, object]) -> None:
        """Take over work that is running already."""
        self._own(work)

    def _own(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _in_slot(self, work: Coroutine[Any, Any, object]) -> None:
        loop = asyncio.get_running_loop()
        slots = self._slots.get(loop)
        if slots is None:
            # An engine may serve one loop after another; a semaphore belongs to the loop it first waited on.
            self._slots = {loop: (slots := asyncio.Semaphore(self._at_once))}
        async with slots:
            await work

    async def drain(self, limit: float | None = None) -> bool:
        """Wait until all background work has ended; False when the limit came first."""
        until = None if limit is None else time.monotonic() + limit
        while tasks := self._tasks_here():
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return False
            await asyncio.wait(tasks, timeout=left)
        return True

    async def close(self, limit: float) -> int:
        """Drain within the limit, then cancel what is left. Returns how many had to be cancelled."""
        self.closed = True
        await self.drain(limit)
        left = self._tasks_here()
        for task in left:
            task.cancel()
        if left:
            # A cancelled hook leaves its process to the pool that owns it, so this ends at once.
            await asyncio.wait(left, timeout=5)
        return len(left)

    def _tasks_here(self) -> set[asyncio.Task[object]]:
        """Tasks of the running loop; those of a closed loop can neither be awaited nor go on."""
        loop = asyncio.get_running_loop()
        self._tasks.difference_update([task for task in self._tasks if task.get_loop().is_closed()])
        return {task for task in self._tasks if task.get_loop() is loop}


def run_in_background(state: "DispatchState", prepared: PreparedHook, call: Call) -> None:
    """Start one hook. Two records carry its run id: `detached` now, its end later."""
    background, started = state.session.engine.background, perf_counter()
    if background.full:
        why = "the engine is closed" if background.closed else "too many hooks are running in the background"
        raw = Broke("not_started", why)
        record(state, prepared, call, raw, decode(state, prepared, call, raw), started)
        return
    record(state, prepared, call, None, DETACHED, started)
    _expect_wake(state, prepared)
    background.start(_run(state, prepared, call))


def run_in_background_in_order(
    state: "DispatchState", calls: Calls, ends_lane: Callable[[PreparedHook, Judgement], bool]
) -> None:
    """Start hooks one after another. After one that ends the lane, the others do not run."""
    if len(calls) < 2 or state.session.engine.background.full:
        for prepared, call in calls:
            run_in_background(state, prepared, call)
        return
    for prepared, call in calls:
        record(state, prepared, call, None, DETACHED, perf_counter())
        _expect_wake(state, prepared)
    state.session.engine.background.start(_run_in_order(state, calls, ends_lane))


async def _run_in_order(
    state: "DispatchState", calls: Calls, ends_lane: Callable[[PreparedHook, Judgement], bool]
) -> None:
    for place, (prepared, call) in enumerate(calls):
        try:
            judged = await _run(state, prepared, call)
        except asyncio.CancelledError:
            _record_not_run(state, calls[place + 1 :], CANCELLED)
            raise
        if ends_lane(prepared, judged):
            _record_not_run(state, calls[place + 1 :], SKIPPED)
            return


def _record_not_run(state: "DispatchState", calls: Calls, why: Judgement) -> None:
    for prepared, call in calls:
        record(state, prepared, call, None, why, perf_counter())
        _wake_settled(state, prepared)


async def _run(state: "DispatchState", prepared: PreparedHook, call: Call) -> Judgement:
    status = state.session.engine.status
    running = status.started(call.run_id, prepared.hook)
    try:
        rest = call_handler(state, prepared, call)
        return await finish_detached(state, prepared, call, rest, perf_counter())
    finally:
        status.ended(running)
        _wake_settled(state, prepared)


def _expect_wake(state: "DispatchState", prepared: PreparedHook) -> None:
    if prepared.hook.waiting == "rewake":
        state.session.inbox.await_wake()


def _wake_settled(state: "DispatchState", prepared: PreparedHook) -> None:
    if prepared.hook.waiting == "rewake":
        state.session.inbox.wake_settled()
