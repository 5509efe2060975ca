"""What is finished is printed once, above the live rows, and belongs to the terminal from then on."""

import re

from rich.console import RenderableType

from hookline.tui.layout import ScreenLayout
from hookline.tui.output import ScreenOutput
from hookline.tui.text.paint import Painter

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Scrollback:
    def __init__(self, output: ScreenOutput, layout: ScreenLayout, painter: Painter) -> None:
        self._output = output
        self._layout = layout
        self._painter = painter
        self._waiting: list[str] = []
        self._last_kind = ""

    def put(self, what: RenderableType, kind: str) -> None:
        """Something of a kind: text, card, note, prompt, command. It is printed by `flush`.

        Kinds have a blank line between, and so have blocks of text; what a command says comes right after it.
        """
        follows = not self._last_kind or kind == "prompt" or (self._last_kind, kind) == ("command", "note")
        if not follows and (kind == "text" or kind != self._last_kind):
            self._waiting.append("\n")
        self._last_kind = kind
        lines = self._painter.lines(what, self._output.get_size().columns)
        if kind == "text":
            lines = without_blank_ends(lines)
        self._waiting += [f"{line}\n" for line in lines]

    def flush(self) -> None:
        """In one write: erase the live rows, print, draw them again. While a page is open it all waits."""
        if not self._waiting or self._layout.page is not None:
            return
        text = "".join(self._waiting)
        self._waiting.clear()
        app = self._layout.app
        with self._output.hold():
            if app.is_running:
                app.erase()
            self._output.write_block(text)
            if app.is_running:
                app.redraw_now()


def without_blank_ends(lines: list[str]) -> list[str]:
    """Blank lines between blocks are ours to place."""
    written = [number for number, line in enumerate(lines) if _ESCAPES.sub("", line).strip()]
    return lines[written[0] : written[-1] + 1] if written else []
