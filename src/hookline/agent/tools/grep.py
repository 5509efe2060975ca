"""Grep: find lines in files."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, Final, Literal, Protocol

from msgspec import Meta, Struct, field

from hookline.agent.tools.base import RecordTool, ToolError, ToolReply, Workplace
from hookline.agent.tools.files import TooLargeError, kind_of, read_regular, refusal, shown
from hookline.agent.tools.off_loop import Patience, off_loop
from hookline.agent.tools.walk import Walk, path_pattern
from hookline.matching.patterns import LONGEST_PATTERN, compile_re2
from hookline.model.errors import PatternError
from hookline.model.safe_text import head_and_tail

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


_LARGEST_FILE: Final = 16 << 20
_MOST_BYTES: Final = 512 << 20
#: Bytes handed to the expression at a time, so that the clock is looked at between two.
_WINDOW: Final = 1 << 16
_LOOKED_AT: Final = 8192
_ANCHORS: Final = r"(?<!\\)(?:\\\\)*\\[Az]"


class Needle:
    """A compiled expression: linear time whatever it is. It is found within one line only."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        """Raises PatternError."""
        if len(pattern) > LONGEST_PATTERN:
            raise PatternError(pattern[:40] + "...", f"longer than {LONGEST_PATTERN} characters")
        if re.search(_ANCHORS, pattern):
            raise PatternError(pattern, "lines are searched one by one: write ^ and $ for their ends")
        # For its objections, which are sentences.
        compile_re2(pattern, False)
        # Not where the agent starts: 13 ms.
        re2: Any = import_module("re2")
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.case_sensitive = not ignore_case
        self._search: Callable[..., Any] = re2.compile(f"(?m){pattern}".encode(), options).search

    def lines(self, content: bytes, patience: Patience) -> Iterator[int]:
        """Numbers of the lines that hold it, from 1."""
        at, number = 0, 1
        while at < len(content) and not patience.over:
            end = content.rfind(b"\n", at, at + _WINDOW) + 1 or content.find(b"\n", at + _WINDOW) + 1
            window = content[at : end or len(content)]
            counted = 0
            for start in self._in_window(window):
                number += window.count(b"\n", counted, start)
                counted = start
                yield number
            number += window.count(b"\n", counted)
            at += len(window)

    def _in_window(self, window: bytes) -> Iterator[int]:
        """Where the lines that hold it start."""
        at = 0
        while at < len(window):
            found = self._search(window, at)
            # What is found behind the last newline is on no line.
            if found is None or (found.start() == len(window) and window.endswith(b"\n")):
                return
            start = window.rfind(b"\n", 0, found.start()) + 1
            stop = window.find(b"\n", found.start())
            stop = len(window) if stop < 0 else stop
            if found.end() <= stop or self._search(window[start:stop]) is not None:
                yield start
            at = stop + 1


def _plain(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n") if b"\r" in content else content


class Haystack:
    """The files a search goes through. Afterwards it says what was left out."""

    def __init__(self, root: str, fits: Callable[[str], bool], patience: Patience) -> None:
        self._root = root
        self._fits = fits
        self._walk = Walk(root, patience)
        self._left = _MOST_BYTES
        self._too_large = 0
        self._unreadable = 0

    def files(self) -> Iterator[tuple[str, bytes, float]]:
        """The path, the content with plain line ends, and the time of change of each text file."""
        for path in self._paths():
            try:
                file = read_regular(path, _LARGEST_FILE, follow=path == self._root)
            except TooLargeError:
                self._too_large += 1
                continue
            except PermissionError:
                self._unreadable += 1
                continue
            except OSError:
                # It is gone, or no file with content.
                continue
            self._left -= len(file.content)
            if self._left < 0:
                return
            if b"\0" not in file.content[:_LOOKED_AT]:
                yield path, _plain(file.content), file.facts.st_mtime

    def _paths(self) -> Iterator[str]:
        if not os.path.isdir(self._root):
            yield self._root
            return
        for relative, entry in self._walk.files():
            # Links are not followed: they can lead anywhere.
            if not entry.is_symlink() and self._fits(relative):
                yield os.path.join(self._root, relative)

    @property
    def left_out(self) -> list[str]:
        said = self._walk.left_out
        if self._left < 0:
            said.append(f"it was ended after {_MOST_BYTES >> 20} MiB")
        if self._too_large:
            said.append(f"{self._too_large} files of more than {_LARGEST_FILE >> 20} MiB were not searched")
        if self._unreadable:
            said.append(f"{self._unreadable} files could not be read")
        return said


_SECONDS = 20.0
_MOST_CHARACTERS_grep = 40_000

_DESCRIPTION = """\
Searches the lines of files for a regular expression (RE2 syntax: no lookaround, no back-references). output_mode \
files_with_matches gives the paths, last changed first; content gives the lines; count gives how many there are per \
file. Does not look into .git, node_modules and binary files."""

_Around = Annotated[int, Meta(ge=0, le=100, description="With content: so many lines around each.")]


class GrepArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(min_length=1, description="The regular expression.")]
    path: Annotated[str, Meta(description="A file or folder: the working directory when not given.")] = ""
    glob: Annotated[
        str, Meta(description="Only files that fit, such as *.py or src/**; after a ! those that do not.")
    ] = ""
    output_mode: Literal["files_with_matches", "content", "count"] = "files_with_matches"
    ignore_case: Annotated[bool, Meta(description="Ignore case.")] = field(default=False, name="-i")
    numbers: Annotated[bool, Meta(description="With content: number the lines.")] = field(
        default=True, name="-n"
    )
    after: Annotated[int, Meta(ge=0, le=100, description="With content: lines after each.")] = field(
        default=0, name="-A"
    )
    before: Annotated[int, Meta(ge=0, le=100, description="With content: lines before each.")] = field(
        default=0, name="-B"
    )
    around: _Around = field(default=0, name="-C")
    head_limit: Annotated[
        int, Meta(ge=0, description="At most so many files or matches: 250 when not given, 0 for all.")
    ] = 250


def grep_tool() -> RecordTool[GrepArguments]:
    return RecordTool("Grep", _DESCRIPTION, "read", GrepArguments, _run)


async def _run(arguments: GrepArguments, place: Workplace) -> ToolReply:
    root = place.path(arguments.path or ".")
    wanted = Wanted(
        place.cwd,
        arguments.head_limit,
        arguments.numbers,
        max(arguments.before, arguments.around),
        max(arguments.after, arguments.around),
    )
    told, left_out = await off_loop(lambda patience: _search(arguments, root, wanted, patience), _SECONDS)
    missing = [told.cut] if told.cut else []
    notes = [f"[the search is not whole: {each}]" for each in (*missing, *left_out)]
    content = head_and_tail("\n".join(told.lines), _MOST_CHARACTERS_grep // 2)
    return ToolReply(
        text="\n".join([content, *notes]),
        response={"mode": arguments.output_mode, **told.response, "truncated": bool(notes)},
    )


def _search(
    arguments: GrepArguments, root: str, wanted: Wanted, patience: Patience
) -> tuple[Told, list[str]]:
    _refuse_odd(root)
    try:
        needle = Needle(arguments.pattern, ignore_case=arguments.ignore_case)
        fits = _chosen(arguments.glob)
    except PatternError as problem:
        raise ToolError(f"That cannot be searched for: {problem}.") from None
    mode = MODES[arguments.output_mode](wanted)
    haystack = Haystack(root, fits, patience)
    for path, content, changed in haystack.files():
        mode.take(path, content, changed, needle.lines(content, patience))
        if mode.enough:
            break
    return mode.told(), haystack.left_out


def _chosen(glob: str) -> Callable[[str], bool]:
    if not glob:
        return lambda _path: True
    fits = path_pattern(glob.removeprefix("!"))
    return (lambda path: not fits(path)) if glob.startswith("!") else fits


def _refuse_odd(root: str) -> None:
    """Only a folder or a regular file can be searched."""
    try:
        mode = os.stat(root).st_mode
    except (OSError, ValueError) as problem:
        raise refusal(root, problem) from None
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise ToolError(f"{shown(root)} is {kind_of(mode)}; only files and folders can be searched.")
