"""Draw differences: line numbers, what was added and removed, colours of the language."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from hookline.agent.call_text import patch_line
from hookline.agent.tui.text.paint import colour_system, stack

#: Backgrounds and texts of removed and added lines, where there are 256 colours. Both are set, so that they can be
#: read on any background.
_TINTS = {"-": "color(253) on color(52)", "+": "color(253) on color(22)"}
_PLAIN = {"-": "red", "+": "green"}
#: Longer texts are not coloured by their language: it would hold up the screen.
_MOST_COLOURED = 20_000


def patch_counts(patch: Sequence[Mapping[str, Any]]) -> str:
    """Return how many lines were added and removed: `+3 −1`."""
    lines = [str(line)[:1] for hunk in patch for line in hunk.get("lines", ())]
    return f"+{lines.count('+')} −{lines.count('-')}"


def patch_diff(patch: Sequence[Mapping[str, Any]], file: str, most: int | None = None) -> RenderableType:
    """Draw hunks, at most so many lines of them. Control characters are shown, so that they can be judged."""
    tinted = colour_system(os.environ) == "256"
    rows: list[Text] = []
    widest = max((_last(hunk) for hunk in patch), default=1)
    for number, hunk in enumerate(patch):
        if number:
            rows.append(Text("⋮", "dim"))
        rows += _hunk(hunk, file, len(str(widest)), tinted=tinted)
    left = len(rows) - most if most is not None else 0
    return stack([*rows[:most], *([Text(f"… +{left} lines (Ctrl-T shows all)", "dim")] if left > 0 else [])])


def _last(hunk: Mapping[str, Any]) -> int:
    return max(int(hunk.get("oldStart", 1)), int(hunk.get("newStart", 1))) + len(hunk.get("lines", ()))


def _hunk(hunk: Mapping[str, Any], file: str, width: int, *, tinted: bool) -> Iterator[Text]:
    lines = [patch_line(str(line)) for line in hunk.get("lines", ())]
    old, new = int(hunk.get("oldStart", 1)), int(hunk.get("newStart", 1))
    coloured = _coloured(lines, file) if tinted else None
    for at, line in enumerate(lines):
        mark = line[:1]
        number = old if mark == "-" else new
        old, new = old + (mark != "+"), new + (mark != "-")
        style = (_TINTS if tinted else _PLAIN).get(mark, "")
        row = Text(f"{number:{width}} ", "dim").append(f"{mark or ' '} ", style)
        yield row.append_text(_styled(line[1:], coloured[at] if coloured else None, style))


def _styled(line: str, coloured: Text | None, style: str) -> Text:
    if coloured is None or coloured.plain != line:
        return Text(line, style)
    text = Text(line, style)
    for span in coloured.spans:
        text.stylize(span.style, span.start, span.end)
    return text


def _coloured(lines: Sequence[str], file: str) -> list[Text] | None:
    """Colour the lines by their language: the old and the new ones each as a whole."""
    if sum(map(len, lines)) > _MOST_COLOURED:
        return None
    from rich.syntax import Syntax  # noqa: PLC0415 loads lexers

    found: dict[int, Text] = {}
    lexer = Syntax.guess_lexer(file) if file else "text"
    for side in ("-", "+"):
        numbers = [at for at, line in enumerate(lines) if line[:1] in (" ", side, "")]
        code = "\n".join(lines[at][1:] for at in numbers)
        texts = Syntax(code, lexer, theme="ansi_dark").highlight(code).split("\n", allow_blank=True)
        found |= dict(zip(numbers, texts, strict=False))
    return [found.get(at, Text("")) for at in range(len(lines))]
