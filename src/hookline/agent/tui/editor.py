"""Let the user edit a text in their own editor, and come back to the screen."""

import asyncio
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal

from hookline.journal.file import state_dir

if TYPE_CHECKING:
    from hookline.agent.tui.screen import Screen

#: Tried in this order if neither VISUAL nor EDITOR is set.
_USUAL = ("nano", "vim", "vi", "emacs")
#: Editors that take `file:line`, with the words that make them wait until the file is closed.
_WITH_COLON: Mapping[str, tuple[str, ...]] = {
    "code": ("--wait", "--goto"),
    "codium": ("--wait", "--goto"),
    "cursor": ("--wait", "--goto"),
    "subl": ("--wait",),
    "zed": ("--wait",),
    "hx": (),
    "helix": (),
}


class EditorError(Exception):
    """An editor that cannot be used; the message says what to do."""


def editor_command(env: Mapping[str, str], file: str, line: int | None) -> list[str]:
    """Return the words that open a file at a line. Raises EditorError."""
    chosen = env.get("VISUAL") or env.get("EDITOR") or next(filter(shutil.which, _USUAL), "")
    try:
        words = shlex.split(chosen)
    except ValueError as problem:
        raise EditorError(f"the editor {chosen!r} cannot be read: {problem}") from None
    if not words:
        raise EditorError("there is no editor: set VISUAL or EDITOR")
    name = os.path.basename(words[0])
    if name in _WITH_COLON:
        return [*words, *_WITH_COLON[name], f"{file}:{line}" if line else file]
    return [*words, *([f"+{line}"] if line else []), file]


async def edit_text(screen: "Screen", name: str, content: bytes, line: int | None = None) -> bytes:
    """Return what the user saved. They edit a copy that only they can read, in the directory of Hookline's state:
    what the agent does to the file meanwhile is not taken for what the user wrote. Raises EditorError.
    """
    state = state_dir(os.environ)
    os.makedirs(state, exist_ok=True)
    directory = tempfile.mkdtemp(prefix="edit-", dir=state)
    try:
        copy = Path(directory, os.path.basename(name) or "text")
        await asyncio.to_thread(copy.write_bytes, content)
        await _run(screen, editor_command(os.environ, str(copy), line))
        return await asyncio.to_thread(copy.read_bytes)
    except OSError as problem:
        raise EditorError(f"{name} cannot be edited: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(directory, ignore_errors=True)


async def _run(screen: "Screen", command: list[str]) -> None:
    def run() -> int:
        try:
            return subprocess.run(command, check=False).returncode
        except OSError as problem:
            raise EditorError(
                f"{command[0]} cannot be started: {problem.strerror}; set VISUAL or EDITOR"
            ) from None

    with screen.away():
        status = await run_in_terminal(run, in_executor=True)
    if status:
        raise EditorError(f"{command[0]} ended with status {status}, so nothing was changed")
