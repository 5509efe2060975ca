"""Complete `/commands`, their arguments, and `@files` without blocking: files are read on another thread."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hookline.agent.prompts.local_commands import LOCAL_COMMANDS
from hookline.model.safe_text import one_line, printable

_MOST_FILES = 20_000
_MOST_SHOWN = 40
#: Seconds before the project's files are listed again.
_FRESH = 5.0
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})


class PromptCompleter(Completer):
    """Completer.

    `commands` returns the project's commands with descriptions; `arguments` returns what a command
    accepts, with descriptions. Both read files, so they are called on another thread.
    """

    def __init__(
        self,
        cwd: Callable[[], str],
        commands: Callable[[], Mapping[str, str]],
        arguments: Callable[[str], Mapping[str, str]],
    ) -> None:
        self._cwd = cwd
        self._commands = commands
        self._arguments = arguments
        self._files: list[str] = []
        self._listed: tuple[str, float] = ("", 0.0)
        self._known: Mapping[str, str] | None = None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        del document, complete_event
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        del complete_event
        before = document.text_before_cursor
        name, space, begun = before.removeprefix("/").partition(" ")
        if before.startswith("/") and "\n" not in before and not space:
            found = await self._slash(name)
        elif (word := _mention(before)) is not None:
            found = await self._mentions(word)
        elif before.startswith("/") and name in LOCAL_COMMANDS:
            found = await self._given(name, begun)
        else:
            return
        for completion in found:
            yield completion

    async def _slash(self, begun: str) -> list[Completion]:
        if self._known is None:
            self._known = await asyncio.to_thread(self._commands)
        rows = {name: row.summary for name, row in LOCAL_COMMANDS.items()}
        known = {**{name: says for name, says in self._known.items() if name not in rows}, **rows}
        return [
            Completion(f"/{name}", -len(begun) - 1, display_meta=one_line(says, 100))
            for name, says in sorted(known.items(), key=lambda item: item[0])
            if name.casefold().startswith(begun.casefold())
        ]

    async def _given(self, name: str, begun: str) -> list[Completion]:
        """Find arguments by their beginning, or by words of their descriptions."""
        wanted = begun.casefold()
        return [
            Completion(each, -len(begun), display_meta=one_line(says, 100))
            for each, says in (await asyncio.to_thread(self._arguments, name)).items()
            if each != begun and (each.casefold().startswith(wanted) or wanted in says.casefold())
        ]

    async def _mentions(self, begun: str) -> list[Completion]:
        cwd = self._cwd()
        if self._listed[0] != cwd or time.monotonic() - self._listed[1] > _FRESH:
            self._files = await asyncio.to_thread(lambda: list(_walk(cwd)))
            self._listed = (cwd, time.monotonic())
        wanted = begun.casefold()
        found = sorted((_rank(file, wanted), file) for file in self._files if wanted in file.casefold())
        return [
            Completion((f'@"{file}"' if " " in file else f"@{file}"), -len(begun) - 1)
            for _order, file in found[:_MOST_SHOWN]
        ]


def _mention(before: str) -> str | None:
    """Return the word after an @ that is being typed."""
    word = before.replace("\n", " ").rpartition(" ")[2]
    return word[1:] if word.startswith("@") and not word.startswith('@"') else None


def _rank(file: str, wanted: str) -> tuple[int, int, str]:
    name = os.path.basename(file.rstrip("/")).casefold()
    first = 0 if file.casefold().startswith(wanted) else 1 if name.startswith(wanted) else 2
    return first, file.count("/"), file


def _walk(top: str) -> Iterator[str]:
    """Yield files below a directory, nearest first; names that could steer a terminal are left out."""
    folders = [top]
    count = 0
    while folders and count < _MOST_FILES:
        below: list[str] = []
        for directory in folders:
            for name, is_folder in _entries(directory):
                count += 1
                path = os.path.join(directory, name)
                relative = os.path.relpath(path, top)
                if is_folder:
                    below.append(path)
                    relative += "/"
                yield relative
                if count >= _MOST_FILES:
                    return
        folders = below


def _entries(directory: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(directory) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return []
    return [
        (name, is_folder)
        for name, is_folder in sorted(found)
        if not name.startswith(".") and printable(name) == name and '"' not in name
        and not (is_folder and name in _SKIPPED)
    ]  # fmt: skip
