"""A first look at a shell line: whether it may write to a protected file at all, without parsing it.

Most lines do not, and in a process of its own (`hookline hook`) the parser costs more than everything else here.
"""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property

from hookline.permissions.protected import Hit, Protected, is_pattern, real_path, unquoted, whole_path

_APART = str.maketrans(dict.fromkeys(";|&<>()`=\n\t", " "))
#: Words of commands that reach what is in a directory they are given, and of those that need not be given one.
_REACHING = frozenset(
    ("rm", "mv", "chmod", "chown", "chgrp", "rsync", "gmv", "srm", "trash", "checkout", "restore")
)
_REACHING_HERE = frozenset(("clean", "stash", "-delete", "-exec", "-execdir", "-ok", "-okdir", "xargs"))
_MOST_LOOKS = 600
#: Further words of a line are judged by their text alone, and further patterns not at all.
_MOST_FOLLOWED = 1500
_MOST_PATTERNS = 64
_LONGEST_WORD = 4096


class Glance:
    """One line, and where its words may lead."""

    def __init__(self, line: str, directories: Sequence[str], protected: Protected, worktree: str) -> None:
        self.line = line
        self.directories: list[str] = list(directories)
        self.protected = protected
        self.worktree = worktree
        self._followed = 0

    @cached_property
    def tokens(self) -> list[str]:
        """The words by a rough rule, for what the reader leaves to the shell."""
        return unquoted(self.line).translate(_APART).split()

    @cached_property
    def pattern(self) -> str | None:
        """A protected path that one of the patterns in the line may stand for."""
        patterns = [token for token in dict.fromkeys(self.tokens) if is_pattern(token)][:_MOST_PATTERNS]
        if not patterns:
            return None
        named = next((name for each in patterns if (name := self.protected.named_by(each))), None)
        if named is not None:
            return named
        pairs = [(each, directory) for each in patterns for directory in self.directories]
        there = self.protected.there()
        return next(
            (path for path in there for pair in pairs if self.protected.stands_for(*pair, path)), None
        )

    def may_concern(self) -> bool:
        """A cheap look at the text, so that most lines are not parsed at all."""
        plain = unquoted(self.line).casefold()
        if "$'" in self.line or "hookline" in plain or self.protected.mentioned(plain):
            return True
        tokens = {each for token in self.tokens for each in (token, *_attached(token))}
        if self.pattern is not None:
            return True
        moves = not tokens.isdisjoint(("cd", "pushd", "-C"))
        entered = [*self.directories, *(self._entered(tokens) if moves else ())]
        if len(entered) * len(tokens) > _MOST_LOOKS:
            return True
        here = not tokens.isdisjoint(_REACHING_HERE)
        reaches = here or not tokens.isdisjoint(_REACHING)
        tokens |= {"."} if here else set()
        return any(
            self.resolved(token, directory, reaches) is not None for token in tokens for directory in entered
        )

    def _entered(self, tokens: set[str]) -> Iterator[str]:
        for token in tokens:
            for directory in self.directories:
                path = whole_path(token, directory, self.protected.home)
                if os.path.isdir(path):
                    yield path

    def resolved(self, word: str, directory: str, whole: bool) -> Hit | None:
        """The word as a path: as it is written, and where links lead."""
        if not word or len(word) > _LONGEST_WORD or "\0" in word:
            return None
        named = whole_path(word, directory, self.protected.home)
        paths = {named, *self._real_paths(word, named, directory)}
        for path in paths:
            why = self.protected.why(path, self.worktree)
            if why is not None:
                return Hit(word, why)
        inner = next(filter(None, map(self.protected.below, paths)), None) if whole else None
        return Hit(inner, self.protected.known[inner]) if inner is not None else None

    def _real_paths(self, word: str, named: str, directory: str) -> Iterator[str]:
        self._followed += 1
        if self._followed > _MOST_FOLLOWED:
            return
        yield real_path(named)
        if ".." in word:
            # `link/..` is not the directory that the link is in.
            home = self.protected.home
            yield real_path(
                os.path.join(directory or "/", home + word[1:] if word.startswith("~/") else word)
            )


def _attached(token: str) -> Iterator[str]:
    """The value of a short option that follows without a blank."""
    if token[:1] == "-" and len(token) > 2:
        yield token[2:]
