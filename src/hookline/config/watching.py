"""Live reload: files are watched, a good edit is put in force, a bad one leaves the last good set and says so."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from hookline.config.embedding import Engine
from hookline.config.file_changes import Mark, mark, standing_directories, until_different
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic, Where


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
