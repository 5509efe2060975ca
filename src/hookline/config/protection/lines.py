"""Find the protected file that a shell line writes to, where the line shows it.

Only the line is judged: the effects of a script, or a path that a program puts together, cannot be seen here.
In doubt (text the shell reader could not read, words that only the shell knows) a protected name anywhere in
the line is enough.
"""

import os
import re
from collections.abc import Iterator, Sequence

from hookline.config.commands import changing_command, may_change
from hookline.config.protection.precheck import WritePreCheck, switching_programs
from hookline.config.protection.protected_paths import ProtectedWrite, real_path, unquoted, whole_path
from hookline.matching.name_patterns import name_fits
from hookline.matching.patterns import LONGEST_PATH
from hookline.shell import HOLE, ShellReader, ShellReading, base_name
from hookline.shell.files import CommandFiles, files_of, found_by_find, is_reader, runs_standard_input
from hookline.shell.placeholders import Words, without_version
from hookline.trust.project import is_inside

_CHANGES_TRUST = "it changes which hooks, rules or servers are active or trusted"
#: The output of one command becomes words of another.
_FLOWS = re.compile(
    r"\$\(|`|<\(|\(\s*\)|\b(?:xargs|parallel|read|mapfile|readarray|exec|execdir|alias|function)\b"
)
_SWITCHES = "it switches the hooks of the agent off"
_CHANGE_RIGHTS = frozenset(("chmod", "gchmod", "chown", "gchown", "chattr", "chflags", "setfacl"))
_MOST_DIRECTORIES = 16
_MOST_NAMES = 1000


def protected_write(found: WritePreCheck, reader: ShellReader) -> ProtectedWrite | None:
    """Return the first protected file that the line certainly writes; None where it shows none."""
    line = _Line(found.line, found.directories, found.protected, found.worktree)
    return line.written(reader.read(found.line))


class _Line(WritePreCheck):
    """One line that was parsed."""

    def written(self, reading: ShellReading) -> ProtectedWrite | None:
        if reading.uncertain is not None and (hit := self.hit_in(self.line)):
            return hit
        if self._follow_cd(reading) and not all(is_reader(each.words) for each in reading.commands):
            hit = self.hit_in(self.line)
            if hit is not None:
                return hit
        for file in reading.writes:
            hit = self._hit(file) or (self._hidden(reading) if HOLE in file else None)
            if hit is not None:
                return hit
        for command in reading.commands:
            hit = self._by_command(command.words, reading)
            if hit is not None:
                return hit
        return None

    def _by_command(self, words: Words, reading: ShellReading) -> ProtectedWrite | None:
        shown = _changes_hookline(words)
        if shown is not None and "hookline" in unquoted(self.line).casefold():
            return ProtectedWrite(shown, _CHANGES_TRUST, "Running")
        shown = _switches_hooks_off(words)
        if shown is not None:
            return ProtectedWrite(shown, _SWITCHES, "Running")
        if runs_standard_input(words) and (hit := self.hit_in(self.line)):
            return hit
        if "--output" in self.line and any(HOLE in word for word in words) and (hit := self._hidden(reading)):
            return hit
        if base_name(words[0]) in {"find", "gfind"}:
            return self._by_find(words[1:], reading) or self._by_files(files_of(words), reading)
        files = files_of(words)
        # Without the right to enter a directory nothing below it can be read.
        files = files._replace(whole=True) if base_name(words[0]) in _CHANGE_RIGHTS else files
        return self._by_files(files, reading)

    def _by_files(self, files: CommandFiles, reading: ShellReading) -> ProtectedWrite | None:
        written = _written(files)
        for word in written:
            hit = self._hit(word, files.whole)
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

    def _names_below(self, word: str) -> Iterator[str]:
        """Yield the contents of a directory: `cp -r evil/. .` copies them all."""
        for directory in self.directories if HOLE not in word else ():
            try:
                names = os.listdir(whole_path(word, directory, self.protected.home))
            except (OSError, ValueError):
                continue
            yield from names[:_MOST_NAMES]

    def _by_find(self, rest: Words, reading: ShellReading) -> ProtectedWrite | None:
        starts, tests, changes = found_by_find(rest)
        if not changes and not self._feeds_a_writer(reading):
            return None
        if any(HOLE in start for start in starts) and (hit := self._hidden(reading)):
            return hit
        wholes = {
            real_path(whole_path(start, directory, self.protected.home))
            for start in starts
            if HOLE not in start
            for directory in self.directories
        }
        for start in wholes:
            why = self.protected.why(start, self.worktree)
            if why is not None:
                return ProtectedWrite(start, why)
        for path in self.protected.there():
            real = real_path(path)
            if any(is_inside(real, start) for start in wholes) and _looked_for(path, tests):
                return ProtectedWrite(path, self.protected.why(path) or self.protected.is_place(path) or "")
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
            if sum(map(self.names_in, words)) >= self.names_in(self.line):
                return None
        return hit

    def _follow_cd(self, reading: ShellReading) -> bool:
        """Add every directory that the line may have entered by now; the order and the failures of cd are
        ignored.

        Returns True if it enters one that only the shell knows.
        """
        hidden = False
        for command in reading.commands:
            words = command.words
            targets = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-C"]
            if base_name(words[0]) in {"cd", "pushd"}:
                targets += [word for word in words[1:] if word[:1] not in {"-", "+"}][:1] or ["~"]
            for target in targets:
                if HOLE in target:
                    hidden = True
                    continue
                entered = [whole_path(target, each, self.protected.home) for each in self.directories]
                added = [each for each in entered if each not in self.directories]
                self.directories += added[: max(0, _MOST_DIRECTORIES - len(self.directories))]
        return hidden

    def _hit(self, word: str, whole: bool = False) -> ProtectedWrite | None:
        directories = () if HOLE in word else self.directories
        found = (self.resolved(word, directory, whole) for directory in directories)
        return next((hit for hit in found if hit is not None), None)

    def _hit_place(self, word: str, reading: ShellReading) -> ProtectedWrite | None:
        for directory in self.directories:
            path = whole_path(word, directory, self.protected.home)
            if HOLE in path:
                # Only the shell knows what `cp evil/.* .` copies; the line shows the target.
                holds = real_path(path.rpartition("/")[0]) in map(real_path, self.protected.roots)
                hit = self._hidden(reading) if holds else None
                if hit is not None:
                    return hit
                continue
            why = self.protected.is_place(path) or self.protected.is_place(real_path(path))
            if why is not None:
                return ProtectedWrite(word, why)
        return None


