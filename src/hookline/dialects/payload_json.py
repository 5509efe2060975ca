"""A payload document as JSON bytes, whatever records and texts a host put into it."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec


def written(document: Mapping[str, Any]) -> bytes:
    """Raises TypeError or ValueError for a value that has no JSON form."""
    try:
        return _encoder.encode(document)
    except UnicodeEncodeError:
        # A path whose bytes are not UTF-8 holds lone surrogates: told as JSON escapes, not refused.
        import json  # noqa: PLC0415 - rare

        return json.dumps(msgspec.to_builtins(document, enc_hook=_plain), separators=(",", ":")).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
