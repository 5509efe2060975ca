"""Run blocking work in a thread, which stops when its caller is cancelled or its time is up."""

import asyncio
import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


class WorkLimit:
    """Limit that long work checks from time to time. The time begins when it is made."""

    def __init__(self, seconds: float = float("inf")) -> None:
        self._until = monotonic() + seconds
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """True if the caller was cancelled."""
        return self._cancelled.is_set()

    @property
    def over(self) -> bool:
        """True if the caller was cancelled, or the time is up."""
        return self._cancelled.is_set() or monotonic() > self._until

    def cancel(self) -> None:
        self._cancelled.set()


async def off_loop(work: Callable[[WorkLimit], T], seconds: float = float("inf")) -> T:
    """Run it in a thread. When cancelled, the thread ends the next time it asks."""
    limit = WorkLimit(seconds)
    try:
        return await asyncio.to_thread(work, limit)
    finally:
        limit.cancel()
