"""Split arriving Markdown into blocks: finished blocks are printed once, only the rest is redrawn."""

import re

from rich.console import RenderableType
from rich.text import Text

#: A longer block is cut inside, so that the redrawn rest stays short.
_LONGEST_BLOCK = 30
_FENCES = ("```", "~~~")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")


def as_markdown(text: str) -> RenderableType:
    # Loads a parser and the lexers, so only when there is text; the screen loads them ahead, beside the first paint.
    from hookline.agent.tui.text.markdown import Markdown  # noqa: PLC0415 see above

    return Markdown(text)


class Stream:
    """Text of one answer. `take` returns finished blocks; `rest` is still growing."""

    def __init__(self) -> None:
        self.rest = ""
        #: Something of this answer was returned by `take`.
        self.began = False

    def add(self, piece: str) -> None:
        self.rest += piece

    def take(self) -> str | None:
        """Return the next finished block, or None. One at a time: laying out many would hold up the screen."""
        end = block_end(self.rest)
        if end is None:
            return self._cut()
        block, self.rest = self.rest[:end], self.rest[end:]
        if not block.strip():
            return self.take()
        self.began = True
        return block

    def _cut(self) -> str | None:
        lines = self.rest.split("\n")
        if len(lines) <= _LONGEST_BLOCK + 1:
            return None
        fence = _open_fence(lines[0])
        if fence is not None:
            self.began = True
            block, self.rest = lines[:_LONGEST_BLOCK], "\n".join([lines[0], *lines[_LONGEST_BLOCK:]])
            return "\n".join([*block, fence])
        at = _place_to_cut(lines)
        if at is None:
            return None
        self.began = True
        self.rest = "\n".join(lines[at:])
        return "\n".join([*lines[:at], ""])

    def end(self) -> str:
        """Return the rest."""
        rest, self.rest = self.rest, ""
        self.began = False
        return rest if rest.strip() else ""

    def tail(self, rows: int) -> RenderableType:
        """Return as much of the growing text as fits."""
        lines = self.rest.split("\n")
        if len(lines) > rows * 2:
            fence = _open_fence(lines[0])
            lines = [*([lines[0]] if fence else []), *lines[-rows * 2 :]]
        text = "\n".join(lines)
        return as_markdown(text) if text.strip() else Text("")


def block_end(text: str) -> int | None:
    """Return where the first finished block ends: after a blank line outside of a fence, or after the fence closes."""
    place, fence = 0, None
    for line in text.splitlines(keepends=True):
        place += len(line)
        if not line.endswith("\n"):
            return None
        if fence is not None:
            if line.strip() == fence or (line.strip().startswith(fence) and not line.strip().strip(fence[0])):
                return place
            continue
        fence = _open_fence(line)
        if fence is None and not line.strip():
            goes_on = _goes_on(text[:place], text[place:])
            if goes_on is None:
                return None
            if not goes_on:
                return place
    return None


def _open_fence(line: str) -> str | None:
    """Return the fence that closes a line's opening fence."""
    start = line.lstrip(" ")
    if not start.startswith(_FENCES) or len(line) - len(start) > 3:
        return None
    run = len(start) - len(start.lstrip(start[0]))
    return start[0] * run


def _goes_on(block: str, rest: str) -> bool | None:
    """Return True if an indented line after a blank one belongs to the list item before it.

    None while that is unknown.
    """
    if not _ITEM.match(block):
        return False
    if not rest.strip(" ") and "\n" not in rest:
        return None
    return rest.startswith(("  ", "\t")) and bool(rest.strip())


def _place_to_cut(lines: list[str]) -> int | None:
    """Find a cut between two items of a long list, or two lines of an endless paragraph; tables stay whole
    for longer.
    """
    if lines[0].lstrip().startswith("|") and len(lines) < 200:
        return None
    for number in range(_LONGEST_BLOCK, 0, -1):
        line = lines[number]
        if _ITEM.match(line):
            return number
    return _LONGEST_BLOCK
