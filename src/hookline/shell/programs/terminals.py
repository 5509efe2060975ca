"""Read programs that run a command at a terminal, again and again, or later."""

from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Stdin
from hookline.shell.kinds import KINDS
from hookline.shell.options import OptionSpec, read_options
from hookline.shell.placeholders import Words


def flock(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read `flock FILE -c LINE` and `flock FILE COMMAND`."""
    read = read_options(rest, spec)
    after = read.operands[1:]
    if after[:1] in {("-c",), ("--command",)}:
        for line in after[1:2]:
            yield from KINDS["line"].found(line)
    elif after:
        yield Inner(after)
    if read.unknown:
        yield from (Inner(rest[at:]) for at, word in enumerate(rest) if not word.startswith("-"))


def watch(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read the operands of watch: a line of shell, with `-x` a command."""
    read = read_options(rest, spec)
    if read.unknown:
        yield from (Inner(rest[at:]) for at, word in enumerate(rest) if not word.startswith("-"))
    if read.operands and read.has("-x", "--exec"):
        yield Inner(read.operands)
    elif read.operands:
        yield from KINDS["line"].found(" ".join(read.operands))
