"""Hooks that an agent adds to its session, from settings and from commands, and whether a project's hooks may run."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.prompts.prompt import PreparedPrompt
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.registry import dialect_named, sharing
from hookline.documents.document import Document
from hookline.engine.run_hook import ADMITTED, Admission
from hookline.engine.session import Session
from hookline.handlers.builtin import BuiltinSpec
from hookline.model import events as e
from hookline.model.diagnostics import Path
from hookline.model.events import EventSpec
from hookline.model.hook import Hook, Scope
from hookline.model.outcome import Outcome


class Additions(Struct, frozen=True, kw_only=True):
    """What settings add to every conversation: date and files with each request, the environment once."""

    date: bool = False
    environment: bool = False
    files: tuple[str, ...] = ()


def add_builtin_hooks(additions: Additions, session: Session) -> None:
    for hook in builtin_hooks(session.engine.make_hook, additions):
        session.add_hook(hook)


def builtin_hooks(
    make: Callable[..., Hook], additions: Additions, begins: EventSpec[Any] = e.SESSION_START
) -> Iterator[Hook]:
    """The additions as hooks. The environment is added at `begins`."""
    for event, name, args in _wanted(additions, begins):
        hook = make(event, _unused, name=name, scope="session")
        yield replace(hook, kind="builtin", spec=BuiltinSpec(name, args))


def _wanted(
    additions: Additions, begins: EventSpec[Any]
) -> Iterator[tuple[EventSpec[Any], str, tuple[str, ...]]]:
    if additions.date:
        yield e.PRE_MODEL_CALL, "add_date", ()
    if additions.environment:
        yield begins, "add_environment_info", ()
    if additions.files:
        yield e.PRE_MODEL_CALL, "add_prompt_files", additions.files


def _unused(payload: object) -> Outcome | None:
    """A placeholder: the builtin takes its place at once."""
    del payload
    return None


class CommandHooks:
    """Adds hooks in the front matter of a command or skill: from its first use to the end of the session."""

    def __init__(self, engine: Engine, session: Session, cwd: str) -> None:
        self._engine = engine
        self._session = session
        self._cwd = cwd

    async def join(self, prepared: PreparedPrompt) -> Sequence[str]:
        """Add the hooks of the prompt's command. Returns the problems found."""
        file = prepared.command_file
        if not prepared.hooks or any(hook.where.file == file for hook in self._session.hooks):
            return ()
        loaded = await asyncio.to_thread(self._read, prepared)
        for hook in loaded.hooks:
            self._session.add_hook(hook)
        return tuple(str(each) for each in loaded.diagnostics if each.severity != "info")

    def _read(self, prepared: PreparedPrompt) -> Loaded:
        document = Document(prepared.command_file, {"hooks": prepared.hooks}, (), (), _no_line)
        # In another agent's folder the front matter is in that agent's format, elsewhere in Hookline's.
        folders = {dialect.folder: dialect.name for dialect in sharing("command_hooks")}
        whose = next((folders[part] for part in PurePath(document.file).parts if part in folders), None)
        if whose is None:
            return self._engine.loader.document(document)
        return self._engine.loader.beside_settings(whose, self._cwd, document)


def _no_line(path: Path) -> int | None:
    """Front matter is read as a text of its own, so only the file is known."""
    del path


class ProjectTrust:
    """Whether the user trusts one project. Nothing inside the project can decide it."""

    def __init__(self, root: str, *, trusted: bool, terminal: bool) -> None:
        self._root = root
        self._trusted = trusted
        self._terminal = terminal
        self._scopes: dict[str, frozenset[Scope]] = {}

    def admit(self, hook: Hook) -> Admission:
        if self._trusted or hook.scope not in self._held_back(hook.dialect):
            return ADMITTED
        return Admission(admitted=False, reason=f"{self._root} is not trusted")

    def _held_back(self, name: str) -> frozenset[Scope]:
        """The scopes whose hooks wait for the user's trust.

        Some agents hold them back only at a terminal, where the user can be asked.
        """
        if name not in self._scopes:
            dialect = dialect_named(name)
            asks = dialect is not None and (self._terminal or not dialect.trust_needs_terminal)
            self._scopes[name] = dialect.trust_scopes if dialect is not None and asks else frozenset()
        return self._scopes[name]

    def notice(self, hooks: Iterable[Hook]) -> str | None:
        """What the user is told about hooks that do not run."""
        refused = [hook for hook in hooks if not self.admit(hook).admitted]
        if not refused:
            return None
        files = ", ".join(sorted({hook.where.file for hook in refused}))
        return (
            f"{len(refused)} hooks do not run, because this project is not trusted: {files}. "
            "Read them; then pass --trust, or add the project to `trusted` of [agent] in your own settings"
        )


def is_trusted(root: str, trusted: Iterable[str]) -> bool:
    """Whether the project is one of these directories or below one."""
    real = os.path.realpath(root)
    homes = [os.path.realpath(os.path.expanduser(each)) for each in trusted]
    return any(real == home or real.startswith(home.rstrip(os.sep) + os.sep) for home in homes)
