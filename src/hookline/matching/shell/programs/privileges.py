"""Programs that run a command as somebody else, or in another root, namespace or machine."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.kinds import from_stdin
from hookline.matching.shell.options import OptionSpec, read_options


def sudo(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Without a command, `-s` and `-i` start a shell."""
    read = read_options(rest, spec)
    if not read.operands and read.has("-s", "-i", "--shell", "--login"):
        yield from from_stdin("line", stdin)


def su(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """`su user -c LINE args` and `su - user -- -c LINE`: what is left goes to the user's shell."""
    read = read_options(rest, spec)
    after = [word for word in read.operands if word != "-"][1:]
    if after:
        yield Inner(("sh", *after))
    elif not read.has("-c", "--command", "--session-command"):
        yield from from_stdin("line", stdin)


def capsh(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """What follows `--` or `==` goes to bash, or to the shell that is named."""
    shells = [word.partition("=")[2] for word in rest if word.startswith("--shell=")]
    for mark in ("--", "=="):
        if mark in rest:
            yield from (Inner((shell, *rest[rest.index(mark) + 1 :])) for shell in shells or ["bash"])
