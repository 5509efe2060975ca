"""Read JSON as a guard's answer must be: one document that cannot be read in two ways.

Besides invalid text it refuses duplicate keys, NaN and Infinity, integers beyond 64 bits, lone surrogates,
text that is not UTF-8, deep nesting and big documents. Everything here runs at the speed of C, because a hook
decides how much it prints: the worst megabyte must not hold up the event loop.
"""

import re
from array import array
from itertools import accumulate
from typing import Any

import msgspec

from hookline.model.errors import HooklineError

LIMIT = 1 << 20
DEPTH = 64
VALUES = 50_000

_BOM = b"\xef\xbb\xbf"
_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_AS_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
#: Numbers of this size cost the parser as much as hundreds of others.
_HUGE_EXPONENT = re.compile(rb"[eE][+-]?0*\d{3}")
_HUGE_EXPONENTS = 1000
_LONG_INTEGER = re.compile(rb"(?<![\d.eE+-])(-?)(\d{19,})(?![\d.eE])")


class StrictJsonError(HooklineError):
    """The text is not accepted as JSON; the message says why."""


def read_strict(text: bytes, *, limit: int = LIMIT, depth: int = DEPTH) -> Any:
    """Return the value of a JSON text. Raises `StrictJsonError` and nothing else."""
    if len(text) > limit:
        raise StrictJsonError(f"{len(text):,} bytes are more than the {limit:,} that are read")
    text = text.removeprefix(_BOM)
    bare = _without_strings(text)
    opened = bare.count(b"[") + bare.count(b"{")
    if opened + bare.count(b",") > VALUES:
        raise StrictJsonError(f"more than {VALUES:,} values")
    if opened > depth and _nesting(bare) > depth:
        raise StrictJsonError(f"nested more than {depth} levels deep")
    if len(_HUGE_EXPONENT.findall(bare)) > _HUGE_EXPONENTS:
        raise StrictJsonError(f"more than {_HUGE_EXPONENTS:,} numbers with huge exponents")
    value = _decoded(text)
    _refuse_long_integers(bare)
    # Counted on both sides because no parser says that it dropped a key.
    if bare.count(b":") != _without_strings(msgspec.json.encode(value)).count(b":"):
        raise StrictJsonError(f"the key {_first_duplicate(text)!r} appears twice in one object")
    return value


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"not UTF-8: {error.reason}") from None
    except msgspec.DecodeError as error:
        raise StrictJsonError(_plainer(str(error))) from None
    except RecursionError:
        raise StrictJsonError("nested too deeply") from None


def _plainer(problem: str) -> str:
    if problem == "Input data was truncated":
        return "the JSON ends too early"
    return (
        problem[:1].lower() + problem[1:] if problem.startswith(("Number", "Integer", "Invalid")) else problem
    )


def _without_strings(text: bytes) -> bytes:
    """Return the text without its string literals, if it is JSON (if not, something harmless)."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    if text.count(b'"') > 4 * VALUES:
        raise StrictJsonError(f"more than {VALUES:,} values")
    return b"".join(text.split(b'"')[::2])


def _nesting(bare: bytes) -> int:
    steps = array("b", bare.translate(_AS_STEPS, _NOT_BRACKETS))
    return max(accumulate(steps), default=0)


def _refuse_long_integers(bare: bytes) -> None:
    for sign, digits in _LONG_INTEGER.findall(bare):
        # As texts of one length, numbers are in order.
        if len(digits) > 19 or digits > (b"9223372036854775808" if sign else b"9223372036854775807"):
            raise StrictJsonError("an integer does not fit in 64 bits")


def _first_duplicate(text: bytes) -> str:
    """Return the name of the first duplicate key, for the message only; a big text is not read a second time
    for that."""
    if len(text) > 65536:
        return "?"
    import json  # noqa: PLC0415 - only for this message

    found: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        found.extend(key for index, key in enumerate(keys) if key in keys[:index])

    json.loads(text, object_pairs_hook=note)
    return found[0] if found else "?"
