"""Make up shell lines at random that run `rm y`, if the shells do what their manuals say.

A production (`bench.shell_productions`) is a template in which a slot stands for a smaller piece of the same kind:

    {n}  the name of the program, in one of its spellings     {w}  the words of a simple command
    {c}  a line                                               {q}  a line, quoted as one word
    {b}  a line inside backquotes                             {h}  a line in an unquoted here-document

and, quoted as one word, code of another language that runs a line: {P} Python, {L} Perl, {A} awk, {S} sed, {M} a
makefile, {E} ed, {G} a git alias, {V} an arithmetic value. The families are those a reader has to know about.
"""

import random
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from bench.shell_productions import COMMANDS, LINES, NAMES

#: Productions that take so long that there are fewer of them.
_SLOW = ("gdb", "watch", "timeit", "--compress-program", "script, watch", "rebase")
_SLOT = re.compile(r"\{([ncwqbhPLASMEGV])\}")


class Made(Struct, frozen=True):
    line: str
    #: Each family in it, with the production alone around the plain command.
    uses: tuple[tuple[str, str], ...]


class Grammar:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._uses: dict[tuple[str, str], None] = {}
        self._commands = _flat(COMMANDS)
        self._lines = _flat(LINES)

    def make(self) -> Made:
        self._uses = {}
        line = self._line(self._chance.choice((1, 1, 2, 2, 3, 4)))
        return Made(line, tuple(self._uses))

    def around(self, code: str) -> Made:
        """A production around a line from elsewhere."""
        self._uses = {}
        family, template = self._chance.choice(self._lines)
        return Made(self._filled(family, template, lambda _kind, _depth: code, 0), tuple(self._uses))

    def name(self) -> str:
        return "rm" if self._chance.random() < 0.7 else self._chance.choice(NAMES)

    def _line(self, depth: int) -> str:
        if depth == 0:
            return f"{self.name()} y"
        if self._chance.random() < 0.4:
            return self._words(depth)
        return self._from(self._lines, depth)

    def _words(self, depth: int) -> str:
        return f"{self.name()} y" if depth == 0 else self._from(self._commands, depth)

    def _from(self, table: list[tuple[str, str]], depth: int) -> str:
        family, template = self._chance.choice(table)
        if any(slow in template for slow in _SLOW) and self._chance.random() < 0.8:
            return self._from(table, depth)
        return self._filled(family, template, self._piece, depth)

    def _piece(self, kind: str, depth: int) -> str:
        return self._words(depth) if kind == "w" else self._line(depth)

    def _filled(self, family: str, template: str, piece: Callable[[str, int], str], depth: int) -> str:
        self._uses[family, alone(template)] = None

        def fill(found: re.Match[str]) -> str:
            kind = found[1]
            if kind == "n":
                return self.name()
            return self._in_its_place(kind, piece(kind, max(depth - 1, 0)))

        return _SLOT.sub(fill, template)

    def _in_its_place(self, kind: str, code: str) -> str:
        if kind in _PLACED:
            return _PLACED[kind](code)
        if kind in _LANGUAGES:
            code = _LANGUAGES[kind](code)
        return quoted(code, self._chance)


def _flat(table: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """Every family is as likely as every other, however many productions it has."""
    most = max(len(templates) for templates in table.values())
    return [
        (family, templates[at % len(templates)])
        for family, templates in table.items()
        for at in range(-(-most // len(templates)) * len(templates))
    ]


def alone(template: str) -> str:
    """The production around nothing but the plain command, plainly quoted."""

    def fill(found: re.Match[str]) -> str:
        kind = found[1]
        if kind == "n":
            return "rm"
        if kind in _PLACED:
            return _PLACED[kind]("rm y")
        return _single(_LANGUAGES.get(kind, str)("rm y"))

    return _SLOT.sub(fill, template)


def _single(code: str) -> str:
    return "'" + code.replace("'", "'\\''") + "'"


def _double(code: str) -> str:
    return '"' + re.sub(r'([\\$`"])', r"\\\1", code) + '"'


def _ansi(code: str) -> str:
    return "$'" + code.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _hidden(code: str) -> str:
    return "$'" + "".join(f"\\x{ord(sign):02x}" if ord(sign) < 128 else sign for sign in code) + "'"


def _escaped(code: str) -> str:
    return re.sub(r"([^\w\n])", r"\\\1", code).replace("\n", "'\n'")


_STYLES: tuple[Callable[[str], str], ...] = (
    _single,
    _single,
    _single,
    _double,
    _double,
    _ansi,
    _escaped,
    _hidden,
)


def quoted(code: str, chance: random.Random) -> str:
    """As one word, in one of the ways to quote, or in two."""
    if not code or chance.random() < 0.85:
        return chance.choice(_STYLES)(code)
    at = chance.randrange(len(code))
    return chance.choice(_STYLES)(code[:at]) + chance.choice(_STYLES)(code[at:])


def _string(code: str) -> str:
    return '"' + code.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


#: How a line is written where it is not quoted as a word.
_PLACED: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "c": str,
        "w": lambda code: code if _SIMPLE.fullmatch(code) else f"sh -c {_single(code)}",
        "b": lambda code: re.sub(r"([\\`])", r"\\\1", code),
        "h": lambda code: re.sub(r"([\\$`])", r"\\\1", code),
    }
)
_SIMPLE = re.compile(r"[^;&|()<>\n#`!{}]*")
_LANGUAGES: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "P": lambda code: f"import os; os.system({_string(code)})",
        "L": lambda code: (
            f"system {_single(code)}" if "'" not in code else f"exec 'sh', '-c', q\x01{code}\x01"
        ),
        "A": lambda code: f"BEGIN{{system({_string(code)})}}",
        "S": lambda code: f"1e {code}".replace("\n", " "),
        "M": lambda code: f"x:;{code}".replace("$", "$$").replace("\n", " "),
        "E": lambda code: f"!{code}".replace("\n", " "),
        "G": lambda code: f"!{code}",
        "V": lambda code: f"a[$({code})]",
    }
)
