"""Read programs that connect to other machines."""

from collections.abc import Iterator

from hookline.shell.found import Found, Stdin
from hookline.shell.kinds import KINDS, from_stdin
from hookline.shell.options import OptionSpec, read_options
from hookline.shell.placeholders import Words


def ssh_ordered(rest: Words, spec: OptionSpec) -> Words:
    """Accept options after the host, too."""
    read = read_options(rest, spec)
    after = read.operands[1:]
    more = after[: read_options(after, spec).first]
    return (*rest[: read.first], *more, *read.operands[:1], *after[len(more) :]) if read.operands else rest


def ssh(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read the words after the host: a line for the shell there."""
    read = read_options(rest, spec)
    if len(read.operands) == 1 and {" ", "/"} & {*read.operands[0].removeprefix("ssh://")}:
        # No host: a command whose host, in a variable, would be empty.
        return
    if len(read.operands) > 1:
        yield from KINDS["line"].found(" ".join(read.operands[1:]))
    elif read.operands and not read.has("-N", "-V", "-Q", "-G", "-O", "-W", "-f"):
        yield from from_stdin("line", stdin)


def curl_ordered(rest: Words, _spec: OptionSpec) -> Words:
    """Rewrite `--expand-output NAME` to `--output NAME` with variables in it."""
    return tuple("--expanded" if word.startswith("--expand-") else word for word in rest)
