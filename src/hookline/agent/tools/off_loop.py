"""Blocking work beside the event loop, that stops when nobody waits for it any more."""

import asyncio
import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


class Patience:
    """Asked now and then by long work: whether to go on. Seconds are counted from when it was made."""

    def __init__(self, seconds: float = float("inf")) -> None:
        self._until = monotonic() + seconds
        self._given_up = threading.Event()

    @property
    def given_up(self) -> bool:
        """Whoever waited is gone."""
        return self._given_up.is_set()

    @property
    def over(self) -> bool:
        """Nobody waits, or the time is up."""
        return self._given_up.is_set() or monotonic() > self._until

    def give_up(self) -> None:
        self._given_up.set()


async def off_loop(work: Callable[[Patience], T], seconds: float = float("inf")) -> T:
    """Do it in a thread. Cancelled, the thread is told, and ends at its next look."""
    patience = Patience(seconds)
    try:
        return await asyncio.to_thread(work, patience)
    finally:
        patience.give_up()
