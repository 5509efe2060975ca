"""Read programs that read, sort, change and show text."""

from collections.abc import Iterator

from hookline.shell.found import Found, Stdin
from hookline.shell.kinds import from_stdin
from hookline.shell.options import OptionSpec
from hookline.shell.placeholders import Words


def awk(rest: Words, _spec: OptionSpec) -> Words:
    """Rewrite `-W exec FILE` to `--exec FILE`; `-W a,b` are two options."""
    ordered: list[str] = []
    names = False
    for word in rest:
        if word == "-W" and not names:
            names = True
        elif names or (word.startswith("-W") and len(word) > 2):
            ordered += [f"--{name}" for name in word.removeprefix("" if names else "-W").split(",")]
            names = False
        else:
            ordered.append(word)
    return tuple(ordered)


def less(rest: Words, stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read less: with a file to show, standard input may be the terminal that commands come from, as under
    `script`."""
    if stdin.kind != "inherited" and any(word[:1] not in {"-", "+"} for word in rest):
        yield from from_stdin("less", stdin)
