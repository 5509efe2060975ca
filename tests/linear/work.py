"""Compare how much work a text takes with what a text of another length takes. No clock has to be fast."""

import re
import time
from collections.abc import Callable
from functools import cache
from math import inf

#: Four times as much, and as much again for what else happens meanwhile. Squares would take sixteen times as much.
_LINEAR = 9
#: So little more is linear beyond doubt, and need not be tried again.
_CLEARLY_LINEAR = 5
_SHORT = 100
#: How often a text is tried that may take too much: a busy machine is not a slow pattern.
_TRIES = 3


def work(run: Callable[[str], object], text: str) -> float:
    """Return processor time."""
    before = time.thread_time()
    run(text)
    return time.thread_time() - before


def _least(run: Callable[[str], object], text: Callable[[int], str], length: int) -> float:
    """Return the least of several runs: others use the machine as well. No text is the same: some are remembered."""
    return min(work(run, text(length - shorter)) for shorter in range(3))


@cache
def unit() -> float:
    """Return what this machine takes to look at a million letters, one after another."""
    search = re.compile("[bc]").search
    return min(_least(search, lambda length: "a" * length, 1_000_000) for _ in range(_TRIES))


def grows_faster(
    run: Callable[[str], object], text: Callable[[int], str], length: int, least: float = 0.25
) -> str | None:
    """Return how much more work four times the text takes, if that is more than it may; None if it is not.

    Less than so many units of work are not compared.
    """
    # Some take twice as long for each letter, others would take hours for the whole text.
    for short in (
        *range(24, _SHORT, 8),
        *(part for part in (length // 64, length // 8) if part > _SHORT),
        length,
    ):
        most = max(2.0, 8 * least) * unit()
        # What took too long once may have been held up: it counts if it takes as long again.
        if work(run, text(short)) > most and (much := _least(run, text, short)) > most:
            return f"{much * 1e3:.0f} ms for {short} characters"
    if work(run, text(4 * length)) < least * unit():
        return None
    less = more = inf
    for _ in range(_TRIES):
        # Of all tries: either text may have been held up in one of them.
        less, more = min(less, _least(run, text, length)), min(more, _least(run, text, 4 * length))
        if more < least * unit() or more < _CLEARLY_LINEAR * less:
            return None
    if more < _LINEAR * less:
        return None
    return f"{more / less:.0f} times as much work for 4 times the text ({more * 1e3:.0f} ms)"
