"""What the agent's own settings add to every conversation, as hooks like any other."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from msgspec.structs import replace

from hookline.agent.prompts.prompt import Prepared
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


def add_builtin_hooks(
    session: Session, *, date: bool = False, environment: bool = False, files: Sequence[str] = ()
) -> None:
    """The date and prompt files with each request, the environment once per session."""
    for hook in builtin_hooks(session.engine.make_hook, date=date, environment=environment, files=files):
        session.add_hook(hook)


def builtin_hooks(
    make: Callable[..., Hook],
    *,
    date: bool = False,
    environment: bool = False,
    files: Sequence[str] = (),
    begins: EventSpec[Any] = e.SESSION_START,
) -> Iterator[Hook]:
    """The same as hooks; `begins` is where the environment is told."""
    for event, name, args in _wanted(begins, date=date, environment=environment, files=files):
        hook = make(event, _unused, name=name, scope="session")
        yield replace(hook, kind="builtin", spec=BuiltinSpec(name, args))


def _wanted(
    begins: EventSpec[Any], *, date: bool, environment: bool, files: Sequence[str]
) -> Iterator[tuple[EventSpec[Any], str, tuple[str, ...]]]:
    if date:
        yield e.PRE_MODEL_CALL, "add_date", ()
    if environment:
        yield begins, "add_environment_info", ()
    if files:
        yield e.PRE_MODEL_CALL, "add_prompt_files", tuple(files)


def _unused(payload: object) -> Outcome | None:
    """Its place is taken by the builtin at once."""
    del payload
    return None


class CommandHooks:
    """Adds such hooks to one session, each file's once."""

    def __init__(self, engine: Engine, session: Session, cwd: str) -> None:
        self._engine = engine
        self._session = session
        self._cwd = cwd

    async def join(self, prepared: Prepared) -> Sequence[str]:
        """What is wrong with them, in words; the others count from now on."""
        file = prepared.command_file
        if not prepared.hooks or any(hook.where.file == file for hook in self._session.hooks):
            return ()
        loaded = await asyncio.to_thread(self._read, prepared)
        for hook in loaded.hooks:
            self._session.add_hook(hook)
        return tuple(str(each) for each in loaded.diagnostics if each.severity != "info")

    def _read(self, prepared: Prepared) -> Loaded:
        document = Document(prepared.command_file, {"hooks": prepared.hooks}, (), (), _no_line)
        # In the folder of such an agent the front matter is written its way, in any other Hookline's.
        folders = {dialect.folder: dialect.name for dialect in sharing("command_hooks")}
        whose = next((folders[part] for part in PurePath(document.file).parts if part in folders), None)
        if whose is None:
            return self._engine.loader.document(document)
        return self._engine.loader.beside_settings(whose, self._cwd, document)


def _no_line(path: Path) -> int | None:
    """Front matter is read as a text of its own; the file is all that is known."""
    del path


class ProjectTrust:
    """The word of the user about one project. Nothing inside the project can give it."""

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

        Some agents hold them back only where somebody can be asked: without a terminal a project is trusted there.
        """
        if name not in self._scopes:
            dialect = dialect_named(name)
            asks = dialect is not None and (self._terminal or not dialect.trust_needs_terminal)
            self._scopes[name] = dialect.trust_scopes if dialect is not None and asks else frozenset()
        return self._scopes[name]

    def notice(self, hooks: Iterable[Hook]) -> str | None:
        """What the user must know before wondering why a hook is silent."""
        refused = [hook for hook in hooks if not self.admit(hook).admitted]
        if not refused:
            return None
        files = ", ".join(sorted({hook.where.file for hook in refused}))
        return (
            f"{len(refused)} hooks do not run, because this project is not trusted: {files}. "
            "Look at them; then say --trust, or add the project to `trusted` of [agent] in your own settings"
        )


def is_trusted(root: str, trusted: Iterable[str]) -> bool:
    """Whether the project is one of these directories, or lies in one."""
    real = os.path.realpath(root)
    homes = [os.path.realpath(os.path.expanduser(each)) for each in trusted]
    return any(real == home or real.startswith(home.rstrip(os.sep) + os.sep) for home in homes)
