"""Follow the directories that the commands of a line may run in: `cd` and its kind, and options such as `env -C`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from hookline.shell.options import read_options, readings
from hookline.shell.placeholders import Words, base_name
from hookline.shell.programs import has_rows_below, table
from hookline.shell.reader import ShellCommand, ShellReading
from hookline.shell.runs import any_row, program_of

#: Further directories are not followed.
MOST_DIRECTORIES = 16
#: The directory before the last change, and that of the user.
BACK, HOME = "-", "~"
#: A directory is entered behind a bracket.
_NESTED = re.compile(r"\([^()]{0,500}\b(?:cd|chdir)\b")
_SEARCHED = re.compile(r"\bCDPATH=[\"']?([^\s;&|\"']{1,500})")

#: Returns the path of a word in a directory; None where only the shell knows it.
Whole = Callable[[str, str], str | None]


class DirectoryChange(NamedTuple):
    """A change of the directory."""

    #: As the words have them.
    targets: Words
    #: The shell stays there; else the change is for what the command runs.
    lasts: bool


@lru_cache(maxsize=512)
def change_of(words: Words) -> DirectoryChange | None:
    """Return how a command changes the directory, or None."""
    row = any_row(words[0])
    if row is None:
        return None
    if "enters" in row.does:
        rest = words[1:]
        if "--" in rest:
            rest = rest[rest.index("--") + 1 :][:1]
        else:
            rest = tuple(word for word in rest if word == BACK or word[:1] not in {"-", "+"})
        alone = HOME if base_name(words[0]) in {"cd", "chdir"} else BACK
        return DirectoryChange((BACK,) if BACK in rest else rest[:1] or (alone,), lasts=True)
    if program_key(words[0]) not in table().entering:
        return None
    targets = tuple(dict.fromkeys(_given(words)))
    return DirectoryChange(targets, lasts=False) if targets else None


def program_key(word: str) -> str:
    name = base_name(word).casefold()
    return name if name in table() else program_of(word)


def _given(words: Words) -> Iterator[str]:
    """Yield the directories that options of a program, and of its sub-commands, name."""
    key, rest = program_key(words[0]), words[1:]
    row = table().get(key)
    entering = table().entering
    while row is not None:
        rest = row.ordered(rest, row.spec) if row.ordered is not None else rest
        is_last = not has_rows_below(key) and not row.sub
        spec = row.spec if is_last else row.spec_before_operands
        for name, _, prefix in (option.partition("=") for option in row.chdir):
            for read in readings(rest, spec):
                for value in read.values(name):
                    if value.startswith(prefix):
                        yield value[len(prefix) :]
        read = read_options(rest, spec)
        if is_last or not read.operands:
            return
        rest = rest[read.first + 1 :]
        key = next((one for one in (f"{key} {read.operands[0]}", f"{key} *") if one in entering), "")
        row = table().get(key) if key else None


def reached(commands: Iterable[ShellCommand], start: Sequence[str], whole: Whole) -> list[str]:
    """Return every directory that a line may have entered, whatever the order of its commands and whichever of
    them fail; one more than are followed where there are too many."""
    found = dict.fromkeys(start)
    for command in commands:
        change = change_of(command.words) if command.words else None
        for target in change.targets if change is not None else ():
            if target == BACK and len(found) > 1:
                continue
            for directory in tuple(found):
                entered = whole(target, directory)
                if entered is not None:
                    found[entered] = None
                if len(found) > MOST_DIRECTORIES:
                    return list(found)
    return list(found)


def directories_of(
    reading: ShellReading, line: str, start: str, whole: Whole, home: str = ""
) -> Iterator[tuple[int, list[str]]]:
    """Yield the directories that each command may run in, and last those that the line and those in it end in."""
    commands = reading.commands
    changes = [change_of(command.words) if command.words else None for command in commands]
    if not any(changes):
        yield from ((at, [start]) for at in range(len(commands) + 1))
        return
    # A directory that is entered in a subshell is left again; the list does not show which commands are in it.
    keeps = "popd" in line or _NESTED.search(line) is not None
    searched = [home, *_searched(line, start, whole)] if "CDPATH" in line else []
    evaluated = _evaluated(commands, changes)
    #: By the command that runs the others, -1 for the line itself: where those are now, and were before.
    now: dict[int, list[str]] = {-1: [start]}
    before: dict[int, list[str]] = {}
    inside: dict[int, list[str]] = {}

    def targets(change: DirectoryChange, here: Sequence[str]) -> list[str]:
        return [path for one in here for each in change.targets if (path := whole(each, one)) is not None]

    for at, command in enumerate(commands):
        by = command.by
        here = now.setdefault(by, inside.get(by) or [start])
        yield at, here
        inside[at] = here
        for one in (at, *evaluated.get(at, ())):
            change = changes[one]
            if change is None:
                continue
            here = now[by]
            if not change.lasts:
                inside[at] = list(dict.fromkeys((*here, *targets(change, here))))[-MOST_DIRECTORIES:]
            elif change.targets == (BACK,):
                now[by] = before.get(by, here)
            else:
                entered = targets(change, (*here, *searched))
                before[by] = here
                now[by] = list(dict.fromkeys((*here, *entered) if keeps else entered or here))
                now[by] = now[by][-MOST_DIRECTORIES:]
    # A redirection belongs to no command: it may be in any of the lines.
    yield len(commands), list(dict.fromkeys(one for by in sorted(now, reverse=True) for one in now[by]))


def _evaluated(
    commands: Sequence[ShellCommand], changes: Sequence[DirectoryChange | None]
) -> Mapping[int, Sequence[int]]:
    """Return the changes of lines that the shell itself runs, by the commands that hold them: `eval 'cd x'`."""
    found: dict[int, list[int]] = {}
    for at, change in enumerate(changes):
        by = commands[at].by if change is not None and change.lasts else -1
        while by >= 0 and commands[by].does("evaluates"):
            above = commands[by].by
            if above < 0 or not commands[above].does("evaluates"):
                found.setdefault(by, []).append(at)
            by = above
    return found


def _searched(line: str, start: str, whole: Whole) -> Iterator[str]:
    """Yield the directories below which a line looks for those that it enters."""
    for text in _SEARCHED.findall(line):
        yield from filter(None, (whole(one, start) for one in text.split(":") if one))
