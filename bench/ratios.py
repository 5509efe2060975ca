"""Two things timed side by side in one run: what counts is how many times the other one costs."""

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from time import perf_counter

Timed = Callable[[], Awaitable[float]]


async def ratio(ours: Timed, theirs: Timed, rounds: int) -> float:
    """The median of paired rounds: a machine that is busy for a while is busy for both."""
    pairs: list[float] = []
    for number in range(rounds):
        if number % 2:  # the second one finds the caches as the first one left them
            own, base = await ours(), await theirs()
        else:
            base, own = await theirs(), await ours()
        pairs.append(own / base)
    return statistics.median(pairs)


def many(call: Callable[[], object], times: int) -> Timed:
    """Seconds for that many plain calls."""

    async def timed() -> float:
        started = perf_counter()
        for _ in range(times):
            call()
        return perf_counter() - started

    return timed


def many_awaited(call: Callable[[], Awaitable[object]], times: int) -> Timed:
    async def timed() -> float:
        started = perf_counter()
        for _ in range(times):
            await call()
        return perf_counter() - started

    return timed


def run(figure: Callable[[], Awaitable[float]]) -> float:
    return asyncio.run(_awaited(figure))


async def _awaited(figure: Callable[[], Awaitable[float]]) -> float:
    return await figure()
