"""Add hooks to an agent's session, from settings and from commands."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.prompts.prompt import PreparedPrompt
from hookline.config.dormant import register_front_matter
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.registry import OWN_FORMAT, sharing
from hookline.documents.document import Document
from hookline.engine.session import Session
from hookline.handlers.builtin import BuiltinSpec
from hookline.model import events as e
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.trust.trust import only_tightens


class Additions(Struct, frozen=True, kw_only=True):
    """Additions of settings to every conversation: date and files with each request, the environment once."""

    date: bool = False
    environment: bool = False
    files: tuple[str, ...] = ()


def add_builtin_hooks(additions: Additions, session: Session) -> None:
    for hook in builtin_hooks(session.engine.make_hook, additions):
        session.add_hook(hook)


def builtin_hooks(
    make: Callable[..., Hook], additions: Additions, begins: EventSpec[Any] = e.SESSION_START
) -> Iterator[Hook]:
    """Yield the additions as hooks. The environment is added at `begins`."""
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
    """Serve as a placeholder: the builtin replaces it at once."""
    del payload
    return None


class CommandHooks:
    """Hooks in the front matter of a command or skill, active from its first use to the end of the session."""

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
        said = [str(each) for each in loaded.diagnostics if each.severity != "info"]
        trust = self._engine.trust
        refused = [] if trust is None else [hook for hook in loaded.hooks if not trust.status(hook).runs]
        if any(not only_tightens(hook) for hook in refused):
            said.append(
                f"/{prepared.command}: its hooks do not run: you have not trusted them; run `hookline trust`"
            )
        return tuple(said)

    def _read(self, prepared: PreparedPrompt) -> Loaded:
        lines = prepared.hooks_at.locate
        document = Document(prepared.command_file, {"hooks": prepared.hooks}, (), (), lines)
        # In another agent's directory the front matter is in that agent's format, elsewhere in Hookline's.
        directories = {dialect.directory: dialect.name for dialect in sharing("command_hooks")}
        whose = next(
            (directories[part] for part in PurePath(document.file).parts if part in directories), None
        )
        loader, trust = self._engine.loader, self._engine.trust
        if whose is None:
            loaded = loader.document(document, "session")
        else:
            loaded = loader.beside_settings(whose, self._cwd, document)
        if trust is not None:
            register_front_matter(trust, document, loaded.hooks, loader.dialect(whose or OWN_FORMAT))
        return loaded
