"""Which protected file a shell line writes to, where the line shows it.

Only the line is judged: what a script does, or a path that a program puts together, cannot be seen here. In doubt
(what the shell reader could not read, words that only the shell knows) a protected name anywhere in the line counts.
"""

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

from hookline.matching.shell import HOLE, ShellReader, ShellReading, base_name
from hookline.permissions.protected import CONFIGURES, MAGIC, Hit, Protected, is_below, whole_path
from hookline.permissions.shell_programs import (
    Written,
    changes_hookline,
    found_by_find,
    is_reader,
    runs_standard_input,
    written_by,
)

_CHANGES_TRUST = "it changes which hooks, rules or servers are in force or trusted"
_QUOTES = re.compile(r"[\"'\\]")
_TOKEN = re.compile(r"[^\s;|&<>()\"'`=]+")
#: The output of one command becomes words of another.
_FLOWS = re.compile(r"\$\(|`|<\(|\b(?:xargs|parallel|read|mapfile|readarray|exec|execdir)\b")
#: Words of commands that reach what is in a directory they are given, and of those that need not be given one.
_REACHING = frozenset(
    ("rm", "mv", "chmod", "chown", "chgrp", "rsync", "gmv", "srm", "trash", "checkout", "restore")
)
_REACHING_HERE = frozenset(("clean", "stash", "-delete", "-exec", "-execdir", "-ok", "-okdir", "xargs"))
_MOST_DIRECTORIES = 16
_MOST_LOOKS = 600
_LONGEST_WORD = 4096


def protected_write(
    line: str, directories: Sequence[str], protected: Protected, reader: ShellReader, worktree: str = ""
) -> Hit | None:
    """The first protected file that the line shows to be written; None where it shows none.

    `directories` are those the line may run in.
    """
    seen = _Line(line, directories, protected, worktree)
    return seen.written(reader.read(line)) if seen.may_concern() else None


