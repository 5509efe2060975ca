"""Lines that are one plain command of a program that runs no other: `ls -la src`. Many of an agent's lines are such.

They are read here as the parser would read them, which takes longer to load than all else that a guard needs in a
process of its own. A test holds both readings to be the same; whatever is not sure is left to the parser.
"""

from hookline.matching.shell.reader import ShellCommand, ShellReading

#: No row in `programs` says that they run anything, and none of their words becomes a command of the same line.
PROGRAMS = frozenset(
    (
        "basename", "cat", "cmp", "comm", "cut", "df", "dirname", "du", "echo", "false", "file", "head",
        "hostname", "id", "ls", "md5sum", "mkdir", "nl", "nproc", "ps", "pwd", "readlink", "realpath", "rmdir",
        "sha256sum", "stat", "tac", "tail", "touch", "tr", "true", "uname", "wc", "whoami",
    )
)  # fmt: skip
#: None of these means anything to a shell.
LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:@%=- ")
_LONGEST = 1000
#: They end the options of a command, or stand for a file.
_LEFT_OUT = frozenset(("-", "--"))


def read_plain_line(line: str) -> ShellReading | None:
    """What the line runs; None where the parser has to read it."""
    if len(line) > _LONGEST or not LETTERS.issuperset(line):
        return None
    words = tuple(line.split())
    if not words or words[0] not in PROGRAMS or not _LEFT_OUT.isdisjoint(words):
        return None
    operands = next((at for at, word in enumerate(words[1:], 1) if word[0] != "-"), len(words))
    forms = (" ".join(words).casefold(), " ".join((words[0], *words[operands:])).casefold())
    command = ShellCommand(words, words[0], tuple(dict.fromkeys(forms)))
    return ShellReading((command,), literal=True)
