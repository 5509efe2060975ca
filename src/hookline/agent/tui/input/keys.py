"""Bind keys to actions. Keys of pages are in their modules; line editing is prompt_toolkit's."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, Filter, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from hookline.agent.prompts.local_commands import LOCAL_COMMANDS

if TYPE_CHECKING:
    from hookline.agent.tui.screen import Screen

_PAGE_KEYS = (
    *("enter", "up", "down", "left", "right", "pageup", "pagedown", "home", "end", "backspace", "tab"),
    *("escape", "f2", "f3", "c-t", "c-d"),
)
#: Keys that close a page, if it has no other use for them.
_CLOSE = frozenset({"q", "escape", "f2", "f3", "c-t", "c-d"})
#: Keys that are swallowed while a question is too new to be answered.
_HELD = ("enter", "c-j", "tab", "backspace", "left", "right", "delete", "up", "down", "escape")


def bindings(screen: "Screen") -> KeyBindings:
    keys, actions = KeyBindings(), screen.actions
    on_page = Condition(lambda: screen.layout.page is not None and _has_keys(screen))
    asking = Condition(lambda: screen.dialog.open is not None) & ~on_page
    typing = ~asking & ~on_page & ~is_searching
    _add_dialog_keys(keys, screen, asking)
    _add_typing_keys(keys, screen, typing)
    _add_page_keys(keys, screen, on_page)
    _on(keys, ("c-c",), on_page, actions.close_page)
    _on(keys, ("c-c",), ~on_page & ~is_searching, actions.interrupt)
    _on(keys, ("c-l",), ~on_page, screen.redraw)
    _on(keys, ("c-z",), ~on_page, actions.suspend)
    return keys


def _has_keys(screen: "Screen") -> bool:
    """Return True if the page gets the keys: it covers everything, or it is beside the input and was chosen."""
    return screen.layout.page_has_keys or not screen.layout.is_beside


def _on(keys: KeyBindings, pressed: tuple[str, ...], when: Filter, react: Callable[[], object]) -> None:
    def pressed_it(event: KeyPressEvent) -> None:
        del event
        react()

    keys.add(*pressed, filter=when)(pressed_it)


def _add_typing_keys(keys: KeyBindings, screen: "Screen", typing: Filter) -> None:
    buffer, actions = screen.buffer, screen.actions
    empty = Condition(lambda: not buffer.text)
    queued = Condition(lambda: bool(screen.channel.queue))

    def enter() -> None:
        if _accept_entry(buffer):
            actions.send()

    def tab() -> None:
        if buffer.complete_state is not None:
            buffer.complete_next()
        else:
            buffer.start_completion(select_first=True)

    def paste(event: KeyPressEvent) -> None:
        actions.paste(event.data)

    _on(keys, ("enter",), typing, enter)
    _on(keys, ("tab",), typing, tab)
    _on(keys, ("c-j",), typing, lambda: buffer.insert_text("\n"))
    _on(keys, ("escape", "enter"), typing, lambda: buffer.insert_text("\n"))
    _on(keys, ("escape",), typing, actions.escape)
    idle = Condition(lambda: not screen.channel.busy)
    _on(keys, ("escape", "escape"), typing & empty & idle, actions.undo)
    _on(keys, ("s-tab",), typing, actions.next_mode)
    _on(keys, ("up",), typing & empty & queued, actions.take_back)
    _on(keys, ("tab",), typing & empty & queued, actions.switch_last)
    _on(keys, ("c-x", "c-e"), typing, actions.edit)
    keys.add(Keys.BracketedPaste, filter=typing)(paste)
    _on(keys, ("f2",), typing, actions.inspect)
    _on(keys, ("f3",), typing, actions.workbench)
    _on(keys, ("c-t",), typing, actions.read_all)
    _on(keys, ("c-d",), typing & empty, actions.leave)


def _accept_entry(buffer: Buffer) -> bool:
    """Accept the entry of an open menu: the chosen one, else the first. Return True if the text is to be sent.

    A first entry of several is only filled in, and so is a file, which is part of a prompt that may continue.
    """
    state, before = buffer.complete_state, buffer.text
    if state is None or not state.completions:
        return True
    chosen = state.complete_index is not None  # it is in the text already
    if not chosen:
        buffer.apply_completion(state.completions[0])
    buffer.complete_state = None
    if not chosen and buffer.text == before:
        return True
    if not buffer.text.startswith("/") or not (chosen or len(state.completions) == 1):
        return chosen and len(state.completions) == 1
    row = LOCAL_COMMANDS.get(buffer.text.removeprefix("/"))
    if row is not None and row.argument == "required":
        buffer.insert_text(" ")
        return False
    return True


def _add_dialog_keys(keys: KeyBindings, screen: "Screen", asking: Filter) -> None:
    dialog, buffer, actions = screen.dialog, screen.buffer, screen.actions
    held = asking & Condition(lambda: not dialog.listens)

    def typed(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        if not dialog.listens:
            dialog.early_key(text if "\n" in text or text.isprintable() else "")
        elif dialog.is_choice(text):
            dialog.answer(text)
        elif text.isprintable() or "\n" in text:
            buffer.insert_text(text)

    keys.add(Keys.Any, filter=asking)(typed)
    keys.add(Keys.BracketedPaste, filter=asking)(typed)
    for key in _HELD:
        _on(keys, (key,), held, lambda: dialog.early_key(""))
    _on(keys, ("enter",), asking & ~held, dialog.enter)
    _on(keys, ("c-j",), asking & ~held, dialog.enter)
    _on(keys, ("up",), asking & ~held, lambda: dialog.move(-1))
    _on(keys, ("down",), asking & ~held, lambda: dialog.move(1))
    _on(keys, ("tab",), asking & ~held, lambda: dialog.move(1))
    _on(keys, ("escape",), asking & ~held, lambda: dialog.answer(None))
    _on(keys, ("f2",), asking, actions.inspect)
    _on(keys, ("f3",), asking, actions.workbench)
    _on(keys, ("c-t",), asking, actions.read_all)
    _on(keys, ("c-d",), asking, actions.leave)


def _add_page_keys(keys: KeyBindings, screen: "Screen", on_page: Filter) -> None:
    def press(key: str) -> None:
        page = screen.layout.page
        if page is None or page.press(key):
            return
        if key in _CLOSE:
            screen.actions.close_page()
        elif key == "tab" and screen.layout.is_beside:
            screen.layout.focus_page(page=False)

    def typed(event: KeyPressEvent) -> None:
        press(event.data)

    keys.add(Keys.Any, filter=on_page)(typed)
    for key in _PAGE_KEYS:
        _on(keys, (key,), on_page, lambda key=key: press(key))
