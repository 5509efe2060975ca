"""Find the protected file that a shell line writes to, where the line shows it.

Only the line is judged: the effects of a script, or a path that a program puts together, cannot be seen here.
In doubt (text the shell reader could not read, words that only the shell knows) a protected name anywhere in
the line is enough. Most lines write nothing; for them it is not even found out what is protected.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import islice

from hookline.config.commands import changing_command, may_change
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
from hookline.matching.patterns import LONGEST_PATH
from hookline.model.safe_text import translated
from hookline.shell import HOLE, ShellCommand, ShellReading, base_name
from hookline.shell.directories import BACK, MOST_DIRECTORIES, reached
from hookline.shell.files import CommandFiles, files_of, finder_of, is_reader, runs_standard_input
from hookline.shell.files.programs import Finder
from hookline.shell.placeholders import Words, without_version
from hookline.shell.runs import any_row
from hookline.trust.project import is_inside

_CHANGES_TRUST = "it changes which hooks, rules or servers are active or trusted"
_SWITCHES = "it switches the hooks of the agent off"
_MOVES = "a variable gives the agent another configuration"
#: The output of one command becomes words of another.
_FLOWS = re.compile(
    r"\$\(|`|<\(|\(\s*\)|\b(?:xargs|parallel|read|mapfile|readarray|exec|execdir|alias|function)\b"
)
_APART = str.maketrans(dict.fromkeys(";|&<>()`=\n\t", " "))
#: Characters that may stand around a path in code: a rough word is tried with these and without.
_FURTHER_APART = str.maketrans(dict.fromkeys(",{}[]:", " "))
#: Characters of a directory that change the meaning of a line if they are put into it.
_UNSAFE = frozenset(" \t\n'\"\\$`;|&<>()*?[]{}~!#")
#: A word, or the first part of a path.
_ALONE = r"(?<![^\s;&|(=]){}(?=[\s;&|)/]|$)"
#: Further words of a line, and further patterns, are judged by their text alone.
_MOST_FOLLOWED = 1500
_MOST_PATTERNS = 64
#: Files that are read for one pattern, names in a directory.
_MOST_MATCHES, _MOST_ENTRIES = 200, 20_000
_MOST_NAMES = 1000
_LONGEST_WORD = 4096


class ProtectedLine:
    """One line, and the protected files that its words may lead to. `directories` are those it may run in."""

    def __init__(
        self, line: str, directories: Sequence[str], find_protected: Callable[[], Protected], home: str
    ) -> None:
        self.line = _filled(line, directories[0] if directories else "", home)
        self._directories = list(directories)
        self._home = home
        self._find_protected = find_protected
        self._followed = 0
        self._patterns = 0
        #: Real paths of the directories of words; most are in the same.
        self._real_directories: dict[str, str] = {}
        self._known: dict[str, str | None] = {}

    def written(self, reading: ShellReading) -> ProtectedWrite | None:
        """Return the first protected file that the line certainly writes; None where it shows none."""
        if reading.uncertain is not None and (hit := self.hit_in(self.line)):
            return hit
        if self._follow_directories(reading) and not all(is_reader(each.words) for each in reading.commands):
            hit = self.hit_in(self.line)
            if hit is not None:
                return hit
        for file in reading.writes:
            hit = self._hit(file) or (self._hidden(reading) if HOLE in file else None)
            if hit is not None:
                return hit
        found = (self._by_command(command, reading) for command in reading.commands)
        return next(filter(None, found), None)

    def _by_command(self, command: ShellCommand, reading: ShellReading) -> ProtectedWrite | None:
        words = command.words
        running = self._running(words)
        if running is not None:
            return running
        if runs_standard_input(words) and (hit := self.hit_in(self.line)):
            return hit
        if "--output" in self.line and any(HOLE in word for word in words) and (hit := self._hidden(reading)):
            return hit
        files, finder = files_of(words), finder_of(words)
        if finder is not None and (hit := self._found(finder, reading)):
            return hit
        return self._by_files(command, files, reading)

    def _running(self, words: Words) -> ProtectedWrite | None:
        """Return a command that changes what guards an agent, by itself."""
        shown, why = _changes_hookline(words), _CHANGES_TRUST
        if shown is not None and "hookline" not in unquoted(self.line).casefold():
            shown = None
        if shown is None and _switches_hooks_off(words):
            shown, why = " ".join(words), _SWITCHES
        if shown is None and _starts_agent(words) and _configuring_variables().search(self.line):
            shown, why = " ".join(words), _MOVES
        return ProtectedWrite(shown.replace(HOLE, "…"), why, "Running") if shown is not None else None

    def _by_files(
        self, command: ShellCommand, files: CommandFiles, reading: ShellReading
    ) -> ProtectedWrite | None:
        written = _written(files)
        # Without the right to enter a directory nothing below it can be read.
        whole = files.whole or command.does("permits")
        edited = () if command.does("renames") else files.reads
        for word in written:
            # What edits files, as formatters do, changes those of some kinds.
            hit = self._hit(word, whole and (word not in edited or self._names_protected))
            if hit is not None:
                return hit
        if any(HOLE in word for word in written):
            hit = self._hidden(reading)
            if hit is not None:
                return hit
        for path in files.into:
            hit = self._hit_place(path, reading)
            if hit is not None:
                return hit
        for source, target in files.contents:
            for name in self._names_below(source):
                hit = self._hit_place(f"{target}/{name}", reading)
                if hit is not None:
                    return hit
        # A pattern in code is not a pattern of a shell: `s/".*"/x/` names nothing.
        return next((hit for code in files.code if (hit := self.hit_in(code, patterns=False))), None)

    @cached_property
    def _names_protected(self) -> bool:
        return self.hit_in(self.line) is not None

    def _names_below(self, word: str) -> Iterator[str]:
        """Yield the contents of a directory: `cp -r evil/. .` copies them all."""
        for directory in self._directories if HOLE not in word else ():
            try:
                names = os.listdir(whole_path(word, directory, self._home))
            except (OSError, ValueError):
                continue
            yield from names[:_MOST_NAMES]

    def _found(self, finder: Finder, reading: ShellReading) -> ProtectedWrite | None:
        if not finder.changes and not self._feeds_a_writer(reading):
            return None
        if any(HOLE in start for start in finder.starts) and (hit := self._hidden(reading)):
            return hit
        known = (start for start in finder.starts if HOLE not in start)
        paths = (whole_path(start, each, self._home) for start in known for each in self._directories)
        wholes = dict.fromkeys(map(real_path, paths))
        for start in wholes:
            why = self._protected.why(start)
            if why is not None:
                return ProtectedWrite(start, why)
        for path in self._protected.there():
            real = real_path(path)
            below = [real[len(start) :] for start in wholes if is_inside(real, start)]
            if not finder.hidden:
                below = [each for each in below if "/." not in each]
            if below and _looked_for(path, finder.tests):
                # Of a worktree, too, all known paths are protected.
                why = self._protected.within("").why(path) or self._protected.is_place(path)
                return ProtectedWrite(path, why or "")
        return None

    def _feeds_a_writer(self, reading: ShellReading) -> bool:
        """Return True if words that only the shell knows are written to: those of `find | xargs rm`."""
        if not _FLOWS.search(self.line):
            return False
        return any(HOLE in word for each in reading.commands for word in _written(files_of(each.words)))

    def _hidden(self, reading: ShellReading) -> ProtectedWrite | None:
        """Return the protected file that a word only the shell knows may be: one that the line names
        somewhere else."""
        hit = self.hit_in(self.line)
        if hit is not None and not _FLOWS.search(self.line):
            words = [word for each in reading.commands if is_reader(each.words) for word in each.words]
            if sum(map(self._names_in, words)) >= self._names_in(self.line):
                return None
        return hit

    def _follow_directories(self, reading: ShellReading) -> bool:
        """Add every directory that the line may have entered by now; the order and the failures of cd are
        ignored.

        Returns True if it enters one that only the shell knows, or too many.
        """
        hidden = False

        def whole(word: str, directory: str) -> str | None:
            nonlocal hidden
            hidden = hidden or HOLE in word or word == BACK
            return None if HOLE in word or word == BACK else whole_path(word, directory, self._home)

        found = reached(reading.commands, self._directories, whole)
        searches = "CDPATH" in self.line and any(one.does("enters") for one in reading.commands)
        self._directories = found[:MOST_DIRECTORIES]
        return hidden or searches or len(found) > MOST_DIRECTORIES

    def _hit(self, word: str, whole: bool = False) -> ProtectedWrite | None:
        directories = () if HOLE in word else self._directories
        found = (self._resolved(word, directory, whole) for directory in directories)
        return next((hit for hit in found if hit is not None), None)

    def _hit_place(self, word: str, reading: ShellReading) -> ProtectedWrite | None:
        for directory in self._directories:
            path = whole_path(word, directory, self._home)
            if HOLE in path:
                # Only the shell knows what `cp evil/.* .` copies; the line shows the target.
                holds = real_path(path.rpartition("/")[0]) in map(real_path, self._protected.roots)
                hit = self._hidden(reading) if holds else None
                if hit is not None:
                    return hit
                continue
            why = self._protected.is_place(path) or self._protected.is_place(real_path(path))
            if why is not None:
                return ProtectedWrite(word, why)
        return None

    # -- what words mean

    @cached_property
    def _protected(self) -> Protected:
        return self._find_protected()

    def hit_in(self, text: str, *, patterns: bool = True) -> ProtectedWrite | None:
        """Return the part of a text that means a protected file: a name, a pattern, a path that leads to one."""
        tokens = (token for token in _words(text) if patterns or not is_pattern(token))
        name = self._protected.mentioned(text) or next(filter(None, map(self._name, tokens)), None)
        return (
            ProtectedWrite(name, self._protected.known.get(name) or CONFIGURES) if name is not None else None
        )

    def _names_in(self, text: str) -> int:
        """Return how many words of a text mean one."""
        return sum(1 for token in _words(text) if self._name(token))

    def _name(self, token: str) -> str | None:
        if token not in self._known:
            self._known[token] = self._meaning(token)
        return self._known[token]

    def _meaning(self, token: str) -> str | None:
        found = self._protected.mentioned(token)
        if found is None and is_pattern(token):
            found = self._pattern(token)
        if found is None:
            pairs = ((each, directory) for each in _paths_in(token) for directory in self._directories)
            hits = (self._resolved(*pair, False) for pair in pairs)
            found = next((hit.path for hit in hits if hit is not None), None)
        return found

    def _pattern(self, token: str) -> str | None:
        """Return a protected path that a pattern may match."""
        named = self._protected.named_by(token)
        if named is not None:
            return named
        for directory in self._directories:
            for path in self._there:
                if self._protected.stands_for(token, directory, path):
                    return path
            self._patterns += 1
            if self._patterns > _MOST_PATTERNS:
                continue
            from hookline.trust.files import fitting_paths  # noqa: PLC0415 few lines have patterns

            # Links may have any name.
            whole = whole_path(token, directory, self._home)
            for path in islice(fitting_paths(whole, _MOST_ENTRIES) or (), _MOST_MATCHES):
                if self._protected.why(real_path(path)) is not None:
                    return path
        return None

    @cached_property
    def _there(self) -> list[str]:
        return self._protected.there()

    def _resolved(self, word: str, directory: str, whole: bool) -> ProtectedWrite | None:
        """Return the word as a path: as it is written, and with links followed. `whole`: with all that a
        directory holds."""
        if not word or len(word) > _LONGEST_WORD or "\0" in word:
            return None
        named = whole_path(word, directory, self._home)
        paths = {named, *self._real_paths(word, named, directory)}
        for path in paths:
            why = self._protected.why(path)
            if why is not None:
                return ProtectedWrite(word, why)
        inner = next(filter(None, map(self._protected.below, paths)), None) if whole else None
        return ProtectedWrite(inner, self._protected.known[inner]) if inner is not None else None

    def _real_paths(self, word: str, named: str, directory: str) -> Iterator[str]:
        self._followed += 1
        if self._followed > _MOST_FOLLOWED:
            return
        yield self._real_path(named)
        if ".." in word:
            # `link/..` is not the directory that the link is in.
            in_home = self._home + word[1:] if word.startswith("~/") else word
            yield real_path(os.path.join(directory or "/", in_home))

    def _real_path(self, path: str) -> str:
        directory, _, name = path.rpartition("/")
        real = self._real_directories.get(directory)
        if real is None:
            real = self._real_directories[directory] = real_path(directory or "/")
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


@cache
def _agents() -> frozenset[str]:
    return frozenset(program for listed in standard_dialects().values() for program in listed.programs)


@cache
def _configuring_variables() -> re.Pattern[str]:
    """Return an expression for a change of a variable that tells an agent, or Hookline, where hooks are configured."""
    named = [name for listed in standard_dialects().values() for name in listed.variables]
    # A model changes no guard.
    names = "|".join(("HOME", r"HOOKLINE_(?!MODEL\b)\w+", *named))
    return re.compile(rf"(?<![\w$])(?:{names})\+?=|(?:\bunset|-u|--unset)[ =]*(?:{names})\b")


def _starts_agent(words: Words) -> bool:
    program = base_name(words[0]).casefold().partition("@")[0]
    return program in _agents() or (program == "hookline" and "agent" in words[1:4])


def _written(files: CommandFiles) -> Words:
    """Return the files that a command may write: also those of an unknown program."""
    return (*files.writes, *files.perhaps, *files.links)


def _changes_hookline(words: Words) -> str | None:
    """Return the command as it is shown, if it runs Hookline to change which hooks are active or trusted, or
    removes its package: entries of agents may let calls pass then."""
    rest, row = words, any_row(words[0])
    if row is not None and row.removes:
        removes = not set(row.removes).isdisjoint(rest[1:]) and any(map(_is_our_package, rest[1:]))
        return " ".join(rest) if removes else None
    manager = without_version(base_name(rest[0]).casefold())
    if manager in {"python", "pypy"} and "hookline" in rest:
        # Options of the interpreter may be before the module.
        at = rest.index("hookline")
        rest = rest[at:] if rest[at - 1].endswith("m") else rest
    named = base_name(rest[0]).casefold()
    if named not in {"hookline", "hookline-relay"} and HOLE not in named:
        return None
    command = changing_command(rest[1:])
    if command is None or (HOLE in named and not may_change(command)):
        return None
    return f"hookline {command}"


def _is_our_package(word: str) -> bool:
    return word.casefold().partition("[")[0].partition("=")[0] == "hookline"


def _switches_hooks_off(words: Words) -> bool:
    """Return True if a command starts an agent without its hooks, or switches them off."""
    switches = switching_programs().get(base_name(words[0]).casefold().partition("@")[0], ())
    text = " ".join(words[1:])
    return any(re.search(each, text, re.IGNORECASE) for each in switches)


def _looked_for(path: str, tests: Sequence[tuple[str, str]]) -> bool:
    """Return True if a find with these tests of names may find the path. Without any it does."""
    from hookline.matching.name_patterns import name_fits  # noqa: PLC0415 few lines have patterns

    name, folded = base_name(path).casefold(), path.casefold()
    for test, pattern in tests:
        wanted = pattern.casefold()
        if HOLE in pattern or "regex" in test:
            return True
        tested, wanted = (name, wanted) if "name" in test else (folded, f"*{wanted.removeprefix('.')}")
        if name_fits(tested, wanted, LONGEST_PATH):
            return True
    return not tests


def _words(text: str) -> list[str]:
    """Return the words by a rough rule, for text that the reader leaves to the shell."""
    return translated(unquoted(text), _APART).split()


def _filled(text: str, directory: str, home: str) -> str:
    """Replace well-known variables, and a lone ~, by their directories."""
    for name, alone, value in (("PWD", "~+", directory), ("HOME", "~", home)):
        if (name in text or "~" in text) and value and _UNSAFE.isdisjoint(value):
            known = rf"\$(?:{name}\b|\{{{name}\}})|{_ALONE.format(re.escape(alone))}"
            text = re.sub(known, lambda _: value, text)  # noqa: B023 used at once
    return text


def _paths_in(token: str) -> Iterator[str]:
    """Yield the parts of a word that may be a path: all of it, the text after an option's letter, and parts
    of code."""
    yield token
    if token[:1] == "-" and len(token) > 2:
        yield token[2:]
    parts = translated(token, _FURTHER_APART).split()
    if parts != [token]:
        yield from parts
