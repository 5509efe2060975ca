"""Hooks that are not waited for: the owner of their tasks, and the inbox where their answers arrive.

The host awaits the inbox of a session; there is no polling.
"""

import asyncio
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from msgspec import Struct

from hookline.model.outcome import Outcome
from hookline.model.policy import Lives, Placement
from hookline.model.wire import Call

if TYPE_CHECKING:
    from weakref import finalize

T = TypeVar("T")


class Background:
    """Owns the tasks of background hooks and runs a few at a time. Closing it waits for them, then cancels."""

    def __init__(self, at_once: int = 8, limit: int = 1000) -> None:
        self._at_once = at_once
        self._limit = limit
        self._tasks: set[asyncio.Task[object]] = set()
        #: The names of the hooks that run, by an id that keeps no task alive.
        self._names: dict[int, str] = {}
        self._unclosed: finalize[[int, dict[int, str]], Self] | None = None
        self._slots: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}
        self.closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def full(self) -> bool:
        return self.closed or len(self._tasks) >= self._limit

    def start(self, work: Coroutine[Any, Any, object], name: str = "") -> None:
        """Run it as soon as a slot is free. `name`: of its hook."""
        task = self._own(self._in_slot(work), name)
        # A task that is cancelled before its first step never awaits the work: it must be closed.
        task.add_done_callback(lambda _task: work.close())

    def adopt(self, work: Coroutine[Any, Any, T], name: str = "") -> "asyncio.Task[T]":
        """Take over work that is running already."""
        return self._own(work, name)

    def _own(self, work: Coroutine[Any, Any, T], name: str) -> "asyncio.Task[T]":
        if self._unclosed is None:
            from weakref import finalize  # noqa: PLC0415 most engines run nothing in the background

            self._unclosed = finalize(self, _warn_unclosed, os.getpid(), self._names)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        self._names[id(task)] = name
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[object]") -> None:
        self._tasks.discard(task)
        name = self._names.pop(id(task), "")
        if task.cancelled() and not self.closed:
            # Only the end of the event loop cancels them before the engine is closed.
            _warn_unclosed(os.getpid(), {0: name})

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

    async def close(self, limit: float) -> tuple[str, ...]:
        """Drain within the limit, then cancel what is left. Returns the names of what was cancelled."""
        self.closed = True
        if self._unclosed is not None:
            self._unclosed.detach()
        await self.drain(limit)
        left = self._tasks_here()
        names = tuple(filter(None, (self._names.get(id(task)) for task in left)))
        for task in left:
            task.cancel()
        if left:
            # A cancelled hook leaves its process to the pool that owns it, so this ends at once.
            await asyncio.wait(left, timeout=5)
        return names

    def _tasks_here(self) -> "set[asyncio.Task[object]]":
        """Tasks of the running loop; those of a closed loop can neither be awaited nor go on."""
        if not self._tasks:
            return set()
        loop = asyncio.get_running_loop()
        self._tasks.difference_update([task for task in self._tasks if task.get_loop().is_closed()])
        return {task for task in self._tasks if task.get_loop() is loop}


def _warn_unclosed(pid: int, names: dict[int, str]) -> None:
    if not names or pid != os.getpid():  # a fork has the names, not the hooks
        return
    shown = ", ".join(dict.fromkeys(filter(None, names.values()))) or "work"
    warnings.warn(
        f"hooks were still running in the background and were ended: {shown}; "
        "close the engine before the event loop ends (async with Engine() as engine, or await engine.close())",
        RuntimeWarning,
        stacklevel=2,
    )


class LateMessage(Struct, frozen=True, kw_only=True):
    """Something a hook said after the event it ran on was over."""

    #: wake: the agent should go on because of this. context: for the model, with its next request.
    #: message: for the user. watch: paths to watch from now on.
    kind: Literal["wake", "context", "message", "watch"]
    text: str = ""
    paths: tuple[str, ...] = ()
    hook: str = ""
    #: The kind of its handler, and where it is configured.
    type: str = ""
    source: str = ""
    event: str = ""
    #: The event as people are shown it.
    label: str = ""
    run_id: str = ""
    #: By which a durable hook's message is acknowledged; empty: it is not kept anywhere.
    wake_id: str = ""
    placement: Placement | Literal[""] = ""
    lives: Lives | Literal[""] = ""
    #: The hook failed, and this is about its failure.
    failed: bool = False


