"""TOML as most people write it: headers, and keys with a text, a number, a flag or a list of texts on one line each.

It is read here with its lines, without `tomllib`, which takes as long to load as all other parts of a call of
`hookline hook` take to run. A test holds this to what `tomllib` reads; any other line is left to it, also mistakes.
"""

from typing import Any, cast

from hookline.documents.document import Reading, refuse_excess
from hookline.model.diagnostics import Path

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_DIGITS = frozenset("0123456789")
_LONGEST_NUMBER = 15
_MOST_LINES = 1000

Table = dict[str, Any]


class _LeftAloneError(Exception):
    """A line that is not as plain as that."""


def read(text: str) -> Reading:
    """Any TOML. Raises `SyntaxProblem`."""
    plain = read_plain_toml(text)
    if plain is None:
        from hookline.documents import toml_text  # noqa: PLC0415 see above

        return toml_text.read(text)
    refuse_excess(plain.value)
    return Reading(plain.value, (), lambda: plain.lines)


def read_plain_toml(text: str) -> "PlainToml | None":
    """None where it has to be read in full."""
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        return None
    reader = PlainToml()
    try:
        for number, line in enumerate(lines, 1):
            reader.read(line, number)
    except _LeftAloneError:
        return None
    return reader


class PlainToml:
    """What was read so far: the value, and the line of each path in it."""

    def __init__(self) -> None:
        self.value: Table = {}
        self.lines: dict[Path, int] = {}
        self._table, self._path = self.value, cast("Path", ())
        #: Arrays of tables, by their paths.
        self._arrays: set[Path] = set()

    def read(self, line: str, number: int) -> None:
        if line[:1] == "[":
            self._header(line, number)
        elif line and line[0] != "#":
            name, equals, written = line.partition(" = ")
            if not equals or not _is_bare(name) or name in self._table:
                raise _LeftAloneError
            path = (*self._path, name)
            self._table[name] = value = _value(written)
            self.lines[path] = number
            if isinstance(value, list):
                self.lines |= {(*path, index): number for index in range(len(cast("list[str]", value)))}
        elif not line.isprintable():
            raise _LeftAloneError

    def _header(self, line: str, number: int) -> None:
        """A new table of an array, or a new table; everything on its way is there or is made."""
        double = line[:2] == "[["
        names = (line[2:-2] if double else line[1:-1]).split(".")
        if line != ("[[{}]]" if double else "[{}]").format(".".join(names)) or not all(map(_is_bare, names)):
            raise _LeftAloneError
        table, path = self.value, cast("Path", ())
        for name in names[:-1]:
            table, path = self._entered(table, path, name, number)
        name = names[-1]
        path = (*path, name)
        if double:
            if name in table and path not in self._arrays:
                raise _LeftAloneError
            self._arrays.add(path)
            self.lines.setdefault(path, number)
            array: list[Table] = table.setdefault(name, [])
            path, table = (*path, len(array)), dict[str, Any]()
            array.append(table)
        elif name in table:
            raise _LeftAloneError
        else:
            table[name] = table = dict[str, Any]()
        self.lines[path] = number
        self._table, self._path = table, path

    def _entered(self, table: Table, path: Path, name: str, number: int) -> tuple[Table, Path]:
        """The newest table of an array, or a table that is made by its first mention."""
        path = (*path, name)
        if path in self._arrays:
            array: list[Table] = table[name]
            return array[-1], (*path, len(array) - 1)
        if name in table:
            if not isinstance(table[name], dict):
                raise _LeftAloneError
        else:
            table[name] = {}
            self.lines[path] = number
        return table[name], path


def _is_bare(name: str) -> bool:
    return bool(name) and _BARE.issuperset(name)


def _value(written: str) -> Any:
    if written in ("true", "false"):
        return written == "true"
    if written[:1] in ('"', "'"):
        return _text(written)
    if written[:1] == "[" and written[-1:] == "]":
        inner = written[1:-1]
        # A comma in a text would split it: its parts are then no texts.
        return [_text(each) for each in inner.split(", ")] if inner else []
    if not written or len(written) > _LONGEST_NUMBER or not _DIGITS.issuperset(written):
        raise _LeftAloneError
    if written[0] == "0" and written != "0":
        raise _LeftAloneError
    return int(written)


def _text(written: str) -> str:
    """A text in quotes without anything that means something else there."""
    quote, text = written[:1], written[1:-1]
    plain = len(written) > 1 and written[-1] == quote and quote in ('"', "'") and quote not in text
    if not plain or "\\" in text or not text.isprintable():
        raise _LeftAloneError
    return text
