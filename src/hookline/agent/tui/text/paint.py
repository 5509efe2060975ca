"""Turn rich's objects into text for the terminal, with no escapes but our own.

Model, hooks and tools are not trusted: their text is cleaned before it is laid out, and once more afterwards,
because Markdown can spell a control character as an entity (`&#27;`).
"""

import os
from collections.abc import Iterable, Mapping
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from hookline.model.safe_text import printable, spelled_out

NARROWEST = 20

ColourSystem = Literal["standard", "256"]


def is_coloured(env: Mapping[str, str]) -> bool:
    """Return False where the user wants no colours (https://no-color.org)."""
    return not env.get("NO_COLOR")


def code_theme(env: Mapping[str, str]) -> str:
    """Return the theme of code: a terminal that says that its background is light gets darker colours."""
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return "ansi_light" if background in ("7", "9", "10", "11", "12", "13", "14", "15") else "ansi_dark"


def colour_system(env: Mapping[str, str]) -> ColourSystem:
    """Return how many colours to use: backgrounds are tinted only where there are 256."""
    many = "256color" in env.get("TERM", "") or env.get("COLORTERM") in ("truecolor", "24bit")
    return "256" if many and is_coloured(env) else "standard"


class Painter:
    """A painter that lays out and colours. `NO_COLOR` leaves bold and dim."""

    def __init__(self, env: Mapping[str, str] = os.environ) -> None:
        self.coloured = is_coloured(env)
        self._console = Console(
            force_terminal=True,
            color_system=colour_system(env),
            no_color=not self.coloured,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            width=80,
            # Without a background: a black one is a block on a light terminal.
            theme=Theme({"markdown.code": "bold cyan"}),
        )

    def lines(self, what: RenderableType, width: int) -> list[str]:
        """Return one text per line of the terminal, with our own escapes only."""
        console = self._console
        options = console.options.update(width=max(width, NARROWEST), highlight=False, markup=False)
        rows = Segment.split_lines(self._clean(console.render(what, options)))
        return [self._row(row) for row in rows]

    def text(self, what: RenderableType, width: int) -> str:
        return "".join(f"{line}\n" for line in self.lines(what, width))

    def _clean(self, segments: Iterable[Segment]) -> Iterable[Segment]:
        for segment in segments:
            if segment.control:
                continue
            text = segment.text
            if not (text.isascii() and text.isprintable()):
                text = "\n".join(_without_steering(part) for part in text.split("\n"))
            yield Segment(text, segment.style)

    def _row(self, row: list[Segment]) -> str:
        row = list(row)
        # Blanks at the end would be copied with the text.
        while row and not row[-1].text.strip(" ") and not _is_filled(row[-1].style):
            row.pop()
        if row and not _is_filled(row[-1].style):
            row[-1] = Segment(row[-1].text.rstrip(" "), row[-1].style)
        return "".join([self._piece(text, style) for text, style, _control in row])

    def _piece(self, text: str, style: Style | None) -> str:
        if style is None or not text:
            return text
        if style.link:
            style = style.update_link(None)
        if not self.coloured:
            style = style.without_color
        system = self._console._color_system  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] no public API for it
        return style.render(text, color_system=system)


def _is_filled(style: Style | None) -> bool:
    return style is not None and bool(style.bgcolor or style.reverse or style.underline)


def _without_steering(text: str) -> str:
    """Clean a text, but keep blanks on both sides, which are layout."""
    inner = text.strip(" ")
    at = text.find(inner)
    return f"{text[:at]}{printable(inner)}{text[at + len(inner) :]}" if inner else text


def words(text: str, style: str = "") -> Text:
    """Clean untrusted text: remove control characters, never read it as markup."""
    return Text(printable(text), style)


def exact(text: str, style: str = "") -> Text:
    """Show control characters of untrusted text as marks, because a user is to judge it."""
    return Text(spelled_out(text), style)


def indented(what: RenderableType, by: int) -> RenderableType:
    return Padding(what, (0, 0, 0, by)) if by else what


def marked(mark: str, style: str, body: RenderableType) -> RenderableType:
    """Place a mark beside a text, whose lines wrap beside it, not below."""
    grid = Table.grid(padding=0, expand=True)
    grid.add_column(width=cell_len(mark), no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(Text(mark, style), body)
    return grid


def diff(lines: Iterable[str]) -> Text:
    """Colour lines of a difference by how they begin; control characters are shown, so that they can be judged."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return Text("\n").join(Text(spelled_out(line), styles.get(line[:1], "")) for line in lines)


def stack(parts: Iterable[RenderableType]) -> RenderableType:
    return Group(*parts)
