"""Watch for changes during a session: files that hooks watch, and the configuration itself."""

import asyncio
import os
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from time import monotonic
from typing import Literal

from hookline.agent.call_text import near
from hookline.agent.session.script_watch import ScriptWatch
from hookline.agent.session.session import Agent
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.config.watch import (
    ConfigChanges,
    Mark,
    Reload,
    Watch,
    changes,
    existing_directories,
    mark,
    until_different,
)
from hookline.disk import DISK
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line, printable
from hookline.trust.digest import sha256
from hookline.trust.files import read_file_bytes
from hookline.trust.items import TrustItem
from hookline.trust.user_edits import accept_change

Change = Literal["add", "change", "unlink"]

#: How many files of a watched directory are checked.
_MOST_FILES = 1000
#: Seconds given to a program that is still writing.
_WRITE_SECONDS = 0.05
_MOST_CHANGES = 30
_CHANGES_SECONDS = 60.0
_WIDEST = 200


def _ignore(problem: str) -> None:
    del problem


class ChangeLimit:
    """Limit that stops feedback loops when a FileChanged hook edits the file it watches.

    One file may change `most` times in `seconds`; then its changes are ignored until it was quiet for
    `seconds`.
    """

    def __init__(
        self,
        report: Callable[[str], None] = _ignore,
        *,
        most: int = _MOST_CHANGES,
        seconds: float = _CHANGES_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._report = report
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._recent: dict[str, deque[float]] = {}
        self._quiet_until: dict[str, float] = {}

    def allows(self, file: str) -> bool:
        now = self._clock()
        if now < self._quiet_until.get(file, now):
            self._quiet_until[file] = now + self._seconds
            return False
        self._quiet_until.pop(file, None)
        recent = self._recent.setdefault(file, deque(maxlen=self._most))
        if len(recent) == self._most and now - recent[0] < self._seconds:
            del self._recent[file]
            self._quiet_until[file] = now + self._seconds
            self._report(
                f"{file} changed {self._most} times in {self._seconds:g} s: FileChanged does not fire for it until "
                f"it has not changed for as long. Does a FileChanged hook edit it?"
            )
            return False
        recent.append(now)
        return True


class FileWatch:
    """Watcher of files. Run it as a task beside the agent."""

    def __init__(self, limit: ChangeLimit | None = None) -> None:
        self._limit = limit if limit is not None else ChangeLimit()
        self._paths: set[str] = set()
        self._marks: dict[str, Mark] = {}
        self._held: Counter[str] = Counter()
        self._again = asyncio.Event()

    def add(self, paths: Iterable[str]) -> None:
        """Watch these as well: files, also ones that do not exist yet, and directories for the files in them."""
        new = set(paths) - self._paths
        if new:
            self._paths |= new
            self._marks |= _marks(new)
            self._again.set()

    def hold(self, file: str) -> None:
        """Report nothing about a file until `seen`: a tool changed it and notifies hooks itself."""
        self._held[file] += 1
        self._mark_again(file)

    def seen(self, file: str) -> None:
        """Resume watching a file: hooks were notified, and their own changes of it do not count."""
        self._mark_again(file)
        self._held[file] -= 1
        if not self._held[file]:
            del self._held[file]

    async def run(self, changed: Callable[[str, Change], Awaitable[None]]) -> None:
        """Await `changed` for each change, one after another, until the task is cancelled."""
        while True:
            if not self._paths:
                await self._again.wait()
            self._again.clear()
            await self._wait_for_change()
            for file, change in self._differences():
                if self._limit.allows(file):
                    await changed(file, change)
                # Changes by hooks of this event do not count, or they would never stop.
                self._mark_again(file)

    def _mark_again(self, file: str) -> None:
        now = mark(file)
        if now is None:
            self._marks.pop(file, None)
        elif self.watches(file):
            # Only watched files: a mark of any other would look like a deleted file.
            self._marks[file] = now

    def watches(self, file: str) -> bool:
        """Return True if a change of this file is reported."""
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

    async def _wait_for_change(self) -> None:
        if _marks(self._paths) != self._marks:
            # Changed while hooks of another change ran.
            await asyncio.sleep(_WRITE_SECONDS)
            return
        await until_different(existing_directories(self._paths), self._again, self._differs)

    def _differs(self) -> bool:
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
    """Watcher that fires FileChanged and ConfigChange for one agent, until it is closed.

    `engine` is None where the configuration is not watched; `extra` are hooks that a reload keeps.
    """

    def __init__(
        self, agent: Agent, files: FileWatch, engine: Engine | None, extra: Sequence[Hook] = ()
    ) -> None:
        self._agent = agent
        self._files = files
        self._engine = engine
        self._extra = tuple(extra)
        self._count = len(engine.hooks) if engine is not None else 0
        self._home = agent.workplace.env.get("HOME", "")
        self._config: Watch | None = None
        if engine is not None:
            cwd = agent.workplace.cwd
            self._config = Watch(engine, cwd, self._reloaded, None, self._config_changed, self._confirmed)
        #: Files of hooks that the user saved through the workbench, and the digests of what they saved.
        self._saved: dict[str, str] = {}
        #: Grows with every decision about a change of the configuration.
        self.decided = 0
        #: The files could be read when they were loaded last.
        self.readable = True
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, paths: Iterable[str] = ()) -> None:
        self._files.add(paths)
        watches: dict[str, Callable[[], Awaitable[None]]] = {
            "files": lambda: self._files.run(self._file_changed)
        }
        if self._config is not None:
            watches["the configuration"] = self._config.run
        if self._engine is not None:
            watches["the scripts of hooks"] = ScriptWatch(self._engine, self._agent.user).run
        self._tasks += [asyncio.ensure_future(self._guarded(run, what)) for what, run in watches.items()]

    async def _guarded(self, run: Callable[[], Awaitable[None]], what: str) -> None:
        """Report something that cannot be watched, and let the session continue."""
        try:
            await run()
        except Exception as problem:  # noqa: BLE001 - whatever it is, the user must see it
            self._warn(f"{what} can no longer be watched: {type(problem).__name__}: {problem}")

    @property
    def reloads(self) -> bool:
        """True if a change of the configuration takes effect in this session."""
        return self._config is not None

    def user_saved(self, file: str, content: bytes) -> None:
        """Ask nothing about these bytes of a file: the user wrote them in place of what was trusted."""
        self._saved[os.path.realpath(file)] = sha256(content).hexdigest()

    def _is_saved(self, hook: Hook) -> bool:
        """Return True if a hook is in a file that holds exactly what the user saved."""
        file = os.path.realpath(hook.where.file)
        content = read_file_bytes(file, DISK) if file in self._saved else None
        return content is not None and sha256(content).hexdigest() == self._saved[file]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks.clear()

    async def _file_changed(self, file: str, change: Change) -> None:
        outcome = await self._agent.fire(e.FILE_CHANGED, p.FileEdit(file_path=file, event=change))
        self._agent.workplace.watch(outcome.watch_paths)

    async def _config_changed(self, changed: tuple[str, ...]) -> bool:
        """Ask hooks before a change takes effect; one objection rejects all of it."""
        objections: list[str] = []
        for file in changed:
            outcome = await self._agent.fire(
                e.CONFIG_CHANGE, p.ConfigEdit(source=self._source(file), file_path=file)
            )
            if outcome.blocked:
                objections.append(f"{near(file)}: {outcome.reason or 'a hook blocked it'}")
        if objections:
            why = "; ".join(objections)
            self._warn(f"the configuration stays as it was: {why}")
        return not objections

    async def _confirmed(self, changed: tuple[str, ...], loaded: Loaded) -> bool:
        """Ask the user about changes that weaken a guard or add something that runs, whatever changed the file."""
        try:
            return await self._is_agreed(changed, loaded)
        finally:
            self.decided += 1

    async def _is_agreed(self, changed: tuple[str, ...], loaded: Loaded) -> bool:
        if self._engine is None:
            return True
        extra = {id(hook) for hook in self._extra}
        given = {hook.where.file for hook in self._extra}
        found = changes(
            [hook for hook in self._engine.hooks if id(hook) not in extra],
            [hook for hook in loaded.hooks if hook.where.file not in given],
        )
        own = [hook for hook in (*found.gone, *found.new) if self._is_saved(hook)]
        for root, item in self._untrusted([hook for hook in found.new if hook in own]):
            self._trust(root, item)
        found = ConfigChanges(
            tuple(hook for hook in found.gone if hook not in own),
            tuple(hook for hook in found.new if hook not in own),
        )
        if not found:
            return True
        files, confirmer = ", ".join(map(near, changed)), self._agent.user.confirmer
        if confirmer is None:
            what = "; ".join(one_line(line, _WIDEST) for line in found.lines())
            self._warn(f"{files} changed ({what}), but the previous hooks stay active: no user can confirm")
            return False
        # The current files, completely: a yes must not cover anything that was not shown.
        items = self._untrusted(found.new)
        what = "".join(f"\n  {' '.join(printable(line).split())}" for line in found.lines())
        if not await confirmer.confirm(f"{files} changed:{what}"):
            self._warn("the previous hooks stay active; the next start reads the files again")
            return False
        for root, item in items:
            self._trust(root, item)
        return True

    def _untrusted(self, hooks: Sequence[Hook]) -> list[tuple[str, TrustItem]]:
        trust = self._engine.trust if self._engine is not None else None
        if trust is None or trust.trusts_all:
            return []
        waiting = [hook for hook in hooks if not trust.status(hook).runs]
        return [(trust.project.owner(hook.where.file, hook.scope), trust.item(hook)) for hook in waiting]

    def _trust(self, root: str, item: TrustItem) -> None:
        trust = self._engine.trust if self._engine is not None else None
        if trust is None:
            return
        if problem := accept_change(trust, root, [item]):
            self._warn(problem)

    def _source(self, file: str) -> str:
        if ".local." in os.path.basename(file):
            return "local_settings"
        inside = self._home and file.startswith(self._home.rstrip(os.sep) + os.sep)
        project = self._agent.hooks.info.project_dir or self._agent.workplace.cwd
        if inside and not file.startswith(project.rstrip(os.sep) + os.sep):
            return "user_settings"
        return "project_settings"

    def _reloaded(self, reload: Reload) -> None:
        self.readable = reload.active
        self.decided += not reload.active
        if self._engine is not None and reload.active and self._extra:
            given = {hook.where.file for hook in self._extra}
            loaded = (hook for hook in reload.loaded.hooks if hook.where.file not in given)
            self._engine.swap((*loaded, *self._extra))
        for diagnostic in reload.diagnostics:
            self._warn(str(diagnostic))
        if self._engine is not None and reload.active:
            # A guard must not disappear silently.
            before, self._count = self._count, len(self._engine.hooks)
            files = ", ".join(map(near, reload.changed))
            says = f"{files} changed: active hooks: {self._count}, before: {before}"
            self._agent.user.show("notice", says)

    def _warn(self, text: str) -> None:
        self._agent.user.warn(text)


def watched_names(engine: Engine, cwd: str) -> list[str]:
    """Return the files that matchers of FileChanged hooks name: they are watched from the start."""
    found: list[str] = []
    for hook in engine.hooks:
        if hook.event is e.FILE_CHANGED and hook.matcher is not None:
            names = hook.matcher.text.split("|")
            found += [
                os.path.join(cwd, name) for name in names if name and not set(name) & set("*?[](){}^$\\/+")
            ]
    return found
