"""Read TOML configuration: tomllib for the value, our own scan for the lines."""

import re
import tomllib
from collections.abc import Mapping

from msgspec import Struct

from hookline.documents.document import (
    DEPTH,
    Newlines,
    ParseResult,
    SyntaxProblem,
    refuse_excess,
    too_deep,
    too_many,
)
from hookline.model.diagnostics import Path

_PLACE = r" \(at (?:line (\d+), column \d+|end of document)\)$"
_TWICE = ("Cannot overwrite a value", "Cannot declare", "Cannot mutate", "Duplicate inline table key")

_BLANK = r"(?:[ \t\r\n]|#[^\n]*)*+"
_KEY_PART = r"""[ \t]*(?:([A-Za-z0-9_-]+)|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')[ \t]*"""
_STRING = r'"""(?:[^\\]|\\.)*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'"
_PLAIN = r"[^,\]}\n#]*"
#: tomllib keeps every beginning of a dotted key, so a long one costs its square in memory.
_LONG_KEY = r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}"""
#: A bound before parsing, wide because strings may hold these characters: tomllib is slow.
_MARKS = 400_000


def read(text: str) -> ParseResult:
    if text.count(",") + text.count("=") > _MARKS:
        raise too_many(None)
    long_key = re.search(_LONG_KEY, text) if text.count(".") >= DEPTH else None
    if long_key is not None:
        raise too_deep(text.count("\n", 0, long_key.start()) + 1)
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _explained(text, str(error)) from None
    except RecursionError:
        raise too_deep(None) from None
    except ValueError:
        raise SyntaxProblem("a number has too many digits", None) from None
    refuse_excess(value)
    return ParseResult(value, (), lambda: Scan(text.replace("\r\n", "\n")).lines)


def _explained(text: str, problem: str) -> SyntaxProblem:
    place = re.search(_PLACE, problem)
    line = text.count("\n") + 1
    if place is not None:
        problem = problem[: place.start()]
        line = int(place[1]) if place[1] else line
    code = "duplicate-key" if problem.startswith(_TWICE) else "syntax"
    return SyntaxProblem(problem if code != "syntax" else f"it is not valid TOML: {problem}", line, code=code)


class Statement(Struct, frozen=True):
    """A header or a pair of a key and a value."""

    #: The path of the table, or of the value.
    path: Path
    start: int
    end: int
    is_header: bool
    #: The span of each part of its key.
    parts: tuple[tuple[int, int], ...]


class Scan:
    """One pass over a text that is known to be TOML: finds where each key, table and item starts."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Compiled here: most files are never scanned.
        self._blanks, self._key_part = re.compile(_BLANK), re.compile(_KEY_PART)
        self._string, self._plain = re.compile(_STRING, re.DOTALL), re.compile(_PLAIN)
        #: Statements that are not inside the value of another.
        self.statements: list[Statement] = []
        self._parts: list[tuple[int, int]] = []
        self._newlines = Newlines(text)
        self._lines: dict[Path, int] = {}
        #: The number of tables in each array of tables so far.
        self._tables: dict[Path, int] = {}
        base: Path = ()
        position = self._blank(0)
        while position < len(text):
            start, is_header = position, text[position] == "["
            if is_header:
                path, position = self._header(position)
                base, parts = path, tuple(self._parts)
            else:
                keys, _ = self._keys(position)
                path, parts = (*base, *keys), tuple(self._parts)
                position = self._pair(position, base)
            self.statements.append(Statement(path, start, position, is_header, parts))
            position = self._blank(position)

    @property
    def lines(self) -> Mapping[Path, int]:
        return self._lines

    def _blank(self, position: int) -> int:
        found = self._blanks.match(self._text, position)
        return found.end() if found else position

    def _note(self, path: Path, line: int, known: int = 0) -> None:
        """Record the line of every table on the way to a key that has none yet."""
        for length in range(known + 1, len(path) + 1):
            self._lines.setdefault(path[:length], line)

    def _header(self, position: int) -> tuple[Path, int]:
        line = self._newlines.line(position)
        double = self._text.startswith("[[", position)
        brackets = 2 if double else 1
        keys, position = self._keys(position + brackets)
        path = self._resolved(keys[:-1] if double else keys)
        if double:
            array = (*path, keys[-1])
            index = self._tables.get(array, 0)
            self._tables[array] = index + 1
            path = (*array, index)
        self._note(path, line)
        return path, position + brackets

    def _resolved(self, keys: tuple[str, ...]) -> Path:
        """Return the path of a header, through the newest table of each array on its way."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
        return path

    def _keys(self, position: int) -> tuple[tuple[str, ...], int]:
        keys: list[str] = []
        self._parts = []
        while True:
            part = self._key_part.match(self._text, position)
            if part is None:
                return tuple(keys), position + 1
            bare, basic, literal = part.groups()
            keys.append(bare or literal or (_unescaped(basic) if basic else ""))
            self._parts.append(_bare_span(part))
            position = part.end()
            if self._text[position : position + 1] != ".":
                return tuple(keys), position
            position += 1

    def _pair(self, position: int, base: Path) -> int:
        line = self._newlines.line(position)
        keys, position = self._keys(position)
        path = (*base, *keys)
        self._note(path, line, len(base))
        return self._value(self._blank(position + 1), path)

    def _value(self, position: int, path: Path) -> int:
        first = self._text[position : position + 1]
        if first == "[":
            return self._items(position, path)
        if first == "{":
            return self._inline(position, path)
        found = (self._string if first in ("'", '"') else self._plain).match(self._text, position)
        return found.end() if found else position + 1

    def _items(self, position: int, path: Path) -> int:
        position, index = self._blank(position + 1), 0
        while self._text[position : position + 1] not in ("]", ""):
            item = (*path, index)
            self._lines[item] = self._newlines.line(position)
            position = self._after_comma(self._value(position, item))
            index += 1
        return position + 1

    def _inline(self, position: int, path: Path) -> int:
        position = self._blank(position + 1)
        while self._text[position : position + 1] not in ("}", ""):
            position = self._after_comma(self._pair(position, path))
        return position + 1

    def _after_comma(self, position: int) -> int:
        position = self._blank(position)
        return self._blank(position + 1) if self._text[position : position + 1] == "," else position


def _bare_span(part: re.Match[str]) -> tuple[int, int]:
    """Return the span without the blanks around it, with its quotes."""
    written = part[0]
    start = part.start() + len(written) - len(written.lstrip(" \t"))
    return start, start + len(written.strip(" \t"))


def _unescaped(basic: str) -> str:
    if "\\" not in basic:
        return basic
    return tomllib.loads(f'k = "{basic}"')["k"]
