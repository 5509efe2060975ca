"""Texts without halves of characters: half of a surrogate pair can be neither printed nor sent."""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

_HALVES = re.compile("[\ud800-\udfff]")


def whole_text(text: str) -> str:
    """Each half of a character as the replacement character."""
    return _HALVES.sub("\ufffd", text)


def whole_texts(value: Any) -> Any:
    """The same for every text and every key inside of a value. Raises `RecursionError` where it has no end."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[Any, Any]", value)
        return {whole_texts(key): whole_texts(inner) for key, inner in table.items()}
    if isinstance(value, list | tuple):
        return [whole_texts(inner) for inner in cast("list[Any]", value)]
    return value


def converted(document: Mapping[str, Any], record: type[Any]) -> Any:
    """The document as a record. Raises `msgspec.ValidationError`, and `RecursionError` where it has no end."""
    try:
        return msgspec.convert(document, record)
    except UnicodeEncodeError:
        return msgspec.convert(whole_texts(document), record)
