"""What changes around a session while it runs: watched files and the configuration itself."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence

from hookline.agent.outside import Shown
from hookline.agent.session import Agent
from hookline.agent.storms import Storms
from hookline.agent.watching import Change, FileWatch
from hookline.config.embedding import Engine
from hookline.config.watching import Reload, Watch
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.hook import Hook


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
