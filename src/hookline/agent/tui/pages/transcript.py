"""Show the whole conversation unfolded (Ctrl-T): results, text that hooks added for the model, and their changes."""

from collections import deque
from collections.abc import Iterator

from prompt_toolkit.formatted_text import AnyFormattedText, FormattedText

from hookline.agent.call_text import headline, patch_lines, rewrite_text
from hookline.agent.ports import Shown
from hookline.agent.tui.channel import Item, Note, Taken
from hookline.agent.tui.text.cards import source_text
from hookline.model.safe_text import printable

#: Characters that are kept; the oldest go first. The session's file has everything.
_MOST_KEPT = 2_000_000
_LONGEST = 200_000
_KEYS = "Up Down PgUp PgDn Home End  / find  n next  q back"


class ShownHistory:
    """Shown items, bounded."""

    def __init__(self) -> None:
        self._items: deque[tuple[int, str]] = deque()
        self._size = 0
        self.dropped = 0

    def add(self, item: Item) -> None:
        text = "\n".join(_lines(item))
        if not text:
            return
        self._items.append((len(text), text))
        self._size += len(text)
        while self._size > _MOST_KEPT and len(self._items) > 1:
            self._size -= self._items.popleft()[0]
            self.dropped += 1

    @property
    def text(self) -> str:
        first = "[earlier parts are in the session's file]\n\n" if self.dropped else ""
        return first + "\n\n".join(text for _size, text in self._items)


def _lines(item: Item) -> Iterator[str]:
    if isinstance(item, Note):
        yield printable(item.text)
    if isinstance(item, Taken) and item.is_command:
        yield f"> {printable(item.text)}"
    if not isinstance(item, Shown):
        return
    who = f"[{printable(item.agent)}] " if item.agent else ""
    text = printable(item.text[:_LONGEST])
    by = f"  ({source_text(item)})" if item.hook else ""
    match item.kind:
        case "prompt":
            yield f"> {text}"
        case "answer" | "partial":
            yield f"{who}{text}{' […]' if item.kind == 'partial' else ''}"
        case "result":
            mark = "✗" if item.refused else "●"
            yield f"{who}{mark} {headline(item.tool, item.tool_input, 2000)}{by}"
            yield from (f"    {line}" for line in patch_lines(item.patch))
            yield from (f"    {line}" for line in text.split("\n"))
        case "context" | "thought":
            yield f"{who}{f'+ added for the model{by}' if item.kind == 'context' else '✻ thought'}:"
            yield from (f"    {line}" for line in text.split("\n"))
        case "rewrite":
            yield f"{who}✎ {printable(rewrite_text(item.field, item.before, item.after, 4000))}{by}"
        case "notice" | "warning" | "blocked" | "wake" | "retry":
            yield f"{who}{item.kind}: {text}{by}"
        case _:
            return


class TranscriptPage:
    """A page that scrolls; it begins at the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: list[str] = []
        self._columns = 0
        self._rows = 1
        self._top: int | None = None
        self._search: str | None = None
        self._sought = ""

    @property
    def is_stale(self) -> bool:
        """False: it shows the text it was made with."""
        return False

    def close(self) -> None:
        """Do nothing: nothing of it goes on."""

    def press(self, key: str) -> bool:
        if self._search is not None:
            self._type(key)
            return True
        page = max(self._rows - 2, 1)
        steps = {
            "up": -1,
            "k": -1,
            "down": 1,
            "j": 1,
            "pageup": -page,
            "b": -page,
            "pagedown": page,
            " ": page,
        }
        if key in steps:
            self._move(steps[key])
        elif key in ("home", "g"):
            self._top = 0
        elif key in ("end", "G"):
            self._top = None
        elif key == "/":
            self._search = ""
        elif key == "n":
            self._find()
        else:
            return False
        return True

    def _type(self, key: str) -> None:
        search = self._search or ""
        if key == "enter":
            self._sought, self._search = search.casefold(), None
            self._find()
        elif key in ("escape", "c-d"):
            self._search = None
        elif key == "backspace":
            self._search = search[:-1]
        elif len(key) == 1:
            self._search = search + key

    def _last_top(self) -> int:
        return max(len(self._lines) - (self._rows - 1), 0)

    def _move(self, by: int) -> None:
        top = self._last_top() if self._top is None else self._top
        self._top = max(0, min(top + by, self._last_top()))

    def _find(self) -> None:
        """Go to the next line that contains the text; from the top again after the last."""
        if not self._sought:
            return
        begin = (self._last_top() if self._top is None else self._top) + 1
        order = [*range(begin, len(self._lines)), *range(min(begin, len(self._lines)))]
        found = next((number for number in order if self._sought in self._lines[number].casefold()), None)
        if found is not None:
            self._top = min(found, self._last_top()) if found < self._last_top() else found

    def text(self, columns: int, rows: int) -> AnyFormattedText:
        if columns != self._columns:
            self._columns, self._lines = columns, list(_wrapped(self._text, max(columns - 1, 10)))
        self._rows = rows
        top = self._last_top() if self._top is None else self._top
        shown = self._lines[top : top + rows - 1]
        parts = [("", f"{line}\n") for line in shown]
        parts += [("", "\n")] * (rows - 1 - len(shown))
        seen = min(top + rows - 1, len(self._lines))
        says = (
            f"/{self._search}" if self._search is not None else f"line {seen} of {len(self._lines)}  {_KEYS}"
        )
        return FormattedText([*parts, ("reverse", says[: max(columns - 1, 0)])])


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.split("\n"):
        line = line.expandtabs(8)  # noqa: PLW2901 a tab is as wide as it is shown
        for at in range(0, max(len(line), 1), width):
            yield line[at : at + width]
