"""Find the rows of a guard that a command may match, by its program. Options and operands are read in
`commands`.

Most commands are about none, and then nothing else has to be loaded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
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


def rows_for(words: Words, index: Mapping[str, tuple[GuardedCommand, ...]]) -> Sequence[GuardedCommand]:
    if not words:
        return ()
    names = program_names(words[0])
    found = [row for name in names for row in index.get(name, ())]
    return found + [row for row in index.get(SEVERAL, ()) if _program_fits(row, names)]


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
        #: The names of all programs that it runs, in all spellings.
        self.programs = frozenset(_programs(reading))

    def may_concern(self, index: Mapping[str, tuple[GuardedCommand, ...]]) -> bool:
        """Return True if a command of the line may match a row: if not, none has to be compared."""
        return SEVERAL in index or not self.programs.isdisjoint(index)

    @cached_property
    def may_hold_code(self) -> bool:
        if self.reading.foreign or "#include" in self.text:
            return True
        return any(takes_code(command.words[0]) for command in self.reading.commands)


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


def _programs(reading: ShellReading) -> Iterator[str]:
    for command in reading.commands:
        yield from program_names(command.words[0])
        for words in spellings(command.words):
            if words is not command.words:
                yield from program_names(words[0])
