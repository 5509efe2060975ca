"""The right to run a process now: a few at once, the others wait in line."""

import asyncio
from collections import OrderedDict
from time import perf_counter


class Slots:
    """First come, first served. Bound to no event loop, so one object outlives any number of them."""

    def __init__(self, limit: int = 32, queue: int = 10_000) -> None:
        if limit < 1 or queue < 0:
            raise ValueError("at least one slot, and no queue shorter than none")
        self.limit = limit
        self.queue = queue
        self._free = limit
        self._line: OrderedDict[asyncio.Future[None], None] = OrderedDict()

    @property
    def taken(self) -> int:
        return self.limit - self._free

    @property
    def waiting(self) -> int:
        return len(self._line)

    async def take(self) -> float | None:
        """Milliseconds waited for the slot; None when even the line is full."""
        if self._free and not self._line:
            self._free -= 1
            return 0.0
        if len(self._line) >= self.queue:
            return None
        came = perf_counter()
        turn = asyncio.get_running_loop().create_future()
        self._line[turn] = None
        try:
            await turn
        except asyncio.CancelledError:
            self._leave(turn)
            raise
        return (perf_counter() - came) * 1000

    def give_back(self) -> None:
        self._free += 1
        self._call_next()

    def _leave(self, turn: asyncio.Future[None]) -> None:
        was_called = turn not in self._line
        self._line.pop(turn, None)
        if was_called and not turn.cancelled():
            # It was called up and cancelled in the same breath: the slot goes to the next in line.
            self.give_back()

    def _call_next(self) -> None:
        while self._free and self._line:
            turn, _ = self._line.popitem(last=False)
            # A loop that was closed with somebody in line will never come back for the slot.
            if turn.done() or turn.get_loop().is_closed():
                continue
            self._free -= 1
            turn.set_result(None)
