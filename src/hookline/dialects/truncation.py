"""Shorten a document to a limit: its longest texts are cut in the middle, with a mark."""

from collections.abc import Callable, Iterable
from types import NoneType
from typing import Any, cast

#: Names the texts that were cut, so that a hook can refuse to judge by a part.
SHORTENED = "hookline_shortened"

_SHORTEST = 256
_NAMED = 100
_NO_TEXT_INSIDE = frozenset((int, float, bool, NoneType))

#: The way to a value from the outermost table, innermost key first.
_Trail = tuple["_Trail | None", str | int]
_Encode = Callable[[Any], bytes]


def fitted(text: bytes, document: Callable[[], dict[str, Any]], limit: int, encode: _Encode) -> bytes | None:
    """Return the document as JSON of at most `limit` bytes; None when there are no long texts to cut.

    `text` is the document as JSON; `document` makes a copy of it in plain dicts and lists, which is changed.
    """
    if len(text) - _in_long_texts(text) > limit:
        return None
    copy = document()
    measure = _escaped if text.isascii() else encode
    texts = _long_texts(copy, measure)
    others = len(text) - sum(each.written for each in texts)
    keep = limit // 2
    while keep >= _SHORTEST:
        if others + sum(each.written_within(keep, measure) for each in texts) <= limit:
            shorter = encode(_cut(copy, texts, keep))
            if len(shorter) <= limit:
                return shorter
        keep //= 2
    return None


def _escaped(text: str) -> bytes:
    """Encode a text. Where one text holds lone surrogates, all are written in ASCII; in other ASCII the two
    ways agree."""
    import json  # noqa: PLC0415 - only for what is too big

    return json.dumps(text).encode()


def _in_long_texts(text: bytes) -> int:
    """Return the number of bytes of a JSON text that are in long texts: cutting cannot save more than that.

    Asked of the bytes, because walking a million values takes longer than writing them.
    """
    if b"\\" in text:
        text = text.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    return sum(size for size in map(len, text.split(b'"')[1::2]) if size > _SHORTEST)


class _LongText:
    """A text that may be cut, and its path in the document."""

    __slots__ = ("holder", "key", "size", "text", "trail", "written")

    def __init__(
        self, holder: Any, key: str | int, text: str, trail: _Trail | None, measure: _Encode
    ) -> None:
        self.holder = holder
        self.key = key
        self.text = text
        self.trail = trail
        self.size = len(text.encode("utf-8", "surrogatepass"))
        self.written = len(measure(text))

    def within(self, keep: int) -> str:
        """Return the text cut to so many bytes of UTF-8, without the escapes that JSON adds."""
        if self.size <= keep:
            return self.text
        length = len(self.text)
        half = length * keep // self.size // 2
        mark = f" [hookline left out {length - 2 * half:,} characters] "
        return f"{self.text[:half]}{mark}{self.text[length - half :]}"

    def written_within(self, keep: int, measure: _Encode) -> int:
        return self.written if self.size <= keep else len(measure(self.within(keep)))

    @property
    def name(self) -> str:
        keys = [self.key]
        trail = self.trail
        while trail is not None:
            trail, key = trail
            keys.append(key)
        first, *rest = reversed(keys)
        return str(first) + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in rest)


def _cut(document: dict[str, Any], texts: list[_LongText], keep: int) -> dict[str, Any]:
    names: list[str] = []
    for each in texts:
        each.holder[each.key] = each.within(keep)
        if each.size > keep and len(names) < _NAMED:
            names.append(each.name)
    return {**document, SHORTENED: names}


def _long_texts(document: dict[str, Any], measure: _Encode) -> list[_LongText]:
    """Return the long texts in the order of the document."""
    found: list[_LongText] = []

    def look(holder: Any, pairs: Iterable[tuple[Any, Any]], trail: _Trail | None) -> None:
        for key, value in pairs:
            if isinstance(value, str):
                # A character is at most four bytes.
                if len(value) * 4 > _SHORTEST:
                    found.append(_LongText(holder, key, value, trail, measure))
            elif isinstance(value, dict):
                table = cast("dict[Any, Any]", value)
                if not _NO_TEXT_INSIDE.issuperset(map(type, table.values())):
                    look(table, table.items(), (trail, key))
            elif isinstance(value, list):
                items = cast("list[Any]", value)
                if not _NO_TEXT_INSIDE.issuperset(map(type, items)):
                    look(items, enumerate(items), (trail, key))

    look(document, document.items(), None)
    return found
