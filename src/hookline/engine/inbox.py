"""A session's inbox: what background hooks said after their event was over. The host awaits it, without polling."""

import asyncio
from collections import deque
from typing import Any, Literal

from msgspec import Struct

from hookline.model.outcome import Outcome
from hookline.model.policy import Lives, Placement
from hookline.model.wire import Call


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
    run_id: str = ""
    placement: Placement | Literal[""] = ""
    lives: Lives | Literal[""] = ""


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

    def __len__(self) -> int:
        return len(self._items)

    def await_wake(self) -> None:
        """A hook that may wake the agent has been started."""
        self.awaited += 1
        if self._successor is not None:
            self._successor.await_wake()

    def wake_settled(self) -> None:
        """It ended; whatever it had to say has been put here."""
        self.awaited -= 1
        self._wake_next()
        if self._successor is not None:
            self._successor.wake_settled()

    def hand_over(self, successor: "Inbox") -> None:
        """Pass everything that is here, and everything still to come, to another inbox."""
        self._successor = successor
        for item in self.take_all():
            successor.put(item)
        for _ in range(self.awaited):
            successor.await_wake()

    def put(self, item: LateMessage) -> None:
        if self._successor is not None:
            self._successor.put(item)
            return
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
        return self._items.popleft() if self._items else None

    def take_all(self) -> tuple[LateMessage, ...]:
        items = tuple(self._items)
        self._items.clear()
        return items

    async def get(self) -> LateMessage:
        """The next item, as soon as there is one."""
        while not self._items:
            await self._changed()
        return self._items.popleft()

    async def next_wake(self) -> LateMessage | None:
        """The next item, or None once there is none and no hook is left that may wake the agent."""
        while not self._items:
            if not self.awaited:
                return None
            await self._changed()
        return self._items.popleft()

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


def deliver(inbox: Inbox, call: Call, outcome: Outcome, source: str, *, may_wake: bool) -> tuple[str, ...]:
    """Put what a background hook said into the inbox; returns the names of what came too late to count."""
    hook = call.hook
    about: dict[str, Any] = {
        "hook": hook.name,
        "type": hook.kind,
        "source": source,
        "event": hook.policy.event_name,
        "run_id": call.run_id,
    }
    too_late: list[str] = []
    if outcome.blocked and hook.waiting == "rewake" and may_wake:
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
        inbox.put(LateMessage(kind="message", text=message.text, **about))
    if outcome.watch_paths:
        inbox.put(LateMessage(kind="watch", paths=outcome.watch_paths, **about))
    if outcome.edits:
        too_late.append("rewrite")
    return tuple(too_late)
