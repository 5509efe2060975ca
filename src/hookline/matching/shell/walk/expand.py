"""Words as the shell would make them: quotes removed, variables filled in where the line shows what they hold.

What it does not show becomes a hole. A word may become several words, or none; and where a variable may hold several
values, a word is several alternatives.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple

from hookline.matching.shell.environment import CONVENTION
from hookline.matching.shell.grammar.syntax import (
    Arithmetic,
    List,
    Node,
    Parameter,
    Part,
    Redirect,
    Simple,
    Substitution,
    Text,
    Word,
)
from hookline.matching.shell.holes import HOLE
from hookline.matching.shell.walk.variables import Elements, Variables, first_text, plain

#: How many values of variables are followed in one word.
MOST_ALTERNATIVES = 8
#: How often the value of a variable is looked for in another variable.
_DEEPEST = 6

#: Where a hole comes from. Names of files are `glob`; the environment outside the line is `environment`; `unknown`
#: is all that the line itself may have made up.
Origin = Literal["", "glob", "environment", "unknown"]

_ORDER: tuple[Origin, ...] = ("", "glob", "environment", "unknown")
#: Unquoted, these make a word into other words.
_ACTIVE = re.compile(r"[*?\[{~]")
_GLOB = re.compile(r"[*?]|\[[^\[\]]*\]")
_BRACES = re.compile(r"\{[^{}]*+\{|\{(?:[^{},.]|\.(?!\.))*+(?:,|\.\.)")
_NUMBERS = re.compile(r"[\w./:=-]*\{\d+\.\.\d+(?:\.\.\d+)?\}[\w./:-]*")
#: A longer word is not looked into: a name of a file has no such length, and a pattern of it would cost too much.
_LONGEST_PATTERN = 2048
_TILDE = re.compile(r"~[^/]+")
#: Variables that bash gives values of its own, whatever is assigned to them.
_OF_THE_SHELL = frozenset(
    (
        "FUNCNAME", "GROUPS", "DIRSTACK", "PIPESTATUS", "BASH_ARGV", "BASH_ARGC", "BASH_ARGV0", "BASH_LINENO",
        "BASH_SOURCE", "BASH_COMMAND", "BASH_SUBSHELL", "BASHPID", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "PPID",
        "UID", "EUID", "EPOCHSECONDS", "EPOCHREALTIME", "HISTCMD", "OPTIND", "SHELLOPTS", "BASHOPTS", "COLUMNS",
        "LINES", "BASH_VERSINFO", "COMP_WORDBREAKS",
    )
)  # fmt: skip
#: What ~, ~+ and ~- are.
_HOMES = ("HOME", "PWD", "OLDPWD")
_BLANK = re.compile(r"[ \t\n]+")
#: Commands that print the path of the program they are given.
_PATH_OF = (("which",), ("command", "-v"), ("type", "-p"), ("type", "-P"))
_PROGRAM_NAME = re.compile(r"\w[\w.+-]*")
#: Commands that print one absolute path and nothing else.
_PRINTS_PATH = frozenset(
    (
        "pwd", "pwd -P", "git rev-parse --show-toplevel", "npm root", "npm bin", "npm prefix", "npm root -g",
        "brew --prefix", "go env GOPATH", "go env GOROOT", "go env GOBIN", "yarn bin", "pnpm bin", "mktemp",
        "mktemp -d", "gem env home", "python -m site --user-base", "python3 -m site --user-base",
    )
)  # fmt: skip


class Field(NamedTuple):
    """One word of a command."""

    text: str
    origin: Origin = ""
    #: What fills the hole may hold blanks, and so be several words.
    splits: bool = False


class _Piece(NamedTuple):
    text: str
    #: `source` is unquoted text of the line, `value` what an unquoted expansion gives, `break` begins a new word.
    mode: Literal["quoted", "source", "value", "break"]
    origin: Origin = ""


Fields = tuple[Field, ...]
_Pieces = tuple[_Piece, ...]
_UNKNOWN = _Piece(HOLE, "quoted", "unknown")
_BREAK = _Piece("", "break")


class Expander:
    """`positional` are the arguments of the line itself, where they are known; `assured` the variables that have been
    assigned for sure. `braces`: it is a shell that expands them."""

    def __init__(
        self, variables: Variables, positional: Sequence[str] | None, assured: set[str], braces: bool = True
    ) -> None:
        self._variables = variables
        self._braces = braces
        self._positional = positional
        self.assured = assured
        self._depth = 0

    def replaced(self, program: str) -> bool:
        """Whether the line makes something that may run instead of this program."""
        return self._variables.may_replace(program)

    def forget_arguments(self) -> None:
        """After `set` and `shift` the arguments are others."""
        self._positional = None

    def fields(self, word: Word) -> list[Fields]:
        """The alternatives of a word; each is the words that it becomes."""
        if len(word) == 1 and isinstance(word[0], Text) and not self._moves_home(word[0]):
            return [_fields_of_text(word[0], self._braces)]
        separators = self._separators()
        alternatives = self._pieces(word)
        if any(piece.mode == "value" and piece.text for pieces in alternatives for piece in pieces):
            # Should code that is read later change it, the words would be others.
            self._variables.used.add("IFS")
        return list(dict.fromkeys(_fields(pieces, self._braces, separators) for pieces in alternatives))

    def _separators(self) -> re.Pattern[str] | None:
        """What unquoted values are split at; None where only the shell knows."""
        if not self._variables.may_change("IFS"):
            return _BLANK
        known: set[str] = set()
        for value in self._variables.values.get("IFS", ()):
            texts = [plain(word) for word in value]
            if None in texts:
                return None
            known.update("".join(text or "" for text in texts))
        return (
            None if self._variables.any_name else re.compile(f"[ \t\n{re.escape(''.join(sorted(known)))}]+")
        )

    def texts(self, word: Iterable[Part]) -> list[tuple[str, Origin]]:
        """The alternatives of a word that is not split: the value of an assignment, a here-document."""
        found: dict[tuple[str, Origin], None] = {}
        for pieces in self._pieces(tuple(word)):
            found["".join(piece.text for piece in pieces), _worst(piece.origin for piece in pieces)] = None
        return list(found)

    def _pieces(self, word: Word) -> list[_Pieces]:
        every = [self._part(part) for part in word]
        count = 1
        for at, each in enumerate(every):
            count *= len(each)
            if count > MOST_ALTERNATIVES:
                mode = "quoted" if getattr(word[at], "quoted", True) else "value"
                every[at] = [(_Piece(HOLE, mode, "unknown"),)]
                count //= len(each)
        return [tuple(piece for part in parts for piece in part) for parts in product(*every)]

    def _part(self, part: Part) -> list[_Pieces]:
        if isinstance(part, Text):
            if self._moves_home(part):
                # What begins with ~ may be any text. Whether the ~ begins something does not count.
                return [(_Piece(part.text.replace("~", HOLE), "quoted", "unknown"),)]
            origin: Origin = "environment" if HOLE in part.text else ""
            return [(_Piece(part.text, "quoted" if part.quoted else "source", origin),)]
        if isinstance(part, Parameter):
            return self._parameter(part)
        if isinstance(part, Arithmetic):
            return [(_Piece(HOLE, "quoted", "environment"),)]
        return [(self._output(part),)]

    def _moves_home(self, part: Text) -> bool:
        return "~" in part.text and not part.quoted and any(map(self._variables.may_change, _HOMES))

    # Parameters

    def _parameter(self, part: Parameter) -> list[_Pieces]:
        mode: Literal["quoted", "value"] = "quoted" if part.quoted else "value"
        if part.name == "" or part.indirect or part.name in {"", "_"}:
            return [(_Piece(HOLE, mode, "unknown"),)]
        if part.name in "#?$!-0" or (part.operator == "#" and not part.word):
            return [(_Piece(HOLE, "quoted", "environment"),)]
        if part.operator in {":-", "-", ":=", "="}:
            return _unique([*self._values(part, mode, absent=False), *self._default(part)])
        if part.operator in {":+", "+"}:
            return _unique([(_Piece("", mode),), *self._default(part)])
        if part.operator in {"", ":?", "?"}:
            return self._values(part, mode, absent=True)
        origin: Origin = "unknown" if self._assigned(part.name) else "environment"
        return [(_Piece(HOLE, mode, origin),)]

    def _assigned(self, name: str) -> bool:
        return name.isdigit() or name in "@*" or self._variables.may_change(name)

    def _default(self, part: Parameter) -> list[_Pieces]:
        pieces = self._pieces(part.word)
        if part.quoted:
            return [tuple(piece._replace(mode="quoted") for piece in each) for each in pieces]
        return [
            tuple(piece._replace(mode="value") if piece.mode == "source" else piece for piece in each)
            for each in pieces
        ]

    def _values(self, part: Parameter, mode: Literal["quoted", "value"], absent: bool) -> list[_Pieces]:
        """What a variable may hold. `absent`: also that it may not be there at all."""
        name = part.name
        if name.isdigit() or name in "@*":
            return self._arguments(part, mode)
        if not self._variables.may_change(name):
            return [(_Piece(HOLE, mode, "environment"),)] if absent or name in CONVENTION else []
        self._variables.used.add(name)
        if self._variables.any_name or self._depth >= _DEEPEST or name in _OF_THE_SHELL:
            return [(_Piece(HOLE, mode, "unknown"),)]
        self._depth += 1
        found: list[_Pieces] = []
        for value in self._variables.values.get(name, ())[: MOST_ALTERNATIVES + 1]:
            found.extend(self._value(value, part, mode))
        for word in self._variables.loops.get(name, ())[: MOST_ALTERNATIVES + 1]:
            every = (field for fields in self.fields(word) for field in fields)
            found.extend((_Piece(field.text, mode, field.origin),) for field in every)
        self._depth -= 1
        if absent and (name not in self.assured or self._variables.may_fail):
            found.append((_Piece("", mode),))
        if name in CONVENTION and name not in self.assured:
            found.append((_Piece(HOLE, mode, "environment"),))
        return _unique(found) if len(found) <= MOST_ALTERNATIVES else [(_Piece(HOLE, mode, "unknown"),)]

    def _value(
        self, value: tuple[Word, ...], part: Parameter, mode: Literal["quoted", "value"]
    ) -> list[_Pieces]:
        which = None if part.subscript is None else plain(part.subscript)
        if part.subscript is None:
            value = value if isinstance(value, Elements) else value[:1] or ((),)
        elif which not in {"@", "*"}:
            return (
                [(_Piece(HOLE, mode, "unknown"),)]
                if len(value) > 1 or which != "0"
                else self._value(value, part._replace(subscript=None), mode)
            )
        if isinstance(value, Elements) and part.subscript is None:
            firsts = [fields[0] if fields else Field("") for fields in self.fields(value[0] if value else ())]
            return [(_Piece(field.text, mode, field.origin),) for field in firsts]
        if len(value) == 1 and part.subscript is None:
            return [(_Piece(text, mode, origin),) for text, origin in self.texts(value[0])]
        if which == "*" and self._variables.may_change("IFS"):
            return [(_Piece(HOLE, mode, "unknown"),)]
        pieces: list[_Piece] = []
        for word in value:
            alternatives = self.fields(word)
            if len(alternatives) > 1:
                return [(_Piece(HOLE, mode, "unknown"),)]
            for field in alternatives[0]:
                pieces += [_BREAK] if pieces else []
                pieces.append(_Piece(field.text, mode, field.origin))
        return [tuple(pieces)]

    def _arguments(self, part: Parameter, mode: Literal["quoted", "value"]) -> list[_Pieces]:
        known = self._positional
        if known is None or part.operator:
            return [(_Piece(HOLE, "value" if part.name in "@*" else mode, "unknown"),)]
        if part.name.isdigit():
            at = int(part.name)
            return [(_Piece(known[at] if at < len(known) else "", mode),)]
        if part.name == "*" and self._variables.may_change("IFS"):
            return [(_Piece(HOLE, mode, "unknown"),)]
        pieces: list[_Piece] = []
        for text in known[1:]:
            pieces += [_BREAK] if pieces else []
            pieces.append(_Piece(text, mode))
        return [tuple(pieces)]

    # What a command prints, where that is plain

    def _output(self, part: Substitution) -> _Piece:
        mode: Literal["quoted", "value"] = "quoted" if part.quoted else "value"
        if part.direction:
            return _Piece(HOLE, "quoted", "environment")
        printed = self._printed(part.body)
        return (
            _Piece(printed, mode, "environment" if HOLE in printed else "")
            if printed
            else _Piece(HOLE, mode, "unknown")
        )

    def _printed(self, body: List) -> str:
        commands = [item.node for item in body.items]
        last = commands[-1] if commands else None
        if not isinstance(last, Simple) or not last.words or last.assignments:
            return ""
        if not all(map(_keeps_output, last.redirects)):
            return ""
        words = tuple("" if _is_active(word) else plain(word) or "" for word in last.words)
        printed = self._printed_by(words, len(commands) > 1)
        if printed and not self.replaced(words[0]) and all(map(self._only_moves, commands[:-1])):
            return printed
        return ""

    def _printed_by(self, words: tuple[str, ...], moved: bool) -> str:
        if " ".join(words) in _PRINTS_PATH:
            return "/" + HOLE
        if moved or not all(words):
            return ""
        if words[0] in {"echo", "printf"} and len(words) == 2 and not set(words[1]) & set("\\%-{"):
            return words[1]
        return words[-1] if words[:-1] in _PATH_OF and _PROGRAM_NAME.fullmatch(words[-1]) else ""

    def _only_moves(self, node: Node) -> bool:
        """`cd "$(dirname "$0")"`."""
        moves = isinstance(node, Simple) and bool(node.words) and plain(node.words[0]) == "cd"
        return moves and not self.replaced("cd")


def _keeps_output(redirect: Redirect) -> bool:
    """Whether what a command prints still goes where it went: `2>/dev/null`, `2>&1`."""
    errors = redirect.number == "2" and redirect.operator in {">", ">&"}
    return errors and first_text(redirect.target) in {"/dev/null", "1"}


def _is_active(word: Word) -> bool:
    """Whether it may become other words than it looks like."""
    return any(isinstance(part, Text) and not part.quoted and _ACTIVE.search(part.text) for part in word)


def _unique(found: list[_Pieces]) -> list[_Pieces]:
    return list(dict.fromkeys(found))


def _worst(origins: Iterable[Origin]) -> Origin:
    return _ORDER[max(map(_ORDER.index, origins), default=0)]


def _fields_of_text(part: Text, braces: bool) -> Fields:
    if HOLE in part.text:
        # A line inside a line: the outer one has left a hole in its code.
        return _fields((_Piece(part.text, "quoted" if part.quoted else "value", "environment"),), braces)
    if part.quoted or _ACTIVE.search(part.text) is None:
        return (Field(part.text),)
    return _fields((_Piece(part.text, "source"),), braces)


def _fields(pieces: _Pieces, braces: bool, separators: re.Pattern[str] | None = _BLANK) -> Fields:
    """Splits what expansions gave at blanks, and marks what is a pattern."""
    source = "".join(piece.text for piece in pieces if piece.mode == "source")
    if "[" in source and len(pieces) > 1 and _GLOB.search(source):
        pieces = tuple(_patterns_with_quotes(pieces))
    if braces and "{" in source:
        if len(source) > _LONGEST_PATTERN:
            return (Field(HOLE, "unknown", splits=True),)
        if _NUMBERS.fullmatch(source):
            return (Field(HOLE, "glob"),)
        if _BRACES.search(source):
            return _alternatives(source) if len(pieces) == 1 else (Field(HOLE, "unknown", splits=True),)
    return _Splitter(separators).split(pieces)


def _patterns_with_quotes(pieces: _Pieces) -> Iterator[_Piece]:
    """`r['m']`: what is between brackets, quotes and all, is one sign of a pattern."""
    opened = False
    for piece in pieces:
        if not opened:
            before, bracket, _ = (
                piece.text.rpartition("[") if piece.mode == "source" else (piece.text, "", "")
            )
            opened = bool(bracket) and "]" not in piece.text[len(before) :]
            yield piece._replace(text=before) if opened else piece
            if opened:
                yield _Piece(HOLE, "quoted", "glob")
        elif piece.mode == "source" and "]" in piece.text:
            opened = False
            yield piece._replace(text=piece.text.partition("]")[2])


def _alternatives(source: str) -> Fields:
    """`a{b,c}d`. With more than one pair of braces it is left to the shell."""
    before, _, rest = source.partition("{")
    inside, closed, after = rest.partition("}")
    if not closed or "," not in inside or "{" in rest or "}" in after:
        return (Field(HOLE, "unknown", splits=True),)
    words = (before + each + after for each in inside.split(","))
    return tuple(
        field for word in words if word for field in _Splitter(_BLANK).split((_Piece(word, "source"),))
    )


class _Splitter:
    def __init__(self, separators: re.Pattern[str] | None) -> None:
        self._separators = separators
        self._found: list[Field] = []
        self._text: list[str] = []
        self._origins: list[Origin] = []
        self._begun = False
        self._splits = False

    def split(self, pieces: _Pieces) -> Fields:
        for piece in pieces:
            if piece.mode == "break":
                self._end()
            elif piece.mode == "value":
                self._value(piece)
            elif piece.mode == "source":
                self._add(*_without_patterns(piece.text, first=not self._begun))
            else:
                self._add(piece.text, piece.origin)
        self._end()
        return tuple(self._found)

    def _value(self, piece: _Piece) -> None:
        if self._separators is None and piece.text:
            piece = _Piece(HOLE, "value", "unknown")
        parts = (self._separators or _BLANK).split(piece.text)
        for at, text in enumerate(parts):
            if at:
                self._end()
            if text:
                known, origin = _without_patterns(text, first=False)
                self._add(known, _worst((piece.origin if HOLE in text else "", origin)))
                self._splits = self._splits or HOLE in text

    def _add(self, text: str, origin: Origin = "") -> None:
        self._begun = True
        self._text.append(text)
        self._origins.append(origin)

    def _end(self) -> None:
        if self._begun:
            self._found.append(Field("".join(self._text), _worst(self._origins), self._splits))
        self._text, self._origins, self._begun, self._splits = [], [], False, False


def _without_patterns(text: str, first: bool) -> tuple[str, Origin]:
    """With holes in place of patterns for names of files."""
    if len(text) > _LONGEST_PATTERN and _ACTIVE.search(text):
        return HOLE, "unknown"
    known = _GLOB.sub(HOLE, text)
    if first and known[:1] == "~":
        known = _TILDE.sub(HOLE, known, count=1) if _TILDE.match(known) else known
    return known, "glob" if known != text else ""
