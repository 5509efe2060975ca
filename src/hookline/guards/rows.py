"""Find the rows of a guard that a command may match, by its program. Options and operands are read in
`commands`.

Most commands are about none, and then nothing else has to be loaded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hookline.guards.spec import SEVERAL, GuardedCommand
from hookline.matching.name_patterns import LONGEST_NAME
from hookline.shell import ShellReader, ShellReading
from hookline.shell.placeholders import Words, base_name
from hookline.shell.reader import NO_CONTENTS

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


class ReadLine(NamedTuple):
    """A line that was read, and the names of all programs that it runs, in all spellings."""

    reading: ShellReading
    programs: frozenset[str]

    def may_concern(self, index: Mapping[str, tuple[GuardedCommand, ...]]) -> bool:
        """Return True if a command of the line may match a row: if not, none has to be compared."""
        return SEVERAL in index or not self.programs.isdisjoint(index)


class GuardLineReader:
    """A reader of lines for all guards of an engine, which judge one line after another."""

    def __init__(self, reader: ShellReader) -> None:
        self.reader = reader
        self._last: list[tuple[ShellReading, Mapping[str, str], ReadLine]] = []
        #: The files that lines of this call run, by the line and the directory: all guards judge the same ones.
        self.run: dict[tuple[str, str], Mapping[str, str]] = {}

    def read(self, line: str, files: Mapping[str, str] = NO_CONTENTS) -> ReadLine:
        """Read a line, with the text of files that it runs."""
        plain = self.reader.read(line)
        for known, texts, read in self._last:
            if known is plain and files == texts:
                return read
        reading = self.reader.read(line, files) if files else plain
        read = ReadLine(reading, frozenset(_programs(reading)))
        self._last = [(plain, files, read), *self._last[: _REMEMBERED - 1]]
        return read


def _programs(reading: ShellReading) -> Iterator[str]:
    for command in reading.commands:
        yield from program_names(command.words[0])
        for words in spellings(command.words):
            if words is not command.words:
                yield from program_names(words[0])
