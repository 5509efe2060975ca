"""Reload live: a good edit takes effect, a bad one keeps the active hooks and is reported."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from msgspec import Struct

from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.registry import OWN_FORMAT
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.hook import Hook
from hookline.trust.sessions import guard_identity, is_guard
from hookline.trust.trust import only_tightens

#: Time of change, size and identity: equal marks mean unchanged content.
Mark = tuple[int, int, int]
#: Seconds between two comparisons if the system cannot watch the files.
_POLLING = 0.5


def mark(file: str) -> Mark | None:
    """Return the mark; None if there is no such file."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def existing_directories(paths: Iterable[str]) -> list[str]:
    """Return the nearest existing directory above each path: it sees when the path is created again."""
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

    The watch misses changes while it is being set up, so `different` is also called twice a second.
    """
    watchfiles: Any = import_module("watchfiles")  # only for hosts that watch
    try:
        async for _ in watchfiles.awatch(
            *directories, recursive=False, stop_event=stop, step=50, rust_timeout=500, yield_on_timeout=True
        ):
            if different():
                return
    except (OSError, RuntimeError):
        # A directory was removed just now, or the system has no watches left.
        await asyncio.sleep(_POLLING)


class Reload(Struct, frozen=True):
    """The result of one change.

    ::

        def report(reload: Reload) -> None:
            for diagnostic in reload.diagnostics:
                print(diagnostic)
    """

    loaded: Loaded
    #: False if a file could not be read: the earlier hooks stay active.
    active: bool
    changed: tuple[str, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings in the files, and the files that could not be read."""
        if self.active:
            return self.loaded.diagnostics
        message = "this file cannot be read, so the previous hooks stay active"
        kept = (
            Diagnostic("error", "kept-last-good", message, Where(file)) for file in self.loaded.unreadable
        )
        return (*self.loaded.diagnostics, *kept)


async def _always(changed: tuple[str, ...], loaded: Loaded | None = None) -> bool:
    del changed, loaded
    return True


class Watch:
    """A watcher that reloads the hooks of an engine when their files change. Run it as a task next to the
    agent.

    Make it when the hooks have been loaded: it notices changes from then on, also before it runs.
    `dialects` are those that were loaded; None for all. `agree` is called before changed files are read, and
    `confirm` with the loaded hooks, before they are active. `confirm` may take its time: the previous hooks
    stay active, and a further change replaces this one. A refused change is offered again with the next one,
    because files are loaded all or none. ::

        watch = asyncio.create_task(Watch(engine, cwd).run())
    """

    def __init__(
        self,
        engine: Engine,
        cwd: str,
        on_reload: Callable[[Reload], None] = lambda _reload: None,
        dialects: Sequence[str] | None = (OWN_FORMAT,),
        agree: Callable[[tuple[str, ...]], Awaitable[bool]] = _always,
        confirm: Callable[[tuple[str, ...], Loaded], Awaitable[bool]] = _always,
    ) -> None:
        self._engine = engine
        self._cwd = cwd
        self._agree = agree
        self._confirm = confirm
        #: Files whose changes are not active.
        self._waiting: set[str] = set()
        self._on_reload = on_reload
        self._dialects = dialects
        self._files = engine.loader.config_files(cwd, dialects)
        self._signed = frozenset(engine.loader.bundle_files())
        self._seen = _marks(self._files)
        self._stop = asyncio.Event()
        #: Set once changes are noticed.
        self.ready = asyncio.Event()

    async def run(self) -> None:
        """Run until `stop` is called or the task is cancelled."""
        files, seen = self._files, self._seen
        settling: asyncio.Task[None] | None = None
        try:
            while not self._stop.is_set():
                await self._until_changed(files, seen)
                now = _marks(files)
                changed = {file for file in files if now[file] != seen[file]}
                seen = now
                if not changed or self._stop.is_set():
                    continue
                await _ended(settling)
                # A change that is not active is still in its file, and the next load would include it.
                asked = tuple(file for file in files if file in changed or file in self._waiting)
                self._waiting = set(asked)
                # The signer of bundles decides about them.
                open_to_objections = tuple(file for file in asked if file not in self._signed)
                if not open_to_objections or await self._agree(open_to_objections):
                    settling = asyncio.create_task(self._settle(asked))
        finally:
            await _ended(settling)

    def stop(self) -> None:
        """End `run`."""
        self._stop.set()

    async def _settle(self, changed: tuple[str, ...]) -> None:
        loaded = self._engine.loader.directory(self._cwd, self._dialects, trust=self._engine.trust)
        # An unreadable file is not activated anyway.
        if loaded.unreadable or await self._confirm(changed, loaded):
            self._waiting.clear()
            self._on_reload(Reload(loaded, self._engine.use(loaded), changed))

    async def _until_changed(self, files: Sequence[str], seen: dict[str, Mark | None]) -> None:
        """Wait until a file changed, or a directory that may hold one was created or removed."""
        directories = existing_directories(files)

        def different() -> bool:
            self.ready.set()
            return _marks(files) != seen or existing_directories(files) != directories

        await until_different(directories, self._stop, different)


async def _ended(task: asyncio.Task[None] | None) -> None:
    """Cancel a task that is still running. Raises what it raised."""
    if task is None:
        return
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.result()


def _marks(files: Sequence[str]) -> dict[str, Mark | None]:
    return {file: mark(file) for file in files}


# Effects of a reload on a running session: guards that go, and things that would run


class ConfigChanges(Struct, frozen=True, eq=False):
    """Changes that the user has to agree to. A change that only tightens is not included."""

    #: Guards that are gone, off or changed.
    gone: tuple[Hook, ...] = ()
    #: Hooks that run something, and did not before.
    new: tuple[Hook, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gone or self.new)

    def lines(self) -> Iterator[str]:
        """Yield a line for each hook, not safe to print."""
        new = {_called(hook) for hook in self.new}
        gone = {_called(hook) for hook in self.gone}
        for hook in self.gone:
            what = "changed" if _called(hook) in new else "gone"
            yield f"guard {what}: {hook.event_label} {hook.name} ({hook.where})"
        for hook in self.new:
            what = "changed to" if _called(hook) in gone else "new"
            yield f"{what}: {hook.event_label} {hook.name} ({hook.where}): {runs(hook)}"


def changes(before: Sequence[Hook], after: Sequence[Hook]) -> ConfigChanges:
    """Compare hooks without those of bundles: their signer decides about those."""
    before = [hook for hook in before if hook.bundle is None]
    after = [hook for hook in after if hook.bundle is None]
    there = {_identity(hook) for hook in after if is_guard(hook)}
    ran = {_identity(hook) for hook in before if hook.mode != "off"}
    return ConfigChanges(
        tuple(hook for hook in before if is_guard(hook) and _identity(hook) not in there),
        tuple(
            hook
            for hook in after
            if hook.mode != "off" and not only_tightens(hook) and _identity(hook) not in ran
        ),
    )


def runs(hook: Hook) -> str:
    """Return the command, the address, the question or the tool."""
    spec = hook.spec
    for name in ("command", "url", "prompt", "tool", "name"):
        if text := getattr(spec, name, None):
            return " ".join([str(text), *(getattr(spec, "args", None) or ())])
    return hook.kind


def _identity(hook: Hook) -> str:
    # Scripts are compared when a hook starts, not here: a reload does not change them.
    return guard_identity(hook, {})


def _called(hook: Hook) -> tuple[str, str, str]:
    return hook.where.file, hook.policy.event_name, hook.name
