"""Lay out the screen: live rows, input, completions, status line; and pages on the alternate screen."""

import os
from collections.abc import Callable, Mapping
from typing import Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import (
    ANSI,
    AnyFormattedText,
    FormattedText,
    StyleAndTextTuples,
    to_formatted_text,
)
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.screen import Char
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from hookline.agent.tui.output import ScreenOutput
from hookline.agent.tui.text.paint import is_coloured
from hookline.model.safe_text import one_line

_MOST_INPUT_ROWS = 10
#: Columns from which a page can be beside the conversation.
_WIDE = 120
#: Columns. Short: a row that is as wide as the terminal would be wrapped when that becomes narrower.
_RULE = 20
_MOST_COMPLETIONS = 7
_GREY = "ansibrightblack"
_STYLE = Style.from_dict({"rule": _GREY, "status": "reverse", "menu.chosen": "reverse", "menu.meta": _GREY})


class FullScreenPage(Protocol):
    """A page that takes the whole terminal for a while."""

    def text(self, columns: int, rows: int) -> AnyFormattedText: ...

    def press(self, key: str) -> bool:
        """Handle a key; return False if it has no meaning here."""
        ...

    @property
    def is_stale(self) -> bool:
        """True if it shows something else by now, so that it must be drawn again."""
        ...

    def close(self) -> None:
        """End what the page has begun: it is not shown any more."""
        ...


