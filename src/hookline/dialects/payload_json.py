"""A payload document as JSON bytes, whatever records and texts a host put into it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, cast

import msgspec

from hookline.dialects.whole_text import whole_texts


def written(document: Mapping[str, Any]) -> bytes:
    """Raises TypeError or ValueError for a value that has no JSON form."""
    try:
        try:
            return _encoder.encode(document)
        except UnicodeEncodeError:
            return _with_escapes(document)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def written_answer(document: Mapping[str, Any]) -> str:
    """One line. Half a character in a text must not cost an agent the whole answer, so it is replaced."""
    try:
        try:
            text = _encoder.encode(document)
        except UnicodeEncodeError:
            text = _encoder.encode(whole_texts(msgspec.to_builtins(document, enc_hook=_plain)))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return text.decode() + "\n"


def _with_escapes(document: Mapping[str, Any]) -> bytes:
    """A path whose bytes are not UTF-8 holds lone surrogates: told as JSON escapes, not refused."""
    import json  # noqa: PLC0415 - rare

    plain = _finite(msgspec.to_builtins(document, enc_hook=_plain))
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    """With null for what is no number in JSON, as the usual writer has it."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in cast("dict[Any, Any]", value).items()}
    return (
        [_finite(inner) for inner in cast("list[Any]", value)] if isinstance(value, list | tuple) else value
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
