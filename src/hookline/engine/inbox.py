"""Where late words arrive. The host awaits it; there is no polling."""

import asyncio
from collections import deque
from typing import Literal

from msgspec import Struct

from hookline.model.policy import Lives, Placement


class Late(Struct, frozen=True, kw_only=True):
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
    """First in, first out, bounded: the oldest context gives way first, a wake never does."""

    def __init__(self, limit: int = 1000) -> None:
        self._items: deque[Late] = deque()
        self._limit = limit
        self._waiters: deque[asyncio.Future[None]] = deque()
        #: How many items had to give way.
        self.lost = 0
        #: How many hooks are still at work that may wake the agent.
        self.awaited = 0
        self._heir: Inbox | None = None

    def __len__(self) -> int:
        return len(self._items)

    def await_wake(self) -> None:
        """A hook that may wake the agent has been started."""
        self.awaited += 1
        if self._heir is not None:
            self._heir.await_wake()

    def wake_settled(self) -> None:
        """It ended; what it had to say is here by now."""
        self.awaited -= 1
        self._wake_next()
        if self._heir is not None:
            self._heir.wake_settled()

    def hand_over(self, heir: "Inbox") -> None:
        """Nobody reads here any more: what is here and what is still to come is for the other."""
        self._heir = heir
        for item in self.take_all():
            heir.put(item)
        for _ in range(self.awaited):
            heir.await_wake()

    def put(self, item: Late) -> None:
        if self._heir is not None:
            self._heir.put(item)
            return
        if len(self._items) >= self._limit:
            self._make_room()
        self._items.append(item)
        self._wake_next()

    def _make_room(self) -> None:
        spare = next((item for item in self._items if item.kind != "wake"), self._items[0])
        self._items.remove(spare)
        self.lost += 1

    def take(self) -> Late | None:
        """The next item, or None when there is none right now."""
        return self._items.popleft() if self._items else None

    def take_all(self) -> tuple[Late, ...]:
        items = tuple(self._items)
        self._items.clear()
        return items

    async def get(self) -> Late:
        """The next item, as soon as there is one."""
        while not self._items:
            await self._word()
        return self._items.popleft()

    async def _word(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            # The word that woke us must wake the next one who waits instead.
            if waiter.done() and not waiter.cancelled() and self._items:
                self._wake_next()
            raise

    async def next_wake(self) -> Late | None:
        """The next item, or None once there is none and no hook is left that may wake the agent."""
        while not self._items:
            if not self.awaited:
                return None
            await self._word()
        return self._items.popleft()

    def _wake_next(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
