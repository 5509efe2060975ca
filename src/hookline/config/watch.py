"""Seeing that files changed: marks to compare, and a wait that ends when a comparison would differ."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from msgspec import Struct

from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.model.diagnostics import Diagnostic, Where

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


class Reload(Struct, frozen=True):
    """What came of a change."""

    loaded: Loaded
    #: False when a file could not be read: the set that was in force still is.
    in_force: bool
    changed: tuple[str, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if self.in_force:
            return self.loaded.diagnostics
        message = "this file cannot be read: the hooks that were in force stay in force"
        kept = (
            Diagnostic("error", "kept-last-good", message, Where(file)) for file in self.loaded.unreadable
        )
        return (*self.loaded.diagnostics, *kept)


async def _agreed(changed: tuple[str, ...]) -> bool:
    del changed
    return True


class Watch:
    """Keeps the hooks of an engine as their files are. Run it as a task beside the agent.

    `agree` is asked before a change is applied. What it turns down it is asked about again together with the next
    change: files are loaded all or none.
    """

    def __init__(
        self,
        engine: Engine,
        cwd: str,
        on_reload: Callable[[Reload], None] = lambda _reload: None,
        dialects: Sequence[str] | None = None,
        agree: Callable[[tuple[str, ...]], Awaitable[bool]] = _agreed,
    ) -> None:
        self._engine = engine
        self._cwd = cwd
        self._agree = agree
        self._on_reload = on_reload
        self._dialects = dialects
        self._stop = asyncio.Event()
        #: Set once changes are being seen.
        self.ready = asyncio.Event()

    async def run(self) -> None:
        """Until `stop` is called or the task is cancelled."""
        files = self._engine.loader.places(self._cwd, self._dialects)
        seen = _marks(files)
        turned_down: set[str] = set()
        while not self._stop.is_set():
            await self._something_happens(files, seen)
            now = _marks(files)
            changed = {file for file in files if now[file] != seen[file]}
            seen = now
            if not changed or self._stop.is_set():
                continue
            # What was turned down still stands in its file, and whatever is loaded next would bring it in.
            asked = tuple(file for file in files if file in changed or file in turned_down)
            turned_down = set() if await self._agree(asked) else set(asked)
            if not turned_down:
                self._reload(asked)

    def stop(self) -> None:
        self._stop.set()

    def _reload(self, changed: tuple[str, ...]) -> None:
        loaded = self._engine.loader.directory(self._cwd, self._dialects)
        self._on_reload(Reload(loaded, self._engine.use(loaded), changed))

    async def _something_happens(self, files: Sequence[str], seen: dict[str, Mark | None]) -> None:
        """Wait until a file is not as it was, or a directory where one may come to be is made or removed."""
        directories = standing_directories(files)

        def different() -> bool:
            self.ready.set()
            return _marks(files) != seen or standing_directories(files) != directories

        await until_different(directories, self._stop, different)


def _marks(files: Sequence[str]) -> dict[str, Mark | None]:
    return {file: mark(file) for file in files}
