"""Edit the file of a hook in the user's editor. What they save in place of trusted bytes is trusted."""

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hookline.agent.call_text import near
from hookline.agent.tui.editor import EditorError, edit_text
from hookline.config.install.files import InstallError, replace, snapshot
from hookline.trust.user_edits import UserEdit

if TYPE_CHECKING:
    from hookline.agent.tui.screen import Screen
    from hookline.config.engine import Engine
    from hookline.model.hook import Hook
    from hookline.trust.trust import Trust

#: Seconds until the session has noticed a change of its configuration.
_LONGEST_RELOAD = 10.0
_POLLING = 0.05


class HookFile(Struct, frozen=True):
    """A file to edit, and the line that the hook is at."""

    path: str
    line: int | None = None

    @property
    def label(self) -> str:
        return near(f"{self.path}:{self.line}" if self.line else self.path)


class Edited(Struct, frozen=True):
    """The end of an edit: what to tell the user, and True if the hooks may differ now."""

    says: str
    changed: bool = False


def entry_of(hook: "Hook") -> HookFile | None:
    """Return where a hook is configured; None for one that is in no file."""
    return HookFile(hook.where.file, hook.where.line) if hook.where.file else None


def script_of(engine: "Engine", hook: "Hook") -> HookFile | None:
    """Return the script that a hook runs, if it runs exactly one. Reads files."""
    trust = engine.trust
    if trust is None or hook.kind != "command":
        return None
    paths = [path for path in map(trust.project.path_of, trust.item(hook).files) if os.path.isfile(path)]
    return HookFile(paths[0]) if len(paths) == 1 else None


async def edit(screen: "Screen", hook: "Hook", file: HookFile) -> Edited:
    """Open the file, and put what the user saved in its place."""
    engine, ready = screen.channel.engine, screen.channel.ready
    if engine is None or ready is None:
        return Edited("there is no session yet")
    trust, hooks = engine.trust, (*engine.hooks, hook)
    try:
        before = await asyncio.to_thread(snapshot, file.path)
        known = await _edit_of(screen, trust, hooks, file.path) if trust is not None else None
        saved = await edit_text(screen, file.path, before.content or b"", file.line)
        if saved == before.content:
            return Edited(f"{file.label}: nothing changed")
        own = known is None or known.was_trusted
        configures = await asyncio.to_thread(_configures, hooks, before.real)
        decided = ready.watch.decided
        if configures and own:
            ready.watch.user_saved(before.real, saved)
        await asyncio.to_thread(replace, before, saved)
    except (EditorError, InstallError) as problem:
        return Edited(str(problem))
    if configures:
        return await _reloaded(screen, file, decided, own=own)
    problem = await _accepted(screen, known, saved) if known is not None else ""
    problem = problem if own else "it was not trusted before, so you are asked about it"
    return Edited(f"{file.label} saved{f'; {problem}' if problem else ''}", changed=True)


def _configures(hooks: "Sequence[Hook]", real: str) -> bool:
    return any(os.path.realpath(hook.where.file) == real for hook in hooks if hook.where.file)


async def _reloaded(screen: "Screen", file: HookFile, decided: int, *, own: bool) -> Edited:
    """Wait until the session uses the configuration, or the user was asked about it."""
    ready = screen.channel.ready
    if ready is None or not ready.watch.reloads:
        return Edited(
            f"{file.label} saved; this session began with other files, so it takes effect in the next one"
        )
    waited = 0.0
    while ready.watch.decided == decided:
        if screen.dialog.open is None and not screen.channel.asks:
            waited += _POLLING
        if waited > _LONGEST_RELOAD:
            return Edited(f"{file.label} saved, but the session has not read it: it may have mistakes")
        await asyncio.sleep(_POLLING)
    if not ready.watch.readable:
        return Edited(f"{file.label} saved, but it has mistakes: the previous hooks stay active")
    # It was decided just before the hooks are swapped.
    await asyncio.sleep(_POLLING)
    return Edited(f"{file.label} saved{'' if own else ' (it was not trusted before)'}", changed=True)


async def _edit_of(screen: "Screen", trust: "Trust", hooks: "Sequence[Hook]", file: str) -> UserEdit:
    """Find out what is trusted now, on the agent's loop, which uses the same trust."""

    async def look() -> UserEdit:
        return UserEdit(trust, hooks, file)

    return await screen.channel.run(look)


async def _accepted(screen: "Screen", known: UserEdit, saved: bytes) -> str:
    async def accept() -> str:
        return known.accept(saved)

    return await screen.channel.run(accept)
