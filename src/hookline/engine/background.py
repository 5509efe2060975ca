"""The owner of work nobody waits for: nothing detached is ever lost, leaked or left running."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any


class Background:
    """Runs detached hooks, a few at a time. Closing it drains them within a limit, then cancels them."""

    def __init__(self, at_once: int = 8, limit: int = 1000) -> None:
        self._at_once = at_once
        self._limit = limit
        self._tasks: set[asyncio.Task[object]] = set()
        self._turns: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}
        self.closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def full(self) -> bool:
        return self.closed or len(self._tasks) >= self._limit

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Run it when it is its turn."""
        task = self._own(self._in_turn(work))
        # A task that is cancelled before its first step never reaches the work: it must not stay unawaited.
        task.add_done_callback(lambda _task: work.close())

    def adopt(self, work: Coroutine[Any, Any, object]) -> None:
        """Take over work that is running already."""
        self._own(work)

    def _own(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _in_turn(self, work: Coroutine[Any, Any, object]) -> None:
        loop = asyncio.get_running_loop()
        turns = self._turns.get(loop)
        if turns is None:
            # An engine may serve one loop after another; a semaphore belongs to the loop it first waited on.
            self._turns = {loop: (turns := asyncio.Semaphore(self._at_once))}
        async with turns:
            await work

    async def drain(self, limit: float | None = None) -> bool:
        """Wait until everything detached has ended; False when the limit came first."""
        until = None if limit is None else time.monotonic() + limit
        while tasks := self._here():
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return False
            await asyncio.wait(tasks, timeout=left)
        return True

    async def close(self, limit: float) -> int:
        """Drain within the limit, then cancel what is left. Returns how many had to be cancelled."""
        self.closed = True
        await self.drain(limit)
        left = self._here()
        for task in left:
            task.cancel()
        if left:
            # Cancelled hooks hand their processes to whoever owns those, so this ends at once.
            await asyncio.wait(left, timeout=5)
        return len(left)

    def _here(self) -> set[asyncio.Task[object]]:
        """Tasks of the running loop; those of a loop that is gone can neither be awaited nor go on."""
        loop = asyncio.get_running_loop()
        self._tasks.difference_update([task for task in self._tasks if task.get_loop().is_closed()])
        return {task for task in self._tasks if task.get_loop() is loop}
