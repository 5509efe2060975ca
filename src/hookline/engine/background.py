"""Own the tasks of background hooks, and the inbox where their answers arrive.

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
from hookline.model.policy import Lifetime, Placement
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from weakref import finalize

T = TypeVar("T")


class BackgroundHooks:
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
        """Run work as soon as a slot is free; `name` is that of its hook."""
        task = self._own(self._in_slot(work), name)
        # A task that is cancelled before its first step never awaits the work: it must be closed.
        task.add_done_callback(lambda _task: work.close())

    def adopt(self, work: Coroutine[Any, Any, T], name: str = "") -> "asyncio.Task[T]":
        """Take over work that has started already."""
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
        """Drain within the limit, then cancel the rest. Return the names of the cancelled hooks."""
        self.closed = True
        if self._unclosed is not None:
            self._unclosed.detach()
        if not self._tasks:
            return ()
        await self.drain(limit)
        left = self._tasks_here()
        names = tuple(filter(None, (self._names.get(id(task)) for task in left)))
        for task in left:
            task.cancel()
        if left:
            # A cancelled hook leaves its process to the pool that owns it, so this returns at once.
            await asyncio.wait(left, timeout=5)
        return names

    def _tasks_here(self) -> "set[asyncio.Task[object]]":
        """Return the tasks of the running loop; those of a closed loop can neither be awaited nor continue."""
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
    """A message of a hook that came after its event was over."""

    #: wake: resumes the agent. context: for the model, with its next request. message: for the user. watch:
    #: paths to watch from now on.
    kind: Literal["wake", "context", "message", "watch"]
    text: str = ""
    paths: tuple[str, ...] = ()
    hook: str = ""
    #: The kind of its handler; `source` is where it is configured.
    type: str = ""
    source: str = ""
    event: str = ""
    #: The event's name as users see it.
    label: str = ""
    run_id: str = ""
    #: Id by which a durable hook's message is acknowledged; empty if the message is stored nowhere.
    wake_id: str = ""
    placement: Placement | Literal[""] = ""
    lifetime: Lifetime | Literal[""] = ""
    #: The hook failed, and this message is about the failure.
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
        #: Acknowledges messages of durable hooks by their ids once they were taken; None until there is one.
        self.acknowledge: Callable[[str], None] | None = None
        #: The owner acknowledges messages, after it has recorded them.
        self.owner_acknowledges = False
        self._wake_ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._items)

    def await_wake(self) -> None:
        """Count a started hook that may wake the agent."""
        self.awaited += 1
        if self._successor is not None:
            self._successor.await_wake()

    def wake_settled(self) -> None:
        """Count it as ended; its answer, if any, is in the inbox."""
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
                return  # a message is delivered once
            self._wake_ids.add(item.wake_id)
        if len(self._items) >= self._limit:
            spare = next((each for each in self._items if each.kind != "wake"), self._items[0])
            self._items.remove(spare)
            self.lost += 1
        self._items.append(item)
        self._wake_next()

    def take(self) -> LateMessage | None:
        """Return the next item, or None when there is none right now."""
        return self._taken() if self._items else None

    def take_all(self) -> tuple[LateMessage, ...]:
        return tuple(self._taken() for _ in range(len(self._items)))

    def delivered(self, wake_id: str) -> None:
        """Acknowledge a message of a durable hook, where the owner does that."""
        if wake_id and self.acknowledge is not None:
            self.acknowledge(wake_id)

    def _taken(self) -> LateMessage:
        item = self._items.popleft()
        if item.wake_id and self.acknowledge is not None and not self.owner_acknowledges:
            self.acknowledge(item.wake_id)
        return item

    async def get(self) -> LateMessage:
        """Wait for the next item and return it."""
        while not self._items:
            await self._changed()
        return self._taken()

    async def next_wake(self) -> LateMessage | None:
        """Wait for the next item; return None once there is none and no running hook may wake the agent."""
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


def deliver(
    inbox: Inbox, call: HookInvocation, outcome: Outcome, source: str, *, failed: bool
) -> tuple[str, ...]:
    """Put the answer of a background hook into the inbox; return the names of the parts that came too late to
    apply.

    A failed hook has found nothing: only an answer wakes the agent.
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
                    kind="context", text=item.text, placement=item.placement, lifetime=item.lifetime, **about
                )
            )
    for message in outcome.messages:
        inbox.put(LateMessage(kind="message", text=message.text, failed=failed, **about))
    if outcome.watch_paths:
        inbox.put(LateMessage(kind="watch", paths=outcome.watch_paths, **about))
    if outcome.edits:
        too_late.append("rewrite")
    return tuple(too_late)
