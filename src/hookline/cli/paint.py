"""Colour for severity words, and only where somebody looks: on a terminal, and not against NO_COLOR."""

import os
import sys
from typing import Literal, TextIO

Colour = Literal["red", "green", "yellow", "blue", "cyan", "bold", "dim"]

_CODES: dict[Colour, str] = {
    "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2",
}  # fmt: skip


def paint(text: str, colour: Colour, stream: TextIO | None = None) -> str:
    """The text in that colour where `stream` (stdout unless told) shows colours, else as it is.

    Paint what is printable already: `printable`, `one_line` and `table` take escapes out, these too.
    """
    if not shows_colours(sys.stdout if stream is None else stream):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def shows_colours(stream: TextIO | None) -> bool:
    """A terminal that did not ask to be left alone; a stream that is closed shows nothing."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
