"""Find the rows of a guard that a command may match, by its program. Options and operands are read in
`commands`.

Most commands are about none, and then nothing else has to be loaded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from hookline.guards.spec import SEVERAL, GuardedCommand
from hookline.matching.name_patterns import LONGEST_NAME
from hookline.shell import ShellReader, ShellReading
from hookline.shell.placeholders import Words, base_name
from hookline.shell.reader import NO_CONTENTS

if TYPE_CHECKING:
    from hookline.guards.run_files import RunFiles

_VERSION = r"[-.]?\d[\d.]*$"
#: A line, and the same line with the files that it runs.
_REMEMBERED = 6
#: Shells whose lines are not read.
NOT_READ = frozenset(("powershell", "pwsh"))
#: They run a program of the project by its name.
_RUNNERS = frozenset(("pnpm", "yarn", "bun"))


def program_names(word: str) -> tuple[str, ...]:
    """Return the names by which rows may know a program: `python3.11` is python, too, and `prisma@latest` prisma."""
    name = base_name(word).casefold().removesuffix(".exe")
    at = name.find("@", 1)
    name = name[:at] if at > 0 else name
    if len(name) > LONGEST_NAME:
        return (name,)
    plain = re.sub(_VERSION, "", name) if name.endswith(".") or name[-1:].isdecimal() else name
    return (name, plain) if plain and plain != name else (name,)


RowIndex = Mapping[str, tuple[GuardedCommand, ...]]
#: A command in one spelling, and the names of its program.
Spelling = tuple[Words, tuple[str, ...]]


def rows_for(words: Words, index: RowIndex) -> Sequence[GuardedCommand]:
    return rows_of(program_names(words[0]), index) if words else ()


def rows_of(names: Sequence[str], index: RowIndex) -> Sequence[GuardedCommand]:
    """Return the rows about a program of one of these names."""
    found = [row for name in names if name in index for row in index[name]]
    several = index.get(SEVERAL)
    return found + [row for row in several if _program_fits(row, names)] if several else found


def _program_fits(row: GuardedCommand, names: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase  # noqa: PLC0415 few guards have such rows

    wanted = row.run.split(" ", 1)[0].split("|")
    return any(fnmatchcase(name, one) for one in wanted for name in names)


def spellings(words: Words) -> Iterator[Words]:
    """Yield the command, and other spellings of it: `git-push` is `git push`, `yarn prisma` is `prisma`."""
    name = base_name(words[0]) if words else ""
    yield ("git", name.removeprefix("git-"), *words[1:]) if name.startswith("git-") else words
    if name in _RUNNERS and len(words) > 1:
        from hookline.shell.runs import readings_after_options  # noqa: PLC0415 few lines run them

        yield from filter(None, readings_after_options(words))


class ReadLine:
    """A line that was read with the files that it runs: facts that guards ask for one after another."""

    def __init__(self, reading: ShellReading, text: str) -> None:
        self.reading = reading
        #: The line and the files that it runs.
        self.text = text
        #: Of each command, every spelling and the names of its program.
        self.spelled = [
            [(words, program_names(words[0])) for words in spellings(command.words)]
            for command in reading.commands
        ]
        #: The names of all programs that it runs.
        self.programs = frozenset(_names(reading, self.spelled))

    def may_concern(self, index: RowIndex) -> bool:
        """Return True if a command of the line may match a row: if not, none has to be compared."""
        return SEVERAL in index or not index.keys().isdisjoint(self.programs)

    @cached_property
    def may_hold_code(self) -> bool:
        if self.reading.foreign or "#include" in self.text:
            return True
        return any(takes_code(command.words[0]) for command in self.reading.commands)

    @cached_property
    def may_hide(self) -> bool:
        """Return True if the line may do more than its commands say: by code, by a shell that is not read, or in
        doubt."""
        return (
            self.reading.uncertain is not None or self.may_hold_code or not self.programs.isdisjoint(NOT_READ)
        )

    @cached_property
    def may_run_files(self) -> bool:
        from hookline.shell.runs import may_run_files  # noqa: PLC0415 loaded with the line

        return any(may_run_files(command.words) for command in self.reading.commands)


@lru_cache(maxsize=512)
def takes_code(word: str) -> bool:
    """Return True for a program that takes code as an argument."""
    from hookline.shell.runs import any_row  # noqa: PLC0415 loaded with the line

    row = any_row(word)
    return row is not None and row.takes_code


class GuardLineReader:
    """A reader of lines for all guards of an engine, which judge one line after another."""

    def __init__(self, reader: ShellReader, *, past: bool = False) -> None:
        """Take the reader of rules. `past`: the calls were made long ago."""
        self.reader = reader
        self._past = past
        self._last: list[tuple[str, Mapping[str, str], ReadLine]] = []
        #: Of past calls, what is known of directories (see `CallFiles`): it may be as old as the replay.
        self.directories: dict[str, bool | None] | None = {} if past else None
        #: The files that lines of this call run, by the line and the directory: all guards judge the same ones.
        self.run: dict[tuple[str, str], Mapping[str, str]] = {}

    @cached_property
    def files(self) -> "RunFiles":
        from hookline.guards.run_files import RunFiles  # noqa: PLC0415 few lines run files

        return RunFiles(past=self._past)

    def read(self, line: str, files: Mapping[str, str] = NO_CONTENTS) -> ReadLine:
        """Read a line, with the text of files that it runs."""
        for known, texts, read in self._last:
            if known == line and texts == files:
                return read
        read = ReadLine(self.reader.read(line, files), "\n".join((line, *files.values())))
        self._last = [(line, files, read), *self._last[: _REMEMBERED - 1]]
        return read


def _names(reading: ShellReading, spelled: Sequence[Sequence[Spelling]]) -> Iterator[str]:
    for command, ways in zip(reading.commands, spelled, strict=True):
        if not ways or ways[0][0] is not command.words:
            yield from program_names(command.words[0])
        for _, names in ways:
            yield from names
