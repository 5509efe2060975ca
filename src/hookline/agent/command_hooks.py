"""Hooks in the front matter of a command or skill: in force from its first use to the end of the session."""

import asyncio
from collections.abc import Sequence
from pathlib import PurePath

from hookline.agent.intake.prepared import Prepared
from hookline.config.embedding import Engine
from hookline.config.loaded import Loaded
from hookline.documents.document import Document
from hookline.engine.sessions import Session
from hookline.model.diagnostics import Path

#: Whose commands and skills stand below which folder. In any other the front matter is written Hookline's way.
_FOLDERS = {".claude": "claude-code"}


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
        whose = next((_FOLDERS[part] for part in PurePath(document.file).parts if part in _FOLDERS), None)
        if whose is None:
            return self._engine.loader.native_document(document)
        return self._engine.loader.beside_settings(whose, self._cwd, document)


def _no_line(path: Path) -> int | None:
    """Front matter is read as a text of its own; the file is all that is known."""
    del path
