"""Waiting for something to happen, never for a time to pass: a busy machine is slow, not wrong."""

import asyncio
import shlex
import time
from collections.abc import Callable
from pathlib import Path

#: Longer than anything takes that happens at all.
LONG = 60.0


def waits_for(file: Path) -> str:
    """A shell command that ends when the file is there: a hook that is slow for as long as a test wants."""
    return f"while [ ! -e {shlex.quote(str(file))} ]; do sleep 0.02; done"


async def until(holds: Callable[[], object], seconds: float = LONG) -> None:
    """Come back when it holds. Raises AssertionError when it never does."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"did not happen within {seconds:g} s"
        await asyncio.sleep(0.01)


def wait_until(holds: Callable[[], object], seconds: float = LONG) -> None:
    """The same without a loop."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"did not happen within {seconds:g} s"
        time.sleep(0.01)