class ScreenApp(Application[None]):
    """An application drawn in one write; parts that became shorter leave no blank rows behind."""

    def __init__(
        self,
        output: ScreenOutput,
        layout: Layout,
        keys: KeyBindingsBase,
        source: Input | None,
        prepare: Callable[[], None],
    ) -> None:
        self._screen_output = output
        self._prepare = prepare
        super().__init__(
            layout,
            key_bindings=keys,
            style=_STYLE,
            output=output,
            input=source,
            erase_when_done=True,
            color_depth=None if is_coloured(os.environ) else ColorDepth.DEPTH_1_BIT,
            max_render_postpone_time=0.05,
        )
        self._drawn_columns = 0
        # Others may, too; but to go up where nothing was wrapped would erase finished text.
        self._reflows = "TMUX" in os.environ
        self.ttimeoutlen = 0.05
        self.timeoutlen = 0.3

    def _redraw(self, render_as_done: bool = False) -> None:
        self._prepare()
        with self._screen_output.hold():
            self._climb()
            if not self.full_screen and self._shrinks():
                self.renderer.erase()
            super()._redraw(render_as_done)
        self._drawn_columns = self.output.get_size().columns

    def _on_resize(self) -> None:
        with self._screen_output.hold():
            self._climb()
            super()._on_resize()

    def erase(self) -> None:
        """Erase what was drawn; finished text follows."""
        self._climb()
        self.renderer.erase()

    def _climb(self) -> None:
        """Move up to the first row: a terminal that became narrower has wrapped what was drawn."""
        columns, last = self.output.get_size().columns, self.renderer.last_rendered_screen
        if self._reflows and last is not None and not self.full_screen and columns < self._drawn_columns:
            cursor = last.get_cursor_position(self.layout.current_window)
            rows = (_width(last.data_buffer[y]) for y in range(cursor.y))
            self.output.cursor_up(
                sum((width - 1) // columns for width in rows if width) + cursor.x // columns
            )
        self._drawn_columns = columns

    def _shrinks(self) -> bool:
        last = self.renderer.last_rendered_screen
        if last is None or not self.is_running:
            return False
        size = self.output.get_size()
        wanted = self.layout.container.preferred_height(size.columns, size.rows).preferred
        return min(wanted, size.rows) < last.height

    def redraw_now(self) -> None:
        self._redraw()

    def turn_page(self, *, full: bool) -> None:
        """Switch to the alternate screen, or back."""
        with self._screen_output.hold():
            self.erase()
            self.full_screen = self.renderer.full_screen = full
            self._redraw()


class ScreenLayout:
    """Builder of the application. `live` gives the rows above an input of so many rows, `status` the line below."""

    app: ScreenApp

    def __init__(
        self,
        buffer: Buffer,
        live: Callable[[int], list[str]],
        status: Callable[[int], str],
        output: ScreenOutput,
        source: Input | None = None,
    ) -> None:
        self.page: FullScreenPage | None = None
        #: The page gets the keys, not the input beside it.
        self.page_has_keys = False
        #: Draws the conversation beside a page, at most so many columns and rows of it.
        self.past: Callable[[int, int], list[str]] = lambda _columns, _rows: []
        self._buffer = buffer
        self._output = output
        self._source = source
        self._live = live
        self._rows: StyleAndTextTuples = []
        self._rows_from: list[str] = []
        self._status = status
        self._page_window = Window(FormattedTextControl(self._page_text, focusable=True, show_cursor=False))
        self._body = self._build()
        self._split = VSplit(
            [
                HSplit(
                    [Window(FormattedTextControl(self._past_text)), self._body],
                    width=lambda: Dimension.exact(self.columns),
                ),
                Window(width=1, char="│", style="class:rule"),
                self._page_window,
            ]
        )

    def _build(self) -> HSplit:
        search = SearchToolbar(
            text_if_not_searching="", backward_search_prompt="search: ", forward_search_prompt="search: "
        )
        self.input = BufferControl(
            self._buffer, search_buffer_control=search.control, preview_search=True, focus_on_click=False
        )
        has_live = Condition(lambda: bool(self._rows))
        rows: list[Window | ConditionalContainer | SearchToolbar] = [
            ConditionalContainer(
                Window(FormattedTextControl(lambda: self._rows), dont_extend_height=True), has_live
            ),
            Window(FormattedTextControl([("class:rule", "─" * _RULE)]), height=1),
            Window(
                self.input,
                height=Dimension(min=1, max=_MOST_INPUT_ROWS),
                dont_extend_height=True,
                wrap_lines=True,
                get_line_prefix=_prefix,
            ),
            search,
            ConditionalContainer(
                Window(FormattedTextControl(self._menu), dont_extend_height=True, height=self._menu_height),
                has_completions,
            ),
            Window(FormattedTextControl(self._status_text), height=1, style="class:status"),
        ]
        return HSplit(rows)

    def build(self, keys: KeyBindingsBase) -> ScreenApp:
        root = DynamicContainer(
            lambda: self._body if self.page is None else self._split if self.is_beside else self._page_window
        )
        layout = Layout(root, focused_element=self.input)
        self.app = ScreenApp(self._output, layout, keys, self._source, self._prepare)
        return self.app

    def _prepare(self) -> None:
        """Prepare each drawing, before its height is known."""
        if not self.is_covered and (rows := self._live(self._input_rows)) != self._rows_from:
            self._rows_from = rows
            self._rows = to_formatted_text(ANSI("\n".join(rows))) if rows else []

    @property
    def _input_rows(self) -> int:
        return min(self._buffer.document.line_count, _MOST_INPUT_ROWS)

    @property
    def is_beside(self) -> bool:
        """True if a page is beside the conversation: the terminal is wide enough for both."""
        return getattr(self.page, "beside", False) and self._output.get_size().columns >= _WIDE

    @property
    def is_covered(self) -> bool:
        """True if a page covers the conversation."""
        return self.page is not None and not self.is_beside

    @property
    def columns(self) -> int:
        """The width of the conversation."""
        columns = self._output.get_size().columns
        return columns * 11 // 20 if self.is_beside else columns

    def open(self, page: FullScreenPage) -> None:
        self.page = page
        self.focus_page(page=True)
        self.app.turn_page(full=True)

    def focus_page(self, *, page: bool) -> None:
        """Let the page get the keys, or the input beside it."""
        self.page_has_keys = page
        self.app.layout.focus(self._page_window if page else self.input)

    def close(self) -> None:
        if self.page is not None:
            self.page.close()
        self.page = None
        self.focus_page(page=False)
        self.app.turn_page(full=False)

    def _page_text(self) -> AnyFormattedText:
        size = self._output.get_size()
        columns = size.columns - self.columns - 1 if self.is_beside else size.columns
        return self.page.text(columns, size.rows) if self.page is not None else ""

    def _past_text(self) -> AnyFormattedText:
        """Return the end of the conversation, as many rows as are free above the input."""
        columns, rows = self.columns, self._output.get_size().rows
        below = self._body.preferred_height(columns, rows).preferred
        lines = self.past(columns, max(rows - below, 0))
        return to_formatted_text(ANSI("\n".join([""] * max(rows - below - len(lines), 0) + lines)))

    def _status_text(self) -> AnyFormattedText:
        return self._status(self.columns)

    def _menu_height(self) -> Dimension:
        state = self._buffer.complete_state
        return Dimension.exact(min(len(state.completions), _MOST_COMPLETIONS) if state is not None else 0)

    def _menu(self) -> FormattedText:
        state = self._buffer.complete_state
        if state is None:
            return FormattedText()
        width = self.columns
        at = state.complete_index or 0
        first = max(0, min(at - _MOST_COMPLETIONS + 1, len(state.completions) - _MOST_COMPLETIONS))
        rows: list[tuple[str, str]] = []
        for number, one in enumerate(state.completions[first : first + _MOST_COMPLETIONS], first):
            # Without a choice Enter takes the first.
            chosen = "class:menu.chosen" if number == at else ""
            name = f"  {one_line(one.display_text, 40):24}"
            rows += [
                (chosen, name),
                ("class:menu.meta", f"  {one_line(one.display_meta_text, max(width - 45, 0))}\n"),
            ]
        return FormattedText(rows)


def _width(row: Mapping[int, Char]) -> int:
    return max((at + cell.width for at, cell in row.items() if cell.char != " "), default=0)


def _prefix(line: int, wrapped: int) -> AnyFormattedText:
    return [("bold", "> ")] if not line and not wrapped else "  "
