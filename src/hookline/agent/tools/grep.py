"""Search the lines of files (Grep)."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from hookline.agent.tools.base import RecordTool, ToolOutput, Workplace
from hookline.agent.tools.files import TooLargeError, kind_of, read_regular, refusal, shown
from hookline.agent.tools.off_loop import WorkLimit, off_loop
from hookline.agent.tools.walk import DirectoryWalk, path_pattern
from hookline.matching.patterns import LONGEST_PATTERN, compile_re2
from hookline.model.errors import PatternError, ToolError
from hookline.model.safe_text import head_and_tail

_MOST_CHARACTERS = 30_000
_LONGEST_LINE = 500
_LARGEST_FILE: Final = 16 << 20
_MOST_BYTES: Final = 512 << 20
#: Bytes searched at a time, so that the time limit is checked between two.
_WINDOW: Final = 1 << 16
_LOOKED_AT: Final = 8192
_ANCHORS: Final = r"(?<!\\)(?:\\\\)*\\[Az]"
_SECONDS = 20.0
_MOST_REPLIED = 40_000
_DESCRIPTION = """\
Searches the lines of files for a regular expression (RE2 syntax: no lookaround, no back-references). output_mode \
files_with_matches gives the paths, last changed first; content gives the lines; count gives how many there are per \
file. Skips .git, node_modules and binary files."""
_Around = Annotated[int, Meta(ge=0, le=100, description="With content: lines before and after each.")]


class GrepArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(min_length=1, description="The regular expression.")]
    path: Annotated[str, Meta(description="A file or directory: the working directory when not given.")] = ""
    glob: Annotated[
        str,
        Meta(description="Only files that match, such as *.py or src/**; with ! in front those that do not."),
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
        int, Meta(ge=0, description="The most files or matches: 250 when not given, 0 for all.")
    ] = 250


class GrepOptions(Struct, frozen=True):
    """Format of results. A limit of 0 means none."""

    cwd: str
    limit: int = 0
    numbers: bool = True
    before: int = 0
    after: int = 0


class GrepOutput(Struct, frozen=True):
    lines: list[str]
    response: dict[str, Any]
    #: A note on missing results, if any.
    cut: str | None = None


def grep_tool() -> RecordTool[GrepArguments]:
    return RecordTool("Grep", _DESCRIPTION, "read", GrepArguments, _run)


async def _run(arguments: GrepArguments, workplace: Workplace) -> ToolOutput:
    root = workplace.path(arguments.path or ".")
    options = GrepOptions(
        workplace.cwd,
        arguments.head_limit,
        arguments.numbers,
        max(arguments.before, arguments.around),
        max(arguments.after, arguments.around),
    )
    output, left_out = await off_loop(lambda limit: _search(arguments, root, options, limit), _SECONDS)
    missing = [output.cut] if output.cut else []
    notes = [f"[the search is incomplete: {each}]" for each in (*missing, *left_out)]
    content = head_and_tail("\n".join(output.lines), _MOST_REPLIED // 2)
    return ToolOutput(
        text="\n".join([content, *notes]),
        response={"mode": arguments.output_mode, **output.response, "truncated": bool(notes)},
    )


def _search(
    arguments: GrepArguments, root: str, options: GrepOptions, limit: WorkLimit
) -> tuple[GrepOutput, list[str]]:
    _refuse_odd(root)
    try:
        search = LineSearch(arguments.pattern, ignore_case=arguments.ignore_case)
        fits = _chosen(arguments.glob)
    except PatternError as problem:
        raise ToolError(f"The pattern cannot be used: {problem}.") from None
    mode = MODES[arguments.output_mode](options)
    files = SearchedFiles(root, fits, limit)
    for path, content, changed in files.files():
        mode.take(path, content, changed, search.lines(content, limit))
        if mode.enough:
            break
    return mode.output(), files.left_out


def _chosen(glob: str) -> Callable[[str], bool]:
    if not glob:
        return lambda _path: True
    fits = path_pattern(glob.removeprefix("!"))
    return (lambda path: not fits(path)) if glob.startswith("!") else fits


def _refuse_odd(root: str) -> None:
    """Refuse anything but a directory or a regular file."""
    try:
        mode = os.stat(root).st_mode
    except (OSError, ValueError) as problem:
        raise refusal(root, problem) from None
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise ToolError(f"{shown(root)} is {kind_of(mode)}; only files and directories can be searched.")


class LineSearch:
    """A compiled expression, searched in linear time and within one line only."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        """Compile the pattern. Raises PatternError."""
        if len(pattern) > LONGEST_PATTERN:
            raise PatternError(pattern[:40] + "...", f"longer than {LONGEST_PATTERN} characters")
        if re.search(_ANCHORS, pattern):
            raise PatternError(pattern, "lines are searched one by one: write ^ and $ for their ends")
        # For its error messages.
        compile_re2(pattern, False)
        # Not at start-up: it takes 13 ms.
        re2: Any = import_module("re2")
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.case_sensitive = not ignore_case
        self._search: Callable[..., Any] = re2.compile(f"(?m){pattern}".encode(), options).search

    def lines(self, content: bytes, limit: WorkLimit) -> Iterator[int]:
        """Yield the numbers of the lines with a match, from 1."""
        at, number = 0, 1
        while at < len(content) and not limit.over:
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
        """Yield the offsets at which lines with a match start."""
        at = 0
        while at < len(window):
            found = self._search(window, at)
            # A match after the last newline is on no line.
            if found is None or (found.start() == len(window) and window.endswith(b"\n")):
                return
            start = window.rfind(b"\n", 0, found.start()) + 1
            stop = window.find(b"\n", found.start())
            stop = len(window) if stop < 0 else stop
            if found.end() <= stop or self._search(window[start:stop]) is not None:
                yield start
            at = stop + 1


class SearchedFiles:
    """Files of a search. `left_out` says afterwards what was not searched."""

    def __init__(self, root: str, fits: Callable[[str], bool], limit: WorkLimit) -> None:
        self._root = root
        self._fits = fits
        self._walk = DirectoryWalk(root, limit)
        self._left = _MOST_BYTES
        self._too_large = 0
        self._unreadable = 0

    def files(self) -> Iterator[tuple[str, bytes, float]]:
        r"""Yield path, content with \n line ends, and modification time of each text file."""
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
                # It is gone, or not a regular file.
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


def _plain(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n") if b"\r" in content else content


class FileNames:
    """Paths, last changed first. All files are searched: any may be the newest."""

    def __init__(self, options: GrepOptions) -> None:
        self.enough = False
        self._limit = options.limit or None
        self._found: list[tuple[float, str]] = []

    def take(self, path: str, content: bytes, changed: float, numbers: Iterator[int]) -> None:
        del content
        if next(numbers, None) is not None:
            self._found.append((-changed, shown(path)))

    def output(self) -> GrepOutput:
        paths = [path for _, path in sorted(self._found)]
        kept = paths[: self._limit]
        head = f"Found {len(paths)} file{'s' * (len(paths) != 1)}" if paths else "No files found"
        cut = f"{len(kept)} of {len(paths)} files are shown" if len(kept) < len(paths) else None
        return GrepOutput([head, *kept], {"filenames": kept, "numFiles": len(kept)}, cut)


class MatchCounts:
    """Number of matching lines per file."""

    def __init__(self, options: GrepOptions) -> None:
        self.enough = False
        self._options = options
        self._lines: list[str] = []
        self._matches = 0

    def take(self, path: str, content: bytes, changed: float, numbers: Iterator[int]) -> None:
        del content, changed
        count = sum(1 for _ in numbers)
        if not count:
            return
        if self._options.limit and len(self._lines) >= self._options.limit:
            self.enough = True
            return
        self._matches += count
        self._lines.append(f"{_short(path, self._options.cwd)}:{count}")

    def output(self) -> GrepOutput:
        response = {
            "filenames": list[str](),
            "numFiles": len(self._lines),
            "numMatches": self._matches,
            "content": "\n".join(self._lines),
        }
        cut = f"it was ended after {len(self._lines)} files" if self.enough else None
        return GrepOutput(self._lines or ["No matches found"], response, cut)


class Content:
    """The lines themselves, with the lines around them."""

    def __init__(self, options: GrepOptions) -> None:
        self.enough = False
        self._options = options
        self._lines: list[str] = []
        self._matches = 0
        self._characters = 0

    def take(self, path: str, content: bytes, changed: float, numbers: Iterator[int]) -> None:
        del changed
        name = _short(path, self._options.cwd)
        # No line is shorter than the name before it, so more would not be shown.
        most = (_MOST_CHARACTERS - self._characters) // (len(name) + 1) + 1
        if self._options.limit:
            most = min(most, self._options.limit - self._matches)
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
            if self._lines and last != number - 1 and (self._options.before or self._options.after):
                self._lines.append("--")
            last = number
            mark = ":" if number in hits else "-"
            place = f"{path}{mark}{number}{mark}" if self._options.numbers else f"{path}{mark}"
            line = place + _line(lines[number - 1])
            self._characters += len(line) + 1
            self._lines.append(line)

    def _with_surroundings(self, found: list[int], total: int) -> Iterator[int]:
        said = 0
        for number in found:
            first = max(number - self._options.before, said + 1)
            for each in range(first, min(number + self._options.after, total) + 1):
                yield each
                said = each

    def output(self) -> GrepOutput:
        response = {
            "filenames": list[str](),
            "numFiles": 0,
            "content": "\n".join(self._lines),
            "numLines": len(self._lines),
        }
        cut = f"it was ended after {len(self._lines)} lines" if self.enough else None
        return GrepOutput(self._lines or ["No matches found"], response, cut)


#: By output_mode.
MODES: Mapping[str, type[FileNames | MatchCounts | Content]] = {
    "files_with_matches": FileNames,
    "content": Content,
    "count": MatchCounts,
}


def _short(path: str, cwd: str) -> str:
    """Return a path relative to the working directory, if it is below."""
    return shown(path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else os.path.abspath(path))


def _line(line: bytes) -> str:
    text = line[: _LONGEST_LINE * 4].decode("utf-8", "replace")
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}[... line cut]"
