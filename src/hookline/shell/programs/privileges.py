"""Read programs that run a command as another user, or in another root, namespace or machine."""

from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Stdin
from hookline.shell.kinds import from_stdin
from hookline.shell.options import OptionSpec, read_options
from hookline.shell.placeholders import Words


def sudo(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read sudo: without a command, `-s` and `-i` start a shell."""
    read = read_options(rest, spec)
    if not read.operands and read.has("-s", "-i", "--shell", "--login"):
        yield from from_stdin("line", stdin)


def su(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read `su user -c LINE args` and `su - user -- -c LINE`: the rest goes to the user's shell."""
    read = read_options(rest, spec)
    after = [word for word in read.operands if word != "-"][1:]
    if after:
        yield Inner(("sh", *after))
    elif not read.has("-c", "--command", "--session-command"):
        yield from from_stdin("line", stdin)


def capsh(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read the words after `--` or `==`: they go to bash, or to the named shell."""
    shells = [word.partition("=")[2] for word in rest if word.startswith("--shell=")]
    for mark in ("--", "=="):
        if mark in rest:
            yield from (Inner((shell, *rest[rest.index(mark) + 1 :])) for shell in shells or ["bash"])
