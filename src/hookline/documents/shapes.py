"""Types of values in answers and configuration, by the names that messages use for them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast


def _is_list(value: Any, item: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(item(each) for each in cast("list[Any]", value))


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) for key in cast("Mapping[Any, Any]", value)
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SHAPES: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "anything": lambda _value: True,
        "true or false": lambda value: isinstance(value, bool),
        "a number": _is_number,
        "a whole number": lambda value: isinstance(value, int) and not isinstance(value, bool),
        "text": _is_text,
        "an object": _is_object,
        "a list of texts": lambda value: _is_list(value, _is_text),
        "a list of objects": lambda value: _is_list(value, _is_object),
        "an object of texts": lambda value: _is_object(value) and all(map(_is_text, value.values())),
        "text or an object": lambda value: _is_text(value) or _is_object(value),
    }
)


def misshaped(value: Any, shape: str) -> str | None:
    """What it is instead, for a message; None when it has the shape."""
    if SHAPES[shape](value):
        return None
    for known in ("true or false", "a number", "text", "an object"):
        if SHAPES[known](value):
            return f"{known}, not {shape}"
    return f"{'a list' if isinstance(value, list | tuple) else _named(value)}, not {shape}"


def _named(value: Any) -> str:
    return "empty" if value is None else type(value).__name__
