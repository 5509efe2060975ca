"""Walk through a directory, bounded and without following links; and match paths by patterns."""

import os
import re
from collections.abc import Callable, Iterator
from typing import Final

from hookline.agent.tools.off_loop import WorkLimit
from hookline.matching.patterns import LONGEST_PATTERN, compile_re2
from hookline.model.errors import PatternError

#: Rarely searched for, and huge.
SKIPPED: Final = frozenset((".git", "node_modules"))
_MOST_ENTRIES: Final = 200_000
_LONGEST_PATH: Final = 1 << 16
_PARTS: Final = (
    r"(?P<deep>(?:(?<=/)|^)\*\*(?:/|$))|(?P<stars>\*+)|(?P<one>\?)|(?P<some>\[[!^]?\]?[^\]/]*\])"
    r"|(?P<escaped>\\.)|(?P<brace>[{},])|(?P<other>.)"
)
_MAGIC: Final = frozenset("*?[{\\")


class DirectoryWalk:
    """One walk. `left_out` says afterwards what was not visited."""

    def __init__(self, root: str, limit: WorkLimit, most: int = _MOST_ENTRIES) -> None:
        self._root = root
        self._work_limit = limit
        self._most = most
        self._left = most
        self._unreadable = 0

    @property
    def left_out(self) -> list[str]:
        """The reasons why it is incomplete; empty when it is not."""
        said = [] if self._cut is None else [self._cut]
        if self._unreadable:
            said.append(f"{self._unreadable} directories could not be read")
        return said

    @property
    def _cut(self) -> str | None:
        if self._left <= 0:
            return f"only the first {self._most} files and directories were visited"
        if self._work_limit.over:
            return "it took too long and was stopped"
        return None

    def files(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield everything but directories, with the path relative to the root."""
        directories = [""]
        while directories and self._cut is None:
            inside = directories.pop()
            below: list[str] = []
            for entry in self._entries(os.path.join(self._root, inside)):
                relative = f"{inside}/{entry.name}" if inside else entry.name
                if _is_directory(entry):
                    if entry.name not in SKIPPED:
                        below.append(relative)
                else:
                    yield relative, entry
            directories += reversed(below)

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left <= 0 or self._work_limit.over:
                        break
                    found.append(entry)
        except OSError:
            self._unreadable += 1
        found.sort(key=lambda entry: entry.name)
        return found


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def path_pattern(pattern: str) -> Callable[[str], bool]:
    """Tests whether a relative path matches `*`, `?`, `[abc]`, `{a,b}` and `**`, which crosses directories.

    A pattern without a slash matches at any depth.

    Raises PatternError.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(pattern[:40] + "...", f"longer than {LONGEST_PATTERN} characters")
    whole = pattern.removeprefix("./") if "/" in pattern else f"**/{pattern}"
    try:
        return compile_re2(f"(?s){_translated(whole)}", True, _LONGEST_PATH).found
    except PatternError as problem:
        raise PatternError(pattern, problem.problem) from None


def split_base(pattern: str) -> tuple[str, str]:
    """Return the directory that all matches are in, and the rest of the pattern, relative to that directory."""
    segments = pattern.split("/")
    plain = 0
    while plain < len(segments) - 1 and not _MAGIC & set(segments[plain]):
        plain += 1
    base = "/".join(segments[:plain]) or ("/" if pattern.startswith("/") and plain else "")
    rest = "/".join(segments[plain:])
    return os.path.expanduser(base), f"./{rest}" if plain or len(segments) > 1 else rest


def _translated(pattern: str) -> str:
    balanced = pattern.count("{") == pattern.count("}")
    written: list[str] = []
    depth = 0
    for token in re.finditer(_PARTS, pattern, re.DOTALL):
        text = token[0]
        if token.lastgroup == "brace":
            piece, depth = _brace(text, depth) if balanced else (re.escape(text), 0)
        else:
            piece = _piece(token.lastgroup, text)
        written.append(piece)
    return "".join(written)


def _brace(text: str, depth: int) -> tuple[str, int]:
    if text == "{":
        return "(?:", depth + 1
    if depth:
        return ("|", depth) if text == "," else (")", depth - 1)
    return re.escape(text), 0


def _piece(kind: str | None, text: str) -> str:
    if kind == "some":
        inner = text[1:-1]
        negated = inner[:1] in {"!", "^"}
        body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner)
        return ("[^/" if negated else "[") + body + "]"
    if kind == "deep":
        return "(?:.*/)?" if text.endswith("/") else ".*"
    plain = {"stars": "[^/]*", "one": "[^/]"}
    return plain.get(kind or "") or re.escape(text[1:] if kind == "escaped" else text)