#: Programs that install and remove packages of Python.
_PACKAGE_MANAGERS = frozenset(
    {"pip", "pipx", "uv", "poetry", "pdm", "hatch", "rye", "pixi", "conda", "mamba", "micromamba", "brew"}
)
_REMOVING = frozenset({"uninstall", "remove", "rm"})


def _written(files: CommandFiles) -> Words:
    """Return the files that a command may write: also those of an unknown program."""
    return (*files.writes, *files.perhaps, *files.links)


def _changes_hookline(words: Words) -> str | None:
    """Return the command as it is shown, if it runs Hookline to change which hooks are active or trusted, or
    removes its package: entries of agents may let calls pass then."""
    rest = words
    manager = without_version(base_name(rest[0]).casefold())
    if manager in _PACKAGE_MANAGERS or (manager in {"python", "pypy"} and "pip" in rest):
        removes = not _REMOVING.isdisjoint(rest[1:]) and any(_is_our_package(word) for word in rest[1:])
        return " ".join(rest).replace(HOLE, "…") if removes else None
    if without_version(base_name(rest[0]).casefold()) in {"python", "pypy"} and "hookline" in rest:
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


def _switches_hooks_off(words: Words) -> str | None:
    """Return the command as it is shown, if it starts an agent without its hooks, or switches them off."""
    switches = switching_programs().get(base_name(words[0]).casefold().partition("@")[0], ())
    text = " ".join(words[1:])
    found = any(re.search(each, text, re.IGNORECASE) for each in switches)
    return " ".join(words).replace(HOLE, "…") if found else None


def _looked_for(path: str, tests: Sequence[tuple[str, str]]) -> bool:
    """Return True if a find with these tests of names may find the path. Without any it does."""
    name, folded = base_name(path).casefold(), path.casefold()
    for test, pattern in tests:
        wanted = pattern.casefold()
        if HOLE in pattern or "regex" in test:
            return True
        tested, wanted = (name, wanted) if "name" in test else (folded, f"*{wanted.removeprefix('.')}")
        if name_fits(tested, wanted, LONGEST_PATH):
            return True
    return not tests
