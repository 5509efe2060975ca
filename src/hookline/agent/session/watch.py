"""What changes around a session while it runs: watched files and the configuration itself."""

import asyncio
import os
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from time import monotonic
from typing import Literal

from hookline.agent.ports import Shown
from hookline.agent.session.session import Agent
from hookline.config.engine import Engine
from hookline.config.watch import Mark, Reload, Watch, mark, standing_directories, until_different
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.hook import Hook

_MOST = 30
_SECONDS = 60.0


class Storms:
    """Lets so many changes of one file through in so many seconds; then it must be quiet for as long."""

    def __init__(
        self,
        report: Callable[[str], None],
        *,
        most: int = _MOST,
        seconds: float = _SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._report = report
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._passed: dict[str, deque[float]] = {}
        self._quiet_until: dict[str, float] = {}

    def passes(self, file: str) -> bool:
        now = self._clock()
        if now < self._quiet_until.get(file, now):
            self._quiet_until[file] = now + self._seconds
            return False
        self._quiet_until.pop(file, None)
        passed = self._passed.setdefault(file, deque(maxlen=self._most))
        if len(passed) == self._most and now - passed[0] < self._seconds:
            del self._passed[file]
            self._quiet_until[file] = now + self._seconds
            self._report(
                f"{file} changed {self._most} times in {self._seconds:g} s: its changes are not told any more until "
                f"it is left alone for as long. Does a hook of FileChanged change it?"
            )
            return False
        passed.append(now)
        return True


Change = Literal["add", "change", "unlink"]
#: A directory that is watched stands for its files, up to so many.
_MOST_FILES = 1000
_SETTLES = 0.05


def _ignore(told: str) -> None:
    del told


class FileWatch:
    """Run it as a task beside the agent. `changed` is awaited for each change, one after another."""

    def __init__(
        self, changed: Callable[[str, Change], Awaitable[None]], storms: Storms | None = None
    ) -> None:
        self._changed = changed
        self._storms = storms if storms is not None else Storms(_ignore)
        self._paths: set[str] = set()
        self._marks: dict[str, Mark] = {}
        self._held: Counter[str] = Counter()
        self._again = asyncio.Event()
        self._over = False

    def add(self, paths: Iterable[str]) -> None:
        """Watch these as well: files that are or may come to be, and directories for what is in them."""
        new = set(paths) - self._paths
        if new:
            self._paths |= new
            self._marks |= _marks(new)
            self._again.set()

    def hold(self, file: str) -> None:
        """A tool of the agent changed this and tells hooks itself: until `seen`, nothing is told of it here."""
        self._held[file] += 1
        self._forget([file])

    def seen(self, file: str) -> None:
        """All hooks have been told; what they did to the file is known as well."""
        self._forget([file])
        self._held[file] -= 1
        if not self._held[file]:
            del self._held[file]

    async def run(self) -> None:
        """Until the task is cancelled or `stop` is called."""
        while not self._over:
            if not self._paths:
                await self._again.wait()
            self._again.clear()
            await self._something_happens()
            for file, change in self._differences():
                if self._storms.passes(file):
                    await self._changed(file, change)
                # What the hooks of this event did to the file is not another one, or they would run for ever.
                self._forget([file])

    def stop(self) -> None:
        self._over = True
        self._again.set()

    def _forget(self, files: Iterable[str]) -> None:
        for file in files:
            now = mark(file)
            if now is None:
                self._marks.pop(file, None)
            elif self._watches(file):
                # Others must not be marked: they would seem to vanish when all that is watched is looked at.
                self._marks[file] = now

    def _watches(self, file: str) -> bool:
        directory = os.path.dirname(file)
        return file in self._paths or (directory in self._paths and file in _files(directory))

    def _differences(self) -> list[tuple[str, Change]]:
        before, self._marks = self._marks, _marks(self._paths)
        found: list[tuple[str, Change]] = []
        for file, now in self._marks.items():
            if file not in before:
                found.append((file, "add"))
            elif before[file] != now:
                found.append((file, "change"))
        found.extend((file, "unlink") for file in before if file not in self._marks)
        return sorted(each for each in found if each[0] not in self._held)

    async def _something_happens(self) -> None:
        if _marks(self._paths) != self._marks:
            # While hooks of another change ran. Whoever writes gets a moment to finish.
            await asyncio.sleep(_SETTLES)
            return
        await until_different(standing_directories(self._paths), self._again, self._different)

    def _different(self) -> bool:
        return self._again.is_set() or _marks(self._paths) != self._marks


def _marks(paths: Iterable[str]) -> dict[str, Mark]:
    found: dict[str, Mark] = {}
    for path in paths:
        for file in _files(path):
            now = mark(file)
            if now is not None:
                found[file] = now
    return found


def _files(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            inside = [entry.path for _count, entry in zip(range(_MOST_FILES), entries, strict=False)]
    except OSError:
        return [path]
    return [file for file in inside if not os.path.isdir(file)]


class SessionWatch:
    """Fires FileChanged and ConfigChange for one agent, until it is closed."""

    def __init__(
        self,
        agent: Agent,
        engine: Engine | None,
        cwd: str,
        home: str,
        *,
        extra: Sequence[Hook] = (),
        live: bool = True,
    ) -> None:
        self._agent = agent
        self._home = home
        self._files = FileWatch(self._file_changed, Storms(self._warn))
        self._engine = engine
        self._extra = tuple(extra)
        self._count = len(engine.hooks) if engine is not None else 0
        self._config: Watch | None = None
        if engine is not None and live:
            self._config = Watch(engine, cwd, self._reloaded, agree=self._config_changed)
        self._tasks: list[asyncio.Task[None]] = []
        agent.on_watch = self._files.add
        agent.place.on_wrote, agent.place.on_told = self._files.hold, self._files.seen

    def start(self, paths: Iterable[str] = ()) -> None:
        self._files.add([*paths, *self._agent.watched])
        self._tasks.append(asyncio.ensure_future(self._kept(self._files.run, "files")))
        if self._config is not None:
            self._tasks.append(asyncio.ensure_future(self._kept(self._config.run, "the configuration")))

    async def _kept(self, watching: Callable[[], Awaitable[None]], what: str) -> None:
        """The session goes on without what cannot be watched, and says so."""
        try:
            await watching()
        except Exception as problem:  # noqa: BLE001 - whatever it is, it must not go unseen
            self._warn(f"{what} cannot be watched any more: {type(problem).__name__}: {problem}")

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks.clear()

    async def _file_changed(self, file: str, change: Change) -> None:
        outcome = await self._agent.fire(e.FILE_CHANGED, p.FileEdit(file_path=file, event=change))
        self._agent.watch(outcome.watch_paths)

    async def _config_changed(self, changed: tuple[str, ...]) -> bool:
        """Hooks are asked before a change counts; one objection keeps all of it out."""
        objections: list[str] = []
        for file in changed:
            outcome = await self._agent.fire(
                e.CONFIG_CHANGE, p.ConfigEdit(source=self._source(file), file_path=file)
            )
            if outcome.blocked:
                objections.append(f"{file}: {outcome.reason or 'a hook objects'}")
        if objections:
            why = "; ".join(objections)
            self._warn(f"the configuration stays as it was: {why}")
        return not objections

    def _source(self, file: str) -> str:
        if ".local." in os.path.basename(file):
            return "local_settings"
        inside = self._home and file.startswith(self._home.rstrip(os.sep) + os.sep)
        project = self._agent.hooks.scene.project_dir or self._agent.place.cwd
        if inside and not file.startswith(project.rstrip(os.sep) + os.sep):
            return "user_settings"
        return "project_settings"

    def _reloaded(self, reload: Reload) -> None:
        if self._engine is not None and reload.in_force and self._extra:
            given = {hook.where.file for hook in self._extra}
            loaded = (hook for hook in reload.loaded.hooks if hook.where.file not in given)
            self._engine.swap((*loaded, *self._extra))
        for diagnostic in reload.diagnostics:
            self._warn(str(diagnostic))
        if self._engine is not None and reload.in_force:
            # A guard that is gone, by whoever's hand, must not be gone silently.
            before, self._count = self._count, len(self._engine.hooks)
            files = ", ".join(reload.changed)
            told = f"{files} changed: {self._count} hooks are in force now, {before} were before"
            self._agent.listener.show(Shown(kind="notice", text=told))

    def _warn(self, text: str) -> None:
        self._agent.listener.show(Shown(kind="warning", text=text))


def watched_names(engine: Engine, cwd: str) -> list[str]:
    """Names that hooks of FileChanged match: there a matcher says what is to be watched."""
    found: list[str] = []
    for hook in engine.hooks:
        if hook.event is e.FILE_CHANGED and hook.matcher is not None:
            names = hook.matcher.text.split("|")
            found += [
                os.path.join(cwd, name) for name in names if name and not set(name) & set("*?[](){}^$\\/+")
            ]
    return found
