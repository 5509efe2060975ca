"""Format tables, paragraphs and JSON. Tables and paragraphs fit the terminal; their text passes `printable`."""

import os
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.cli import output
from hookline.model.safe_text import printable

GAP = "  "
_NARROWEST, _WIDEST = 40, 160


def terminal_width() -> int:
    """Return the columns to fill: those of the terminal, COLUMNS where it is set, 100 where there is no terminal."""
    return min(max(output.columns(100), _NARROWEST), _WIDEST)


def columns(text: str) -> int:
    """Return how many columns a printable text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.combining(each) != 0 for each in text)


def wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` columns, between words.

    A word that is longer stays whole, because it is a path or a command that people copy; only one with wide
    characters is cut, because their scripts have no blanks.
    """
    lines: list[str] = []
    line = ""
    for word in _words(printable(text), max(width, 1)):
        longer = f"{line} {word}" if line else word
        if line and columns(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line]


def paragraph(text: str, width: int, indent: str = "") -> str:
    return "\n".join(f"{indent}{line}".rstrip() for line in wrapped(text, width - len(indent)))


def pieces(text: str, width: int) -> Iterator[str]:
    """Cut a printable text into lines of at most `width` columns, after blanks if there are any.

    Unlike `wrapped` it keeps every blank, and cuts words that are too long: no line begins unmarked.
    """
    for line in text.split("\n"):
        rest = line
        while columns(rest) > width:
            cut = _most_that_fits(rest, width)
            cut = rest.rfind(" ", 0, cut) + 1 or cut
            yield rest[:cut]
            rest = rest[cut:]
        yield rest


def _most_that_fits(text: str, width: int) -> int:
    """Return how many characters fit into the columns, one at least."""
    cut = max(width, 1)
    while cut > 1 and columns(text[:cut]) > width:
        cut -= 1
    return cut


def indented(text: str, by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.split("\n"))


def count_of(number: int, noun: str) -> str:
    """Format `1 hook`, `2 hooks`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def with_tilde(file: str, env: Mapping[str, str] = os.environ) -> str:
    """Return a file below the user's home directory with ~ for it."""
    home = env.get("HOME", "").rstrip("/")
    return f"~{file[len(home) :]}" if home and file.startswith(f"{home}/") else file


def with_tildes(text: str, env: Mapping[str, str] = os.environ) -> str:
    """Return a sentence in which files below the user's home directory have ~ for it."""
    home = env.get("HOME", "").rstrip("/")
    return text.replace(f" {home}/", " ~/") if home else text


def relative_to(cwd: str, source: str) -> str:
    """Return a file, or a file and line, without the directory it is in."""
    return source.removeprefix(cwd.rstrip("/") + "/")


def reason_relative_to(cwd: str, why: str) -> str:
    """Return the reason why a hook ran or did not; the file that a duplicate names is shown relative to `cwd`."""
    return why.replace(cwd.rstrip("/") + "/", "", 1) if why.startswith("the same as ") else why


def table(rows: Sequence[Sequence[str]], width: int) -> str:
    """Format columns as wide as their contents; if that is too wide, the widest shrink and wrap.

    Words are never broken: where that does not fit, the cells of a row are below each other.
    """
    if fits([rows], width):
        return tables([rows], width)[0]
    return "\n".join(
        paragraph(cell, width, GAP if number else "")
        for row in rows
        for number, cell in enumerate(row)
        if cell or not number
    )


def headed_table(rows: Sequence[Sequence[str]], width: int) -> str:
    """Format a table whose first row names the columns; where it does not fit, the name stands before each value."""
    if fits([rows], width):
        return tables([rows], width)[0]
    head, *rest = rows
    lines: list[str] = []
    for first, *cells in rest:
        given = [(name, cell) for name, cell in zip(head[1:], cells, strict=True) if cell not in ("", "-")]
        named = [f"{name.lower()}: {cell}" if name else cell for name, cell in given]
        lines += [paragraph(first, width), paragraph(", ".join(named), width, GAP)]
    return "\n".join(lines)


def fits(groups: Sequence[Sequence[Sequence[str]]], width: int) -> bool:
    """Return True if these tables fit the width without breaking words."""
    return sum(_longest(_down(groups))) <= _spare(_down(groups), width)


def tables(groups: Sequence[Sequence[Sequence[str]]], width: int) -> list[str]:
    """Format several tables with equally wide columns, to be printed one below the other. They must fit."""
    down = _down(groups)
    natural = [max(columns(cell) for cell in column) for column in down]
    widths = _shrunk(natural, _longest(down), _spare(down, width))
    return ["\n".join(line for row in rows for line in _row_lines(row, widths)) for rows in groups]


_Columns = Sequence[Sequence[str]]


def _down(groups: Sequence[Sequence[Sequence[str]]]) -> _Columns:
    return list(zip(*([printable(cell) for cell in row] for rows in groups for row in rows), strict=True))


def _longest(down: _Columns) -> list[int]:
    return [max(columns(word) for cell in column for word in (cell.split() or [""])) for column in down]


def _spare(down: _Columns, width: int) -> int:
    return width - len(GAP) * (len(down) - 1)


def _row_lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    blocks = [wrapped(cell, wide) for cell, wide in zip(row, widths, strict=True)]
    for number in range(max(len(block) for block in blocks)):
        parts = [block[number] if number < len(block) else "" for block in blocks]
        padded = [part + " " * (wide - columns(part)) for part, wide in zip(parts, widths, strict=True)]
        yield GAP.join(padded).rstrip()


def _shrunk(widths: list[int], least: list[int], spare: int) -> list[int]:
    """Shrink the widest columns first, none below its least."""
    widths = list(widths)
    while sum(widths) > spare:
        able = [index for index, wide in enumerate(widths) if wide > least[index]]
        if not able:
            break
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _words(text: str, width: int) -> Iterator[str]:
    for word in text.split():
        rest = word
        while columns(rest) > max(width, len(rest)):  # it has wide characters
            cut = _most_that_fits(rest, width)
            yield rest[:cut]
            rest = rest[cut:]
        yield rest


def json_lines(document: object, convert: Callable[[Any], Any] | None = None) -> str:
    """Format indented JSON; `convert` is for values that JSON has no type for."""
    import msgspec

    try:
        encoded = msgspec.json.encode(document, enc_hook=convert)
    except UnicodeEncodeError:
        # A file name that is not UTF-8 has surrogates, which JSON cannot hold.
        encoded = msgspec.json.encode(_without_surrogates(msgspec.to_builtins(document, enc_hook=convert)))
    return msgspec.json.format(encoded, indent=2).decode()


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        fields = cast("dict[Any, Any]", value)
        return {_without_surrogates(key): _without_surrogates(each) for key, each in fields.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(each) for each in cast("Sequence[Any]", value)]
    return value
