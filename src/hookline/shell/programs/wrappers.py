"""Read programs that run the command in their arguments, and change only how it runs."""

import re
from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Stdin
from hookline.shell.kinds import KINDS
from hookline.shell.options import OptionSpec, read_options
from hookline.shell.placeholders import HOLE, Words

_PART_OF_SPLIT = r"\$\{\w+\}|\\.|."
_ESCAPED = {"_": " ", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}


def setarch(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read setarch: the first operand may be a machine."""
    command = read_options(rest, spec).operands[1:]
    if command:
        yield Inner(command)


def hook_options(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read `--hook EVENT=LINE`, at every sub-command that takes one, and the command of `run`."""
    if rest[:1] == ("run",):
        yield from _run_command(rest[1:])
    for option in read_options(rest, spec).given:
        if option.name == "--hook" and option.value is not None:
            yield from KINDS["line"].found(option.value.partition("=")[2])


def _run_command(rest: Words) -> Iterator[Found]:
    """Find the command of `hookline run`: behind `--`, else behind the options, each of which has a value; with
    `--shell NAME` the words are those of that shell."""
    at, shell = 0, ()
    while at < len(rest) and rest[at].startswith("-") and rest[at] != "--":
        name, equals, value = rest[at].partition("=")
        if name.startswith("--sh"):
            shell = (value,) if equals else rest[at + 1 : at + 2]
        at += 1 if equals or name == "--walls" else 2
    words = rest[at + 1 :] if rest[at : at + 1] == ("--",) else rest[at:]
    if words:
        yield Inner((*shell, *words))


def split_string(rest: Words, spec: OptionSpec) -> Words:
    """Rewrite `env -S 'A=1 rm x' y` to `env A=1 rm x y`: the value is inserted, and may hold another one."""
    for _layer in range(4):
        given = read_options(rest, spec).given
        one = next((one for one in given if one.name in {"-S", "--split-string"}), None)
        if one is None or one.value is None:
            break
        word = rest[one.at]
        glued = word.startswith("--") and "=" in word
        before = () if word.startswith("--") else tuple(f"-{letter}" for letter in word[1 : word.index("S")])
        apart = not glued and not (not word.startswith("--") and word.index("S") < len(word) - 1)
        after = rest[one.at + (2 if apart else 1) :]
        rest = (*rest[: one.at], *before, *_words_of(one.value), *after)
    read = read_options(rest, spec)
    # A dash is -i.
    return (*rest[: read.first], *rest[read.first + 1 :]) if read.operands[:1] == ("-",) else rest


def _words_of(text: str) -> Words:
    """Return the words of env's -S, which has its own escapes and ${NAME}."""
    words: list[list[str]] = []
    quote, inside = "", False
    for part in re.findall(_PART_OF_SPLIT, text, re.DOTALL):
        if not quote and part in {" ", "\t", "\n", "\\_"}:
            inside = False
            continue
        if part == "\\c" or (part == "#" and not inside):
            break
        if not inside:
            words.append([])
            inside = True
        if part == quote or (not quote and part in {"'", '"'}):
            quote = "" if quote else part
        else:
            words[-1].append(_plain_part(part, quote))
    return (HOLE,) if quote else tuple("".join(word) for word in words)


def _plain_part(part: str, quote: str) -> str:
    if quote == "'":
        return part[1:] if part in {"\\'", "\\\\"} else part
    if part[0] == "$":
        return HOLE
    return _ESCAPED.get(part[1:], part[1:]) if part[0] == "\\" and part[1:] else part
