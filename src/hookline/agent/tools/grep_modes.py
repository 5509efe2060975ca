"""What Grep tells of the lines it found: the files, the lines, or how many."""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

from msgspec import Struct

from hookline.agent.tools.files import shown

_MOST_CHARACTERS = 30_000
_LONGEST_LINE = 500


class Wanted(Struct, frozen=True):
    """What is to be told; 0 for a limit means that there is none."""

    cwd: str
    limit: int = 0
    numbers: bool = True
    before: int = 0
    after: int = 0


class Told(Struct, frozen=True):
    lines: list[str]
    response: dict[str, Any]
    #: What is missing, in words.
    cut: str | None = None


class Mode(Protocol):
    """Takes one file after another, and says when it has enough."""

    enough: bool

    def take(self, path: str, content: bytes, changed: float, numbers: Iterator[int]) -> None: ...

    def told(self) -> Told: ...


class Files:
    """The paths, last changed first. All files are looked at: any of them may be the newest."""

    def __init__(self, wanted: Wanted) -> None:
        self.enough = False
        self._limit = wanted.limit or None
        self._found: list[tuple[float, str]] = []

    def take(self, path: str, content: bytes, changed: float, numbers: Iterator[int]) -> None:
        del content
        if next(numbers, None) is not None:
            self._found.append((-changed, shown(path)))

    def told(self) -> Told:
        paths = [path for _, path in sorted(self._found)]
        kept = paths[: self._limit]
        head = f"Found {len(paths)} file{'s' * (len(paths) != 1)}" if paths else "No files found"
        cut = f"{len(kept)} of {len(paths)} files are shown" if len(kept) < len(paths) else None
        return Told([head, *kept], {"filenames": kept, "numFiles": len(kept)}, cut)


class Counts:
    """How many lines of each file."""

    def __init__(self, wanted: Wanted) -> None:
        self.enough = False
        self._wanted = wanted
        self._lines: list[str] = []
        self._matches = 0

    def take(self, path: str, content: bytes, changed: float, numbers: Iterator[int]) -> None:
        del content, changed
        count = sum(1 for _ in numbers)
        if not count:
            return
        if self._wanted.limit and len(self._lines) >= self._wanted.limit:
            self.enough = True
            return
        self._matches += count
        self._lines.append(f"{_short(path, self._wanted.cwd)}:{count}")

    def told(self) -> Told:
        response = {
            "filenames": list[str](),
            "numFiles": len(self._lines),
            "numMatches": self._matches,
            "content": "\n".join(self._lines),
        }
        cut = f"it was ended after {len(self._lines)} files" if self.enough else None
        return Told(self._lines or ["No matches found"], response, cut)


class Content:
    """The lines themselves, with as many around them as wanted."""

    def __init__(self, wanted: Wanted) -> None:
        self.enough = False
        self._wanted = wanted
        self._lines: list[str] = []
        self._matches = 0
        self._characters = 0

    def take(self, path: str, content: bytes, changed: float, numbers: Iterator[int]) -> None:
        del changed
        name = _short(path, self._wanted.cwd)
        # No line is shorter than the name before it, so more than these are not looked for.
        most = (_MOST_CHARACTERS - self._characters) // (len(name) + 1) + 1
        if self._wanted.limit:
            most = min(most, self._wanted.limit - self._matches)
        found = list(islice(numbers, most + 1))
        if len(found) > most:
            self.enough = True
            found = found[:most]
        if found:
            self._matches += len(found)
            self._show(name, content.split(b"\n"), found)

    def _show(self, path: str, lines: list[bytes], found: list[int]) -> None:
        hits = frozenset(found)
        last = 0
        for number in self._with_surroundings(found, len(lines)):
            if self._characters > _MOST_CHARACTERS:
                self.enough = True
                return
            if self._lines and last != number - 1 and (self._wanted.before or self._wanted.after):
                self._lines.append("--")
            last = number
            mark = ":" if number in hits else "-"
            place = f"{path}{mark}{number}{mark}" if self._wanted.numbers else f"{path}{mark}"
            line = place + _line(lines[number - 1])
            self._characters += len(line) + 1
            self._lines.append(line)

    def _with_surroundings(self, found: list[int], total: int) -> Iterator[int]:
        told = 0
        for number in found:
            first = max(number - self._wanted.before, told + 1)
            for each in range(first, min(number + self._wanted.after, total) + 1):
                yield each
                told = each

    def told(self) -> Told:
        response = {
            "filenames": list[str](),
            "numFiles": 0,
            "content": "\n".join(self._lines),
            "numLines": len(self._lines),
        }
        cut = f"it was ended after {len(self._lines)} lines" if self.enough else None
        return Told(self._lines or ["No matches found"], response, cut)


#: By output_mode.
MODES: Mapping[str, type[Files | Counts | Content]] = {
    "files_with_matches": Files,
    "content": Content,
    "count": Counts,
}


def _short(path: str, cwd: str) -> str:
    """From the working directory, when it is below."""
    return shown(path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else os.path.abspath(path))


def _line(line: bytes) -> str:
    text = line[: _LONGEST_LINE * 4].decode("utf-8", "replace")
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}[... line cut]"
