"""Seeing that files changed: marks to compare, and a wait that ends when a comparison would differ."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

#: Time of change, size and identity: two marks that are equal are of the same content, for all we can tell.
Mark = tuple[int, int, int]
#: Seconds between two looks where nothing tells us of changes.
_LOOKED_AT = 0.5


def mark(file: str) -> Mark | None:
    """None when there is no such file."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def standing_directories(paths: Iterable[str]) -> list[str]:
    """The nearest directory of each path that exists: what is made later, or comes back, is seen by its parent."""
    found: set[str] = set()
    for path in paths:
        directory = path
        while not os.path.isdir(directory) and directory != os.path.dirname(directory):
            directory = os.path.dirname(directory)
        found.add(directory)
    return sorted(found)


async def until_different(
    directories: Sequence[str], stop: asyncio.Event, different: Callable[[], bool]
) -> None:
    """Wait until something is different, or the event is set.

    What happened while the watch was being set up is told by nobody, so `different` is asked twice a second.
    """
    watchfiles: Any = import_module("watchfiles")  # only for who asked to watch
    try:
        async for _ in watchfiles.awatch(
            *directories, recursive=False, stop_event=stop, step=50, rust_timeout=500, yield_on_timeout=True
        ):
            if different():
                return
    except (OSError, RuntimeError):
        # A directory went away at the wrong moment, or the system has no watches left: then we look.
        await asyncio.sleep(_LOOKED_AT)
