"""A document made to fit: its longest texts are cut in the middle, with a mark that says so."""

from collections.abc import Callable
from typing import Any, cast

#: Names the texts that were cut, so that a hook can refuse to judge by a part.
SHORTENED = "hookline_shortened"

_SHORTEST = 256


def fitted(document: dict[str, Any], limit: int, encode: Callable[[Any], bytes]) -> bytes | None:
    """The document as JSON of at most `limit` bytes; None when there are no long texts to cut."""
    keep = limit // 2
    while keep >= _SHORTEST:
        cut: list[str] = []
        result = cast("dict[str, Any]", _cut(document, keep, "", cut))
        text = encode({**result, SHORTENED: cut[:100]})
        if len(text) <= limit:
            return text
        keep //= 2
    return None


def _cut(value: Any, keep: int, name: str, cut: list[str]) -> Any:
    if isinstance(value, str):
        shorter = _middle_out(value, keep)
        if shorter is not value:
            cut.append(name)
        return shorter
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {key: _cut(each, keep, f"{name}.{key}" if name else key, cut) for key, each in pairs}
    if isinstance(value, list):
        return [_cut(each, keep, f"{name}[{i}]", cut) for i, each in enumerate(cast("list[Any]", value))]
    return value


def _middle_out(text: str, keep: int) -> str:
    """Measured in bytes of UTF-8; what JSON adds by escaping is found when the whole is encoded."""
    if len(text) * 4 <= keep:
        return text
    size = len(text.encode("utf-8", "surrogatepass"))
    if size <= keep:
        return text
    half = len(text) * keep // size // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]} [hookline left out {left_out:,} characters] {text[len(text) - half :]}"
