"""Tell which files the patterns of a line may match: in the directory itself, else by the names that are guarded."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from hookline.matching.name_patterns import LONGEST_NAME, name_fits
from hookline.matching.patterns import LONGEST_PATH
from hookline.model.safe_text import translated
from hookline.shell import HOLE

_SIGNS = re.compile(r"[*?\[]")
_BETWEEN_WORDS = re.compile(r"[\s;|&<>()`]+")
_SIGN = re.compile(r"\*+|\?|\[[^\]\s/]{1,60}\]|\0+")
#: Settings by which `*` also matches names that begin with a dot.
_DOTTED = re.compile(r"dotglob|GLOBIGNORE|\(D\)|globdots|GLOB_DOTS", re.IGNORECASE)
_QUOTES = str.maketrans("", "", "'\"\\")
_MOST_WORDS = 64
_MOST_NAMES = 5000


@lru_cache(maxsize=8)
def patterns_of(line: str) -> "LinePatterns":
    """Return the patterns of a line, which guards ask for one after another."""
    return LinePatterns(line)


class LinePatterns:
    """The patterns of one line."""

    def __init__(self, line: str) -> None:
        plain = translated(line, _QUOTES) if _SIGNS.search(line) else ""
        self.dotted = _DOTTED.search(line) is not None
        self._words: dict[str, list[str]] = {}
        words = (
            word for word in _BETWEEN_WORDS.split(plain) if len(word) < LONGEST_NAME and is_pattern(word)
        )
        for word in islice(words, _MOST_WORDS):
            self._words.setdefault(_shape(word), []).append(word)

    def written(self, word: str) -> list[str]:
        """Return the patterns that a word of a command stands for, as the line has them."""
        return self._words.get(_shape(word), []) if HOLE in word else []


def _shape(word: str) -> str:
    return re.sub(r"\0+", HOLE, _SIGN.sub(HOLE, word))


def is_pattern(path: str) -> bool:
    return _SIGNS.search(path) is not None


def may_match(pattern: str, path: str, *, dotted: bool) -> bool:
    """Return True if a pattern may match a path, or a directory above it: `~/.s*` may be `~/.ssh`."""
    ours, theirs = pattern.rstrip("/").split("/"), path.split("/")
    return len(ours) <= len(theirs) and all(
        _fits(one, name, dotted) for one, name in zip(ours, theirs, strict=False)
    )


def _fits(pattern: str, name: str, dotted: bool) -> bool:
    if pattern == name:
        return True
    return (dotted or name[:1] != "." or pattern[:1] == ".") and name_fits(name, pattern)


def matched(pattern: str, *, dotted: bool) -> Iterator[str]:
    """Yield the files that an absolute pattern matches, where only its last part is one."""
    directory, _, last = pattern.rpartition("/")
    if is_pattern(directory) or len(pattern) > LONGEST_PATH:
        return
    try:
        with os.scandir(directory or "/") as entries:
            for entry in islice(entries, _MOST_NAMES):
                if _fits(last, entry.name, dotted):
                    yield f"{directory}/{entry.name}"
    except (OSError, ValueError):
        return
