"""Make the words of expanded text: split at blanks, with patterns and braces left to the shell."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from hookline.shell.grammar.syntax import Text, Word
from hookline.shell.placeholders import HOLE

#: The origin of a placeholder: `glob` for names of files, `environment` for the environment outside the line,
#: `unknown` for text that the line itself may have made up.
Origin = Literal["", "glob", "environment", "unknown"]

_ORDER: tuple[Origin, ...] = ("", "glob", "environment", "unknown")
#: Unquoted, these make a word into other words.
_ACTIVE = re.compile(r"[*?\[{~]")
_GLOB = re.compile(r"[*?]|\[[^\[\]]*\]")
_BRACES = re.compile(r"\{[^{}]*+\{|\{(?:[^{},.]|\.(?!\.))*+(?:,|\.\.)")
_NUMBERS = re.compile(r"[\w./:=-]*\{\d+\.\.\d+(?:\.\.\d+)?\}[\w./:-]*")
#: A longer word is not checked: no file name is that long, and a pattern of it would cost too much.
_LONGEST_PATTERN = 2048
#: With a sign alone it is an earlier directory. The name of an unknown user stays as it is.
_TILDE = re.compile(r"~[+-]\d*(?=/|$)")
BLANK = re.compile(r"[ \t\n]+")


class ShellField(NamedTuple):
    """One word of a command."""

    text: str
    origin: Origin = ""
    #: The text of the placeholder may hold blanks, and so be several words.
    splits: bool = False


class Piece(NamedTuple):
    text: str
    #: `source` is unquoted text of the line, `value` the result of an unquoted expansion, `break` begins a
    #: new word.
    mode: Literal["quoted", "source", "value", "break"]
    origin: Origin = ""


Fields = tuple[ShellField, ...]
Pieces = tuple[Piece, ...]


def is_active(word: Word) -> bool:
    """Return True if it may become other words than it looks like."""
    return any(isinstance(part, Text) and not part.quoted and _ACTIVE.search(part.text) for part in word)


def worst(origins: Iterable[Origin]) -> Origin:
    return _ORDER[max(map(_ORDER.index, origins), default=0)]


def fields_of_text(part: Text, braces: bool) -> Fields:
    if HOLE in part.text:
        # A line inside a line: the outer one has left a placeholder in its code.
        return fields_of((Piece(part.text, "quoted" if part.quoted else "value", "environment"),), braces)
    if part.quoted or _ACTIVE.search(part.text) is None:
        return (ShellField(part.text),)
    return fields_of((Piece(part.text, "source"),), braces)


def fields_of(pieces: Pieces, braces: bool, separators: re.Pattern[str] | None = BLANK) -> Fields:
    """Split the results of expansions at blanks, and mark patterns."""
    source = "".join(piece.text for piece in pieces if piece.mode == "source")
    if "[" in source and len(pieces) > 1 and _GLOB.search(source):
        pieces = tuple(_patterns_with_quotes(pieces))
    if braces and "{" in source:
        if len(source) > _LONGEST_PATTERN:
            return (ShellField(HOLE, "unknown", splits=True),)
        if _NUMBERS.fullmatch(source):
            return (ShellField(HOLE, "glob"),)
        if _BRACES.search(source):
            return _alternatives(pieces, source, separators)
    return _Splitter(separators).split(pieces)


def _patterns_with_quotes(pieces: Pieces) -> Iterator[Piece]:
    """Handle `r['m']`: the text between brackets, quotes and all, is one sign of a pattern."""
    opened = False
    for piece in pieces:
        if not opened:
            before, bracket, _ = (
                piece.text.rpartition("[") if piece.mode == "source" else (piece.text, "", "")
            )
            opened = bool(bracket) and "]" not in piece.text[len(before) :]
            yield piece._replace(text=before) if opened else piece
            if opened:
                yield Piece(HOLE, "quoted", "glob")
        elif piece.mode == "source" and "]" in piece.text:
            opened = False
            yield piece._replace(text=piece.text.partition("]")[2])


def _alternatives(pieces: Pieces, source: str, separators: re.Pattern[str] | None) -> Fields:
    """Expand `a{b,c}d`, also with something else glued to it. With more than one pair of braces it is left to
    the shell."""
    rest = source.partition("{")[2]
    inside, closed, after = rest.partition("}")
    holder = next((at for at, piece in enumerate(pieces) if "{" in piece.text and piece.mode == "source"), 0)
    whole = closed and "," in inside and "{" not in rest and "}" not in after
    if not whole or f"{{{inside}}}" not in pieces[holder].text:
        return (ShellField(HOLE, "unknown", splits=True),) * (1 if len(pieces) == 1 else 2)
    left, _, right = pieces[holder].text.partition(f"{{{inside}}}")
    found: list[ShellField] = []
    for each in inside.split(","):
        chosen = Piece(left + each + right, "source")
        word = (*pieces[:holder], *((chosen,) if chosen.text else ()), *pieces[holder + 1 :])
        found += _Splitter(separators).split(word) if word else ()
    return tuple(found)


class _Splitter:
    def __init__(self, separators: re.Pattern[str] | None) -> None:
        self._separators = separators
        self._found: list[ShellField] = []
        self._text: list[str] = []
        self._origins: list[Origin] = []
        self._begun = False
        self._splits = False

    def split(self, pieces: Pieces) -> Fields:
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

    def _value(self, piece: Piece) -> None:
        if self._separators is None and piece.text:
            piece = Piece(HOLE, "value", "unknown")
        parts = (self._separators or BLANK).split(piece.text)
        for at, text in enumerate(parts):
            if at:
                self._end()
            if text:
                known, origin = _without_patterns(text, first=False)
                self._add(known, worst((piece.origin if HOLE in text else "", origin)))
                self._splits = self._splits or HOLE in text

    def _add(self, text: str, origin: Origin = "") -> None:
        self._begun = True
        self._text.append(text)
        self._origins.append(origin)

    def _end(self) -> None:
        if self._begun:
            text = "".join(self._text)
            while HOLE + HOLE in text:
                text = text.replace(HOLE + HOLE, HOLE)  # two that are glued are one
            self._found.append(ShellField(text, worst(self._origins), self._splits))
        self._text, self._origins, self._begun, self._splits = [], [], False, False


def _without_patterns(text: str, first: bool) -> tuple[str, Origin]:
    """Replace patterns for names of files by placeholders."""
    if len(text) > _LONGEST_PATTERN and _ACTIVE.search(text):
        return HOLE, "unknown"
    known = _GLOB.sub(HOLE, text)
    if first and known[:1] == "~":
        known = _TILDE.sub(HOLE, known, count=1) if _TILDE.match(known) else known
    return known, "glob" if known != text else ""