class _Line:
    """One line, and where its words may lead."""

    def __init__(self, line: str, directories: Sequence[str], protected: Protected, worktree: str) -> None:
        self._line = line
        self._directories = list(directories)
        self._protected = protected
        self._worktree = worktree

    @cached_property
    def _tokens(self) -> list[str]:
        """The words by a rough rule, for what the reader leaves to the shell."""
        return _TOKEN.findall(_QUOTES.sub("", self._line))

    @cached_property
    def _pattern(self) -> str | None:
        """A protected path that one of the patterns in the line may stand for."""
        patterns = [token for token in dict.fromkeys(self._tokens) if MAGIC.search(token)]
        if not patterns:
            return None
        named = next((name for each in patterns if (name := self._protected.named_by(each))), None)
        if named is not None:
            return named
        pairs = [(each, directory) for each in patterns for directory in self._directories]
        there = self._protected.there()
        return next(
            (path for path in there for pair in pairs if self._protected.stands_for(*pair, path)), None
        )

    def may_concern(self) -> bool:
        """A cheap look at the text, so that most lines are not parsed at all."""
        plain = _QUOTES.sub("", self._line).casefold()
        if "$'" in self._line or "hookline" in plain or self._protected.mentioned(plain):
            return True
        tokens = set(self._tokens)
        if self._pattern is not None:
            return True
        moves = not tokens.isdisjoint(("cd", "pushd", "-C"))
        entered = [*self._directories, *(self._entered(tokens) if moves else ())]
        if len(entered) * len(tokens) > _MOST_LOOKS:
            return True
        here = not tokens.isdisjoint(_REACHING_HERE)
        reaches = here or not tokens.isdisjoint(_REACHING)
        tokens |= {"."} if here else set()
        return any(
            self._resolved(token, directory, reaches) is not None for token in tokens for directory in entered
        )

    def _entered(self, tokens: set[str]) -> Iterator[str]:
        for token in tokens:
            for directory in self._directories:
                path = whole_path(token, directory, self._protected.home)
                if os.path.isdir(path):
                    yield path

    def written(self, reading: ShellReading) -> Hit | None:
        if reading.uncertain is not None and (name := self._mentioned()):
            return self._named(name)
        self._follow_cd(reading)
        for file in reading.writes:
            hit = self._hit(file) or (self._hidden(reading) if HOLE in file else None)
            if hit is not None:
                return hit
        for command in reading.commands:
            hit = self._by_command(command.words, reading)
            if hit is not None:
                return hit
        return None

    def _by_command(self, words: Sequence[str], reading: ShellReading) -> Hit | None:
        shown = changes_hookline(words)
        if shown is not None:
            return Hit(shown, _CHANGES_TRUST, "Running")
        if runs_standard_input(words) and (name := self._mentioned()):
            return self._named(name)
        if base_name(words[0]) in {"find", "gfind"}:
            return self._by_find(words[1:], reading) or self._by_words(written_by(words), reading)
        return self._by_words(written_by(words), reading)

    def _by_words(self, written: Written, reading: ShellReading) -> Hit | None:
        for word in (one for each in written.words for one in _paths_in(each)):
            hit = self._hit(word, written.whole)
            if hit is not None:
                return hit
        if any(HOLE in word for word in written.words):
            hit = self._hidden(reading)
            if hit is not None:
                return hit
        for path in written.into:
            hit = self._hit_place(path)
            if hit is not None:
                return hit
        names = (self._protected.mentioned(code) for code in written.code)
        return next((self._named(name) for name in names if name), None)

    def _by_find(self, rest: Sequence[str], reading: ShellReading) -> Hit | None:
        starts, tests, changes = found_by_find(rest)
        if not changes and not self._feeds_a_writer(reading):
            return None
        wholes = {
            os.path.realpath(whole_path(start, directory, self._protected.home))
            for start in starts
            for directory in self._directories
        }
        for start in wholes:
            why = self._protected.why(start, self._worktree)
            if why is not None:
                return Hit(start, why)
        for path in self._protected.there():
            real = os.path.realpath(path)
            if any(is_below(real, start) for start in wholes) and _looked_for(path, tests):
                return Hit(path, self._protected.why(path) or self._protected.is_place(path) or "")
        return None

    def _feeds_a_writer(self, reading: ShellReading) -> bool:
        """Whether words that only the shell knows are written to: those of `find | xargs rm`."""
        if not _FLOWS.search(self._line):
            return False
        return any(HOLE in word for each in reading.commands for word in written_by(each.words).words)

    def _hidden(self, reading: ShellReading) -> Hit | None:
        """What a word that only the shell knows may be: a protected name that the line has somewhere else."""
        if self._pattern is not None:
            return self._named(self._pattern)
        name = self._mentioned()
        if not name:
            return None
        if not _FLOWS.search(self._line):
            read = sum(
                self._protected.mentions(word)
                for each in reading.commands
                if is_reader(each.words)
                for word in each.words
            )
            if read >= self._protected.mentions(self._line):
                return None
        return self._named(name)

    def _mentioned(self) -> str | None:
        return self._protected.mentioned(self._line) or self._pattern

    def _named(self, name: str) -> Hit:
        return Hit(name, self._protected.known.get(name) or CONFIGURES)

    def _follow_cd(self, reading: ShellReading) -> None:
        """Every directory that the line may have entered by now; the order and the failures of cd do not count."""
        for command in reading.commands:
            words = command.words
            targets = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-C"]
            if base_name(words[0]) in {"cd", "pushd"}:
                targets += [word for word in words[1:] if word[:1] not in {"-", "+"}][:1] or ["~"]
            for target in targets:
                if HOLE in target:
                    continue
                entered = [whole_path(target, each, self._protected.home) for each in self._directories]
                added = [each for each in entered if each not in self._directories]
                self._directories += added[: max(0, _MOST_DIRECTORIES - len(self._directories))]

    def _hit(self, word: str, whole: bool = False) -> Hit | None:
        if HOLE in word or not word or len(word) > _LONGEST_WORD:
            return None
        found = (self._resolved(word, directory, whole) for directory in self._directories)
        return next((hit for hit in found if hit is not None), None)

    def _resolved(self, word: str, directory: str, whole: bool) -> Hit | None:
        """The word as a path: as it is written, and where links lead."""
        if not word or len(word) > _LONGEST_WORD or "\0" in word:
            return None
        named = whole_path(word, directory, self._protected.home)
        real = os.path.realpath(named)
        paths = {named, real}
        if ".." in word:
            # `link/..` is not the directory that the link is in.
            home = self._protected.home
            expanded = home + word[1:] if word.startswith("~/") else word
            paths.add(os.path.realpath(os.path.join(directory or "/", expanded)))
        for path in paths:
            why = self._protected.why(path, self._worktree)
            if why is not None:
                return Hit(word, why)
        inner = (self._protected.below(named) or self._protected.below(real)) if whole else None
        return Hit(inner, self._protected.known[inner]) if inner is not None else None

    def _hit_place(self, word: str) -> Hit | None:
        if HOLE in word:
            return None
        for directory in self._directories:
            path = whole_path(word, directory, self._protected.home)
            why = self._protected.is_place(path) or self._protected.is_place(os.path.realpath(path))
            if why is not None:
                return Hit(word, why)
        return None


def _paths_in(word: str) -> Iterator[str]:
    """The word itself, and what follows = or the letter of an option."""
    yield word
    _name, equals, value = word.partition("=")
    if equals:
        yield value
    if word[:1] == "-" and word[:2] != "--" and len(word) > 2:
        yield word[2:]


def _looked_for(path: str, tests: Sequence[tuple[str, str]]) -> bool:
    """Whether a find with these tests of names may come across the path. Without any it does."""
    name, folded = base_name(path).casefold(), path.casefold()
    for test, pattern in tests:
        wanted = pattern.casefold()
        if HOLE in pattern or "regex" in test:
            return True
        if (
            fnmatchcase(name, wanted)
            if "name" in test
            else fnmatchcase(folded, f"*{wanted.removeprefix('.')}")
        ):
            return True
    return not tests
