"""Print finished text once, above the live rows; it belongs to the terminal from then on."""

import re
from collections import deque

from rich.console import RenderableType

from hookline.agent.tui.layout import ScreenLayout
from hookline.agent.tui.output import ScreenOutput
from hookline.agent.tui.text.paint import Painter

#: Things that fill any screen.
_MOST_PAST = 200
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Scrollback:
    def __init__(self, output: ScreenOutput, layout: ScreenLayout, painter: Painter) -> None:
        self._output = output
        self._layout = layout
        self._painter = painter
        self._waiting: list[str] = []
        self._last_kind = ""
        #: The last things that were put, for a page beside the conversation.
        self._past: deque[tuple[RenderableType, str, bool]] = deque(maxlen=_MOST_PAST)
        self._past_lines: tuple[object, list[str]] = (None, [])
        self._count = 0
        layout.past = self.past

    def put(self, what: RenderableType, kind: str) -> None:
        """Queue something of a kind: text, card, note, prompt, command. `flush` prints it.

        Kinds have a blank line between, and so have blocks of text and cards; a command's output follows it directly.
        """
        follows = not self._last_kind or kind == "prompt" or (self._last_kind, kind) == ("command", "note")
        apart = not follows and (kind in ("text", "card") or kind != self._last_kind)
        self._last_kind = kind
        self._past.append((what, kind, apart))
        self._count += 1
        lines = self._lines(what, kind, self._output.get_size().columns)
        self._waiting += [f"{line}\n" for line in ([""] * apart + lines)]

    def _lines(self, what: RenderableType, kind: str, columns: int) -> list[str]:
        lines = self._painter.lines(what, columns)
        return without_blank_ends(lines) if kind == "text" else lines

    def past(self, columns: int, rows: int) -> list[str]:
        """Return the last rows of what was put, laid out for a width."""
        key = (self._count, columns, rows)
        if self._past_lines[0] != key:
            lines: list[str] = []
            for what, kind, apart in reversed(self._past):
                lines = [""] * apart + self._lines(what, kind, columns) + lines
                if len(lines) >= rows:
                    break
            self._past_lines = (key, lines[-rows:] if rows else [])
        return self._past_lines[1]

    def flush(self) -> None:
        """Erase the live rows, print, and draw them again in one write. While a page is open, everything waits."""
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
    """Remove blank lines at both ends: the caller places them."""
    written = [number for number, line in enumerate(lines) if _ESCAPES.sub("", line).strip()]
    return lines[written[0] : written[-1] + 1] if written else []
