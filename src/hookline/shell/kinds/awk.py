"""Read programs of awk: what they run by system(), pipes and getline, and what they write."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from hookline.shell.found import Foreign, Found, Line, ShellDoubt
from hookline.shell.placeholders import HOLE, Words

_PART = (
    r"(?P<blank>[ \t\r]+|\\\n|\#[^\n]*)|\"(?P<text>(?:[^\"\\]|\\.)*+)\"|(?P<word>\w+)"
    r"|(?P<sign>\\.|\|\||\|&|&&|>>|>=|<=|==|!=|.|\n)"
)
#: After these a slash begins a regular expression; elsewhere it divides.
_BEFORE_REGEX = frozenset(
    (
        "", "(", ",", "{", "}", ";", "\n", "!", "~", "&&", "||", "|", "?", ":", "=", "==", "!=", "<", ">", "<=", ">=",
        "print", "printf", "return", "in", "case",
    )
)  # fmt: skip
_MOST_TOKENS = 5000
_ENDS = frozenset(("", ";", "\n", "}", ")"))
_STARTS = frozenset(("", ";", "\n", "{", "}", "(", "while", "!", "&&", "||", "if"))
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_QUIET_FILES = frozenset(("/dev/stdout", "/dev/stderr", "/dev/null"))


class _Token(NamedTuple):
    #: `text`, `word`, `sign` or `regex`; empty past the ends.
    kind: str = ""
    text: str = ""


def found(program: str) -> Iterator[Found]:
    """Yield the lines that it runs, where they are plain texts; doubt where they are put together."""
    if program == HOLE:
        yield ShellDoubt("a program of awk is put together at run time")
        return
    tokens = [*islice(_tokens(program), _MOST_TOKENS), _Token()]
    doubtful = len(tokens) > _MOST_TOKENS
    for at, token in enumerate(tokens):
        if token.kind == "word" and token.text == "system":
            line = _argument(tokens, at + 1)
        elif token.kind == "sign" and token.text in {"|", "|&"}:
            line = _piped(tokens, at)
        elif token.kind == "sign" and token.text == "@":
            line = None
        else:
            continue
        if line is None or HOLE in line:
            doubtful = True
        else:
            yield Line(line, fed=token.text != "system" and tokens[at + 1].text != "getline")
    if doubtful:
        yield Foreign(program)
        yield ShellDoubt("a program of awk puts together what it runs")


def beyond(program: str) -> bool:
    """Return True if it runs programs or writes files."""
    return any(True for _ in found(program)) or not _QUIET_FILES.issuperset(files(program)[1])


def runs(program: str) -> bool:
    """Return True if it may run programs."""
    return any(
        token.text in {"|", "|&", "@"} if token.kind == "sign" else token == ("word", "system")
        for token in _tokens(program)
    )


def files(program: str) -> tuple[Words, Words]:
    """Return the files that it reads by getline, and those that it prints into."""
    tokens = [*_tokens(program), _Token(), _Token()]
    reads: list[str] = []
    writes: list[str] = []
    # In a print statement `>` is a redirection, elsewhere and in parentheses a comparison.
    prints = gets = False
    depth = 0
    for at, token in enumerate(tokens):
        sign = token.text if token.kind == "sign" else ""
        if token.kind == "word" and token.text in {"print", "printf"}:
            prints, depth = True, 0
        elif token == ("word", "getline"):
            gets = True
        elif sign and sign in ";\n{}":
            prints = gets = False
        elif (sign == "<" and gets) or (sign in {">", ">>"} and prints and depth <= 0):
            target, after = tokens[at + 1 : at + 3]
            plain = target.kind == "text" and "\\" not in target.text and after.text in _ENDS
            (reads if sign == "<" else writes).append(target.text if plain else HOLE)
            gets = gets and sign != "<"
        depth += (sign == "(") - (sign == ")")
    return tuple(reads), tuple(writes)


def _argument(tokens: list[_Token], at: int) -> str | None:
    """Return the one plain text between brackets."""
    inside = tokens[at : at + 3]
    if len(inside) == 3 and (inside[0].text, inside[1].kind, inside[2].text) == ("(", "text", ")"):
        return _plain(inside[1].text)
    return None


def _piped(tokens: list[_Token], at: int) -> str | None:
    """Handle `print | "sort"` and `"date" | getline`."""
    after = tokens[at + 1]
    if after == ("word", "getline"):
        before = tokens[at - 1] if at else _Token()
        earlier = tokens[at - 2].text if at > 1 else ""
        return _plain(before.text) if before.kind == "text" and earlier in _STARTS else None
    if after.kind == "text" and tokens[at + 2].text in _ENDS:
        return _plain(after.text)
    return None


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], HOLE), text, flags=re.DOTALL)


def _tokens(program: str) -> Iterator[_Token]:
    at, last, part = 0, "", re.compile(_PART, re.DOTALL)
    while at < len(program):
        if program[at] == "/" and (last in _BEFORE_REGEX):
            end = _end_of_regex(program, at + 1)
            if end > 0:
                yield _Token("regex", program[at:end])
                at, last = end, "/"
                continue
        match = part.match(program, at)
        if match is None:
            return
        at = match.end()
        if match["blank"] is not None:
            continue
        kind = match.lastgroup or "sign"
        last = match[kind] if kind != "text" else '"'
        yield _Token(kind, match[kind])


def _end_of_regex(program: str, at: int) -> int:
    while at < len(program) and program[at] != "\n":
        if program[at] == "\\":
            at += 2
        elif program[at] == "/":
            return at + 1
        else:
            at += 1
    return -1
