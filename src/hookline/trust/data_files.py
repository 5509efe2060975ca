"""Tell files that a command only reads from those that it runs: trust covers what a hook executes.

`grep -q OK status.txt` stays trusted when `status.txt` changes. Only an operand that the row of a known program
marks as read is data, and only if nothing that runs code gets what the program prints, and it is not the answer of
the hook: `cat answer.json` is. In doubt a file is covered.
"""

import re
from functools import lru_cache

from hookline.shell import HOLE, ShellReader, ShellReading
from hookline.shell.files import is_reader, prints_nothing, read_operands
from hookline.shell.placeholders import Words
from hookline.shell.programs import table

#: They keep what they read, to run it later.
_STORES = frozenset(("crontab", "at", "batch", "source", ".", "mapfile", "readarray", "read"))
_DISCARDS = r"(?:^|[^\d<>])(?:1|&)?>\s{0,4}/dev/null(?:\s|$)"
_ASSIGNS = r"(?<![\w-])[A-Za-z_]\w{0,100}\+?="


@lru_cache(maxsize=256)
def is_data(line: str, text: str) -> bool:
    """Return True if a text of a command line names a file that is only read as data."""
    # A variable that the line sets may choose another program.
    if re.search(_ASSIGNS, line):
        return False
    reading = ShellReader().read(line)
    if reading.doubts or reading.foreign:
        return False
    found = False
    for at, command in enumerate(reading.commands):
        words = command.words
        if _is_named(words[0], text):
            return False
        if not any(_is_named(part, text) for word in words[1:] for part in (word, word.partition("=")[2])):
            continue
        operands = read_operands(words)
        elsewhere = [word for word in words[1:] if _is_named(word, text) and word not in operands]
        glued = any(word.endswith(text) and not _is_named(word, text) for word in words[1:])
        if elsewhere or glued or not _only_reads(at, reading, line):
            return False
        found = True
    if any(_is_named(word, text) for word in reading.reads):
        # It is not known which command gets it.
        return all(_only_reads(at, reading, line) for at in range(len(reading.commands)))
    return found and not any(_is_named(word, text) for word in reading.writes)


def _only_reads(at: int, reading: ShellReading, line: str) -> bool:
    """Return True if a command and all that get its output run nothing, and print nothing as the hook's answer."""
    waiting, seen = [at], {at}
    while waiting:
        words = reading.commands[waiting.pop()].words
        now = words[0]
        # A program of the project may be called grep.
        if "/" in now or HOLE in now or not is_reader(words) or not _is_plain(now):
            return False
        targets = [target for source, target in reading.flows if reading.commands[source].words is words]
        if not targets and not (_is_quiet(words) or _is_discarded(reading, line)):
            return False
        waiting += [target for target in targets if target not in seen]
        seen.update(targets)
    return True


def _is_discarded(reading: ShellReading, line: str) -> bool:
    """Return True if what a line prints goes nowhere: then it has one command that prints, and one redirection."""
    ends = set(range(len(reading.commands))) - {source for source, _ in reading.flows}
    quoted = any("/dev/null" in word for command in reading.commands for word in command.words)
    return len(ends) == 1 and not quoted and re.search(_DISCARDS, line) is not None


def _is_quiet(words: Words) -> bool:
    """Return True if a command prints nothing: it only answers by its exit code."""
    return words[0] in ("test", "[") or prints_nothing(words)


def _is_plain(program: str) -> bool:
    """Return True if the row of a program says that it neither runs nor keeps what its operands hold."""
    row = table().get(program)
    if row is None or not row.files or program in _STORES:
        return False
    runs = row.command is not None or row.loose is not None or row.always
    return not (runs or row.here or row.stdin or row.sub or row.first or row.others)


def _is_named(word: str, text: str) -> bool:
    if word == text:
        return True
    # `"$CLAUDE_PROJECT_DIR"/x`: only the shell knows how it begins.
    return (
        text.startswith("$")
        and word.startswith(HOLE)
        and word.partition("/")[2] == text.partition("/")[2] != ""
    )
