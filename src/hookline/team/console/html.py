"""Build HTML from Python calls. Anything not made here is text, and text is always escaped."""

from collections.abc import Iterable
from html import escape
from typing import Final, Union

from hookline.model.safe_text import printable

_VOID: Final = frozenset({"br", "input", "link", "meta", "hr"})


class Html(str):
    """Text that is already HTML: only `h` and `join` make it."""

    __slots__ = ()


Child = Union[str, int, None, "Iterable[Child]"]
Attribute = str | int | float | bool | None


def text(value: str) -> Html:
    """Escape a text, without control characters and others that draw nothing or turn the reading direction."""
    return value if isinstance(value, Html) else Html(escape(printable(value)))


def h(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Build an element. `class_="x"` is `class`, an underscore a hyphen; None and False leave an attribute
    out.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.strip("_").replace("_", "-")
        parts.append(f" {attribute}" if value is True else f' {attribute}="{_quoted(value)}"')
    parts.append(">")
    if name not in _VOID:
        parts.append(join(*children))
        parts.append(f"</{name}>")
    return Html("".join(parts))


def join(*children: Child) -> Html:
    return Html("".join(_flat(children)))


def _flat(children: "Iterable[Child]") -> Iterable[str]:
    for child in children:
        if isinstance(child, str):
            yield text(child)
        elif isinstance(child, int):
            yield str(child)
        elif child is not None:
            yield from _flat(child)


def _quoted(value: str | float) -> str:
    return escape(printable(value)) if isinstance(value, str) else str(value)


#: Written by us alone, so it needs no escaping.
DOCTYPE: Final = Html("<!doctype html>\n")


def icon(path: str, label: str = "") -> Html:
    """Draw an icon of 16 by 16 units, in the colour of the text around it."""
    drawn = h("path", d=path, fill="none", stroke="currentColor", stroke_width="1.6", stroke_linecap="round")
    return h(
        "svg",
        drawn,
        class_="icon",
        viewBox="0 0 16 16",
        width=16,
        height=16,
        aria_hidden=None if label else "true",
        role="img" if label else None,
        aria_label=label or None,
    )
