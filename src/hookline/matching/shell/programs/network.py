"""Programs that talk to other machines."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.kinds import KINDS, from_stdin
from hookline.matching.shell.options import OptionSpec, read_options


def ssh_ordered(rest: Words, spec: OptionSpec) -> Words:
    """Options may also follow the host."""
    read = read_options(rest, spec)
    after = read.operands[1:]
    more = after[: read_options(after, spec).first]
    return (*rest[: read.first], *more, *read.operands[:1], *after[len(more) :]) if read.operands else rest


def ssh(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """What comes after the host is a line for the shell there."""
    read = read_options(rest, spec)
    if len(read.operands) == 1 and {" ", "/"} & {*read.operands[0].removeprefix("ssh://")}:
        # No host: a command whose host, in a variable, would be empty.
        return
    if len(read.operands) > 1:
        yield from KINDS["line"].found(" ".join(read.operands[1:]))
    elif (
        read.operands and stdin.kind != "inherited" and not read.has("-N", "-V", "-Q", "-G", "-O", "-W", "-f")
    ):
        yield from from_stdin("line", stdin)


def curl_ordered(rest: Words, _spec: OptionSpec) -> Words:
    """`--expand-output NAME` is `--output NAME` with variables in it."""
    return tuple("--expanded" if word.startswith("--expand-") else word for word in rest)
