"""Going through a folder and all below it, in order, without following links, and never for ever."""

import os
from collections.abc import Iterator
from typing import Final

from hookline.agent.tools.off_loop import Patience

#: What people rarely look for, and what is huge.
SKIPPED: Final = frozenset((".git", "node_modules"))

_MOST_ENTRIES: Final = 200_000


class Walk:
    """One walk. Afterwards it says what it did not see."""

    def __init__(self, root: str, patience: Patience, most: int = _MOST_ENTRIES) -> None:
        self._root = root
        self._patience = patience
        self._most = most
        self._left = most
        self._unreadable = 0

    @property
    def left_out(self) -> list[str]:
        """Why it is not whole, in words; nothing when it is."""
        said = [] if self._cut is None else [self._cut]
        if self._unreadable:
            said.append(f"{self._unreadable} folders could not be read")
        return said

    @property
    def _cut(self) -> str | None:
        if self._left <= 0:
            return f"only the first {self._most} files and folders were looked at"
        if self._patience.over:
            return "it took too long and was ended"
        return None

    def files(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Everything that is no folder, with its path from the root of the walk."""
        folders = [""]
        while folders and self._cut is None:
            inside = folders.pop()
            below: list[str] = []
            for entry in self._entries(os.path.join(self._root, inside)):
                relative = f"{inside}/{entry.name}" if inside else entry.name
                if _is_folder(entry):
                    if entry.name not in SKIPPED:
                        below.append(relative)
                else:
                    yield relative, entry
            folders += reversed(below)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left <= 0 or self._patience.over:
                        break
                    found.append(entry)
        except OSError:
            self._unreadable += 1
        found.sort(key=lambda entry: entry.name)
        return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