class Inbox:
    """First in, first out, bounded: when it is full, the oldest item that is not a wake is dropped."""

    def __init__(self, limit: int = 1000) -> None:
        self._items: deque[LateMessage] = deque()
        self._limit = limit
        self._waiters: deque[asyncio.Future[None]] = deque()
        #: How many items were dropped.
        self.lost = 0
        #: How many hooks are still running that may wake the agent.
        self.awaited = 0
        self._successor: Inbox | None = None
        #: Of durable hooks: says by their ids what was told, once it is taken from here; None: none have come.
        self.acknowledge: Callable[[str], None] | None = None
        #: Its owner acknowledges by itself, when it has made a note of what it was told.
        self.owner_acknowledges = False
        self._wake_ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._items)

    def await_wake(self) -> None:
        """A hook that may wake the agent has been started."""
        self.awaited += 1
        if self._successor is not None:
            self._successor.await_wake()

    def wake_settled(self) -> None:
        """It ended; its answer, if any, is in the inbox."""
        self.awaited -= 1
        self._wake_next()
        if self._successor is not None:
            self._successor.wake_settled()

    def hand_over(self, successor: "Inbox") -> None:
        """Pass everything that is here, and everything still to come, to another inbox."""
        self._successor = successor
        successor.acknowledge = successor.acknowledge or self.acknowledge
        while self._items:
            successor.put(self._items.popleft())
        for _ in range(self.awaited):
            successor.await_wake()

    def put(self, item: LateMessage) -> None:
        if self._successor is not None:
            self._successor.put(item)
            return
        if item.wake_id:
            if item.wake_id in self._wake_ids:
                return  # it is told once
            self._wake_ids.add(item.wake_id)
        if len(self._items) >= self._limit:
            self._drop_one()
        self._items.append(item)
        self._wake_next()

    def _drop_one(self) -> None:
        spare = next((item for item in self._items if item.kind != "wake"), self._items[0])
        self._items.remove(spare)
        self.lost += 1

    def take(self) -> LateMessage | None:
        """The next item, or None when there is none right now."""
        return self._taken() if self._items else None

    def take_all(self) -> tuple[LateMessage, ...]:
        return tuple(self._taken() for _ in range(len(self._items)))

    def told(self, wake_id: str) -> None:
        """Say that something of a durable hook was told, where the owner says so by itself."""
        if wake_id and self.acknowledge is not None:
            self.acknowledge(wake_id)

    def _taken(self) -> LateMessage:
        item = self._items.popleft()
        if item.wake_id and self.acknowledge is not None and not self.owner_acknowledges:
            self.acknowledge(item.wake_id)
        return item

    async def get(self) -> LateMessage:
        """The next item, as soon as there is one."""
        while not self._items:
            await self._changed()
        return self._taken()

    async def next_wake(self) -> LateMessage | None:
        """The next item, or None once there is none and no hook is left that may wake the agent."""
        while not self._items:
            if not self.awaited:
                return None
            await self._changed()
        return self._taken()

    async def _changed(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            # This waiter was woken and cancelled at once: the next one must be woken instead.
            if waiter.done() and not waiter.cancelled() and self._items:
                self._wake_next()
            raise

    def _wake_next(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


def deliver(inbox: Inbox, call: Call, outcome: Outcome, source: str, *, failed: bool) -> tuple[str, ...]:
    """Put what a background hook said into the inbox; returns the names of what came too late to count.

    A hook that failed has found nothing: only an answer of its own wakes the agent.
    """
    hook = call.hook
    about: dict[str, Any] = {
        "hook": hook.name,
        "type": hook.kind,
        "source": source,
        "event": hook.policy.event_name,
        "label": hook.event_label,
        "run_id": call.run_id,
    }
    too_late: list[str] = []
    if outcome.blocked and hook.waiting == "rewake" and not failed:
        inbox.put(LateMessage(kind="wake", text=outcome.reason or "", **about))
    elif outcome.votes:
        too_late.append("decision")
    if outcome.context_items and hook.policy.late == "discard":
        too_late.append("context")
    else:
        for item in outcome.context_items:
            inbox.put(
                LateMessage(
                    kind="context", text=item.text, placement=item.placement, lives=item.lives, **about
                )
            )
    for message in outcome.messages:
        inbox.put(LateMessage(kind="message", text=message.text, failed=failed, **about))
    if outcome.watch_paths:
        inbox.put(LateMessage(kind="watch", paths=outcome.watch_paths, **about))
    if outcome.edits:
        too_late.append("rewrite")
    return tuple(too_late)
