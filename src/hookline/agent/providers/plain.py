"""Text and JSON that any provider and any screen can take: no half characters in it."""

from typing import Any, cast


def sendable(text: str) -> str:
    """The text as UTF-8 can carry it; half a character becomes a question mark."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def jsonable(value: Any) -> Any:
    """The JSON value with every text in it made sendable."""
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, dict):
        fields = cast("dict[Any, Any]", value)
        return {sendable(str(key)): jsonable(each) for key, each in fields.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in cast("list[Any]", value)]
    return value
