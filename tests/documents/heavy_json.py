"""Texts of about a mebibyte that are made to be slow to read."""

from collections.abc import Callable, Mapping

from hookline.documents.strict_json import LIMIT, VALUES


def _many(item: bytes, weight: int = 1) -> bytes:
    """As many as are accepted: the costliest text is one that is not refused."""
    count = min(VALUES // weight - 2, LIMIT // (len(item) + 1) - 2)
    return b"[" + b",".join([item] * count) + b"]"


def _keys() -> bytes:
    return b"{" + b",".join(b'"%d":"%014d"' % (number, number) for number in range(40_000)) + b"}"


def _twice() -> bytes:
    return _keys()[:-1] + b',"1":2}'


HEAVY: Mapping[str, Callable[[], bytes]] = {
    "lists": lambda: _many(b"[]", 2),
    "objects": lambda: _many(b'{"a":1,"b":2}', 3),
    "texts": lambda: _many(b'"xxxxxxxxxxxxxxxx"'),
    "escapes": lambda: _many(b'"\\u00e9\\n\\"\\\\"'),
    "floats": lambda: _many(b"1.23456789e-300"),
    "huge exponents": lambda: b"[" + b"1e300," * 999 + b",".join([b"1.5e30"] * 40_000) + b"]",
    "long integers": lambda: _many(b"1234567890123456789"),
    "deep": lambda: _many(b"[" * 63 + b"]" * 63, 64),
    "keys": _keys,
    "one key twice": _twice,
    "one text": lambda: b'"' + b"x" * (LIMIT - 2) + b'"',
    "backslashes": lambda: b'"' + b"\\\\" * (LIMIT // 2 - 1) + b'"',
    "escaped quotes": lambda: b'"' + b'\\"' * (LIMIT // 2 - 1) + b'"',
    "opening brackets": lambda: b"[" * LIMIT,
    "pairs of brackets": lambda: b"[]" * (LIMIT // 2),
    "quotes": lambda: b'"' * LIMIT,
    "colons": lambda: b":" * LIMIT,
    "digits": lambda: b"1" * LIMIT,
    "not UTF-8": lambda: b'"' + b"\xff" * (LIMIT - 2) + b'"',
}
