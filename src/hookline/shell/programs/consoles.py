"""Read editors, debuggers and database shells: each can run a line of shell."""

from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Line, Stdin
from hookline.shell.options import OptionSpec, read_options, valued
from hookline.shell.placeholders import Words


def vim_ordered(rest: Words, _spec: OptionSpec) -> Words:
    """Rewrite `+COMMAND` to `-c COMMAND`; `-S` before another option is that of a session."""
    ordered: list[str] = []
    for at, word in enumerate(rest):
        if word.startswith("+") and len(word) > 1:
            ordered.append(f"-c{word[1:]}")
        elif word == "-S" and rest[at + 1 : at + 2] and rest[at + 1].startswith("-"):
            ordered.append("-SSession.vim")
        else:
            ordered.append(word)
    return tuple(ordered)


def gdb(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read the operands: a program that the debugger may run, and its arguments."""
    operands = read_options(rest, spec).operands
    # Words before --args are not run.
    yield from (Inner(operands[at:]) for at in range(min(len(operands), 3)))


def gdb_ordered(rest: Words, spec: OptionSpec) -> Words:
    """Put options first. Long ones take one dash or two; after `--args` all words are operands."""
    end = next(
        (
            at
            for at, word in enumerate(rest)
            if word in {"--args", "-args"} or (word == "--" and not (at and _takes_value(rest[at - 1], spec)))
        ),
        len(rest),
    )
    own = tuple(f"-{word[2:]}" if word.startswith("--") and len(word) > 2 else word for word in rest[:end])
    return (*own, "--", *rest[end + 1 :])


def sqlite_ordered(rest: Words, _spec: OptionSpec) -> Words:
    """Drop the first sign of a word whose second sign is a dash, as sqlite does: `--cmd`, but also `~-cmd`."""
    return tuple(word[1:] if word[1:2] == "-" else word for word in rest)


def _takes_value(word: str, spec: OptionSpec) -> bool:
    """Return True for an option of gdb, in full or abbreviated, whose value is the next word."""
    name = f"-{word.lstrip('-')}"
    return word[:1] == "-" and any(each.startswith(name) for each in valued(spec))


def strace(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read `-o '|LINE'` and `-o '!LINE'`."""
    for target in read_options(rest, spec).values("-o", "--output"):
        if target[:1] in {"|", "!"}:
            yield Line(target[1:], fed=True)
