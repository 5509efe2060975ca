"""Pre-check a shell line: could it write a protected file? Nothing is parsed.

Most lines could not, and in a separate process (`hookline hook`) the parser costs more than everything else
here.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import islice

from hookline.config.protection.protected_paths import (
    CONFIGURES,
    Protected,
    ProtectedWrite,
    is_pattern,
    real_path,
    unquoted,
    whole_path,
)
from hookline.dialects.registry import standard_dialects
from hookline.model.safe_text import translated

_APART = str.maketrans(dict.fromkeys(";|&<>()`=\n\t", " "))
#: Characters that may stand around a path in code: a rough word is tried with these and without.
_FURTHER_APART = str.maketrans(dict.fromkeys(",{}[]:", " "))
#: Characters of a directory that change the meaning of a line if they are put into it.
_UNSAFE = frozenset(" \t\n'\"\\$`;|&<>()*?[]{}~!#")
#: Words of commands that reach into a directory argument, and of those that need none.
_REACHING = frozenset(
    (
        "rm", "cp", "gcp", "mv", "gmv", "srm", "trash", "rsync", "checkout", "restore", "chmod", "gchmod", "chown",
        "gchown", "chgrp", "chcon", "chattr", "chflags", "setfacl",
    )
)  # fmt: skip
_REACHING_HERE = frozenset(("clean", "stash", "-delete", "-exec", "-execdir", "-ok", "-okdir", "xargs"))
_MOST_LOOKS = 600
#: Further words of a line are judged by their text alone, and further patterns not at all.
_MOST_FOLLOWED = 1500
_MOST_PATTERNS = 32
#: Files that are read for one pattern.
_MOST_MATCHES, _MOST_ENTRIES = 200, 20_000
_LONGEST_WORD = 4096
#: A word, or the first part of a path.
_ALONE = r"(?<![^\s;&|(=]){}(?=[\s;&|)/]|$)"


class WritePreCheck:
    """One line, and the paths its words may lead to. `directories` are those it may run in."""

    def __init__(self, line: str, directories: Sequence[str], protected: Protected, worktree: str) -> None:
        self.line = _filled(line, directories[0] if directories else "", protected.home)
        self.directories: list[str] = list(directories)
        self.protected = protected
        self.worktree = worktree
        self._followed = 0
        #: Real paths of the directories of words; most are in the same.
        self._directories: dict[str, str] = {}
        self._known: dict[str, str | None] = {}

    def may_concern(self) -> bool:
        """Check the text cheaply, so that most lines are not parsed at all."""
        plain = unquoted(self.line).casefold()
        if "$'" in self.line or "hookline" in plain or self.protected.mentioned(plain):
            return True
        if any(program in plain for program in switching_programs()):
            return True
        tokens = {each for token in words_of(self.line) for each in _paths_in(token)}
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

    @cached_property
    def pattern(self) -> str | None:
        """A protected path that one of the patterns in the line may match."""
        patterns = [token for token in words_of(self.line) if is_pattern(token)][:_MOST_PATTERNS]
        return next((found for each in patterns if (found := self._pattern(each)) is not None), None)

    def _pattern(self, token: str) -> str | None:
        named = self.protected.named_by(token)
        if named is not None:
            return named
        for directory in self.directories:
            for path in self._there:
                if self.protected.stands_for(token, directory, path):
                    return path
            from hookline.trust.files import fitting_paths  # noqa: PLC0415 few lines have patterns

            # Links may have any name.
            whole = whole_path(token, directory, self.protected.home)
            for path in islice(fitting_paths(whole, _MOST_ENTRIES) or (), _MOST_MATCHES):
                if self.protected.why(real_path(path), self.worktree) is not None:
                    return path
        return None

    @cached_property
    def _there(self) -> list[str]:
        return self.protected.there()

    def name_in(self, text: str, *, patterns: bool = True) -> str | None:
        """Return the part of a text that means a protected file: a name, a pattern, a path that leads to one."""
        found = self.protected.mentioned(text)
        tokens = (token for token in words_of(text) if patterns or not is_pattern(token))
        return found or next((name for token in tokens if (name := self._name(token))), None)

    def hit_in(self, text: str, *, patterns: bool = True) -> ProtectedWrite | None:
        """Return the same with the reason of the protection."""
        name = self.name_in(text, patterns=patterns)
        return (
            ProtectedWrite(name, self.protected.known.get(name) or CONFIGURES) if name is not None else None
        )

    def names_in(self, text: str) -> int:
        """Return how often a text means one."""
        return sum(1 for token in words_of(text) if self._name(token))

    def _name(self, token: str) -> str | None:
        if token not in self._known:
            self._known[token] = self._meaning(token)
        return self._known[token]

    def _meaning(self, token: str) -> str | None:
        found = self.protected.mentioned(token)
        if found is None and is_pattern(token):
            found = self._pattern(token)
        if found is None:
            pairs = ((each, directory) for each in _paths_in(token) for directory in self.directories)
            hits = (self.resolved(*pair, False) for pair in pairs)
            found = next((hit.path for hit in hits if hit is not None), None)
        return found

    def _entered(self, tokens: set[str]) -> Iterator[str]:
        for token in tokens:
            for directory in self.directories:
                path = whole_path(token, directory, self.protected.home)
                if os.path.isdir(path):
                    yield path

    def resolved(self, word: str, directory: str, whole: bool) -> ProtectedWrite | None:
        """Return the word as a path: as it is written, and with links followed. `whole`: with all that a
        directory holds."""
        if not word or len(word) > _LONGEST_WORD or "\0" in word:
            return None
        named = whole_path(word, directory, self.protected.home)
        paths = {named, *self._real_paths(word, named, directory)}
        for path in paths:
            why = self.protected.why(path, self.worktree)
            if why is not None:
                return ProtectedWrite(word, why)
        inner = next(filter(None, map(self.protected.below, paths)), None) if whole else None
        return ProtectedWrite(inner, self.protected.known[inner]) if inner is not None else None

    def _real_paths(self, word: str, named: str, directory: str) -> Iterator[str]:
        self._followed += 1
        if self._followed > _MOST_FOLLOWED:
            return
        yield self._real_path(named)
        if ".." in word:
            # `link/..` is not the directory that the link is in.
            home = self.protected.home
            yield real_path(
                os.path.join(directory or "/", home + word[1:] if word.startswith("~/") else word)
            )

    def _real_path(self, path: str) -> str:
        directory, _, name = path.rpartition("/")
        real = self._directories.get(directory)
        if real is None:
            real = self._directories[directory] = real_path(directory or "/")
        real = f"{real.rstrip('/')}/{name}"
        return real_path(path) if os.path.islink(real) else real


@cache
def switching_programs() -> Mapping[str, tuple[str, ...]]:
    """Return the programs of agents, with expressions for the words that switch their hooks off."""
    return {
        program: listed.switches
        for listed in standard_dialects().values()
        if listed.switches
        for program in listed.programs
    }


def words_of(text: str) -> list[str]:
    """Return the words by a rough rule, for text that the reader leaves to the shell."""
    return translated(unquoted(text), _APART).split()


def _filled(line: str, directory: str, home: str) -> str:
    """Replace well-known variables, and a lone ~, by their directories."""
    for name, alone, value in (("PWD", "~+", directory), ("HOME", "~", home)):
        if (name in line or "~" in line) and value and _UNSAFE.isdisjoint(value):
            known = rf"\$(?:{name}\b|\{{{name}\}})|{_ALONE.format(re.escape(alone))}"
            line = re.sub(known, lambda _: value, line)  # noqa: B023 used at once
    return line


def _paths_in(token: str) -> Iterator[str]:
    """Yield the parts of a word that may be a path: all of it, the text after an option's letter, and parts
    of code."""
    yield token
    if token[:1] == "-" and len(token) > 2:
        yield token[2:]
    parts = translated(token, _FURTHER_APART).split()
    if parts != [token]:
        yield from parts
