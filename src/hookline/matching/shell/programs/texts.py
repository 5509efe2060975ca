"""Programs that read, sort, change and show text."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.kinds import from_stdin
from hookline.matching.shell.options import OptionSpec


def awk(rest: Words, _spec: OptionSpec) -> Words:
    """`-W exec FILE` is `--exec FILE`, and `-W a,b` are two options."""
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
    """With a file to show, standard input may be the terminal that commands come from, as under `script`."""
    if stdin.kind != "inherited" and any(word[:1] not in {"-", "+"} for word in rest):
        yield from from_stdin("less", stdin)
