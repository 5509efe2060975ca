"""What each key does. Keys of pages are in their modules; line editing is prompt_toolkit's."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from hookline.tui.screen import Screen


def bindings(screen: "Screen") -> KeyBindings:
    keys = KeyBindings()
    on_page = Condition(lambda: screen.frame.page is not None)
    asking = Condition(lambda: screen.dialog.open is not None) & ~on_page
    held = asking & Condition(lambda: not screen.dialog.listens)
    typing = ~asking & ~on_page & ~is_searching
    _add_dialog_keys(keys, screen, asking, held)
    _add_typing_keys(keys, screen, typing)
    _add_page_keys(keys, screen, on_page)

    def simple(key: str, react: Callable[[], object], when: Condition) -> None:
        keys.add(key, filter=when, eager=key == "c-c")(lambda _event: react())

    anywhere = Condition(lambda: True)
    simple(
        "c-c",
        lambda: screen.close_page() if screen.frame.page else screen.interrupt(),
        anywhere & ~is_searching,
    )  # pyright: ignore[reportArgumentType]
    simple("c-l", screen.redraw, anywhere)
    keys.add("c-z")(lambda event: event.app.suspend_to_background())
    return keys


def _add_typing_keys(keys: KeyBindings, screen: "Screen", typing: "Condition") -> None:
    buffer = screen.buffer
    empty = Condition(lambda: not buffer.text)
    queued = Condition(lambda: bool(screen.link.queue))

    @keys.add("enter", filter=typing)
    def enter(event: KeyPressEvent) -> None:
        del event
        state = buffer.complete_state
        if state is not None and state.current_completion is not None:
            buffer.apply_completion(state.current_completion)
            return
        screen.send()

    @keys.add("tab", filter=typing)
    def tab(event: KeyPressEvent) -> None:
        del event
        if buffer.complete_state is not None:
            buffer.complete_next()
        else:
            buffer.start_completion(select_first=True)

    keys.add("c-j", filter=typing)(lambda _event: buffer.insert_text("\n"))
    keys.add("escape", "enter", filter=typing)(lambda _event: buffer.insert_text("\n"))
    keys.add("escape", filter=typing)(lambda _event: screen.escape())
    keys.add("s-tab", filter=typing)(lambda _event: screen.next_mode())
    keys.add("up", filter=typing & empty & queued)(lambda _event: screen.take_back())
    keys.add("f2", filter=typing)(lambda _event: screen.inspect())
    keys.add("c-t", filter=typing)(lambda _event: screen.read_all())
    keys.add("c-d", filter=typing & empty)(lambda _event: screen.leave())


def _add_dialog_keys(keys: KeyBindings, screen: "Screen", asking: "Condition", held: "Condition") -> None:
    dialog = screen.dialog

    @keys.add(Keys.Any, filter=asking)
    def any_key(event: KeyPressEvent) -> None:
        text = event.data
        if not dialog.listens:
            if text.isprintable():
                dialog.held_key(text)
        elif dialog.is_choice(text):
            dialog.answer(text)
        elif (
            text.isprintable() and dialog.open is not None and (dialog.open.takes_line or dialog.open.choices)
        ):
            screen.buffer.insert_text(text)

    @keys.add(Keys.BracketedPaste, filter=asking)
    def paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        if dialog.listens:
            screen.buffer.insert_text(text)
        else:
            dialog.held_key(text)

    for key in ("enter", "c-j", "tab", "backspace", "left", "right", "delete", "up", "down"):
        keys.add(key, filter=held)(lambda _event: dialog.held_key(""))
    listening = asking & ~held
    keys.add("enter", filter=listening)(lambda _event: dialog.enter())
    keys.add("up", filter=listening)(lambda _event: dialog.move(-1))
    keys.add("down", filter=listening)(lambda _event: dialog.move(1))
    keys.add("tab", filter=listening)(lambda _event: dialog.move(1))
    keys.add("escape", filter=listening)(lambda _event: dialog.answer(None))
    keys.add("c-d", filter=asking)(lambda _event: screen.leave())


def _add_page_keys(keys: KeyBindings, screen: "Screen", on_page: "Condition") -> None:
    @keys.add(Keys.Any, filter=on_page)
    def any_key(event: KeyPressEvent) -> None:
        _press(screen, event.data)

    for key in (
        "enter",
        "up",
        "down",
        "left",
        "right",
        "pageup",
        "pagedown",
        "home",
        "end",
        "backspace",
        "escape",
        "f2",
        "c-t",
        "c-d",
        "tab",
    ):
        keys.add(key, filter=on_page)(lambda _event, key=key: _press(screen, key))


def _press(screen: "Screen", key: str) -> None:
    """A page is closed with q, Esc, Ctrl-D and the key that opened it; all other keys are its own."""
    page = screen.frame.page
    if page is None or page.press(key):
        return
    if key in ("q", "escape", "f2", "c-t", "c-d"):
        screen.close_page()
