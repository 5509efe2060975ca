"""The answers that are written in a program: objects as JSON, Python and jq have them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

#: Levels of nesting, characters of a value and number of answers that are read.
_DEEPEST, _LONGEST, _MOST = 4, 2_000, 100
_KEY: Final = re.compile(r"""\s*+,?+\s*+(?:"([^"\n]+)"|'([^'\n]+)'|([A-Za-z_]\w*+))\s*+:\s*+""")
_TEXT: Final = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")
_REST: Final = re.compile(r"[^,}\]]*")
_END: Final = re.compile(r"\s*+,?+\s*+\}")
_FIXED: Final[Mapping[str, Any]] = {"true": True, "True": True, "false": False, "False": False}


class Unknown(Struct, frozen=True):
    """A value that is known when the program runs."""


UNKNOWN: Final = Unknown()


def answers_in(text: str, keys: frozenset[str]) -> list[dict[str, Any]]:
    """The objects written in a program that have one of the keys, outermost ones only."""
    plain, found, at = text.replace('\\"', '"'), list[dict[str, Any]](), 0
    while (at := plain.find("{", at)) >= 0 and len(found) < _MOST:
        value, end = _object(plain, at)
        if value is not None and not keys.isdisjoint(value):
            found.append(value)
            at = end
        else:
            at += 1
    return found


def _object(text: str, at: int, depth: int = 0) -> tuple[dict[str, Any] | None, int]:
    """An object as JSON, Python or jq have it, and where it ends; None where the text is something else."""
    found: dict[str, Any] = {}
    at += 1
    while (key := _KEY.match(text, at)) is not None and depth < _DEEPEST:
        value, at = _value(text, key.end(), depth)
        found[key[1] or key[2] or key[3]] = value
    closing = _END.match(text, at)
    return (found, closing.end()) if closing else (None, at)


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if text[at : at + 1] == "{":
        value, end = _object(text, at, depth + 1)
        return (UNKNOWN, _closed(text, at)) if value is None else (value, end)
    if (found := _TEXT.match(text, at)) is not None:
        end = found.end()
        said = found[1] if found[1] is not None else found[2]
        rest = _REST.match(text, end)
        whole = rest is None or not rest[0].strip()
        return (
            said if whole and "$" not in said and "%" not in said else UNKNOWN
        ), rest.end() if rest else end
    if text[at : at + 1] in ("(", "["):
        return UNKNOWN, _closed(text, at)
    rest = _REST.match(text, at)
    end = rest.end() if rest else at
    return _FIXED.get(text[at:end].strip(), UNKNOWN), end


def _closed(text: str, at: int) -> int:
    """After the bracket that closes the one here."""
    depth = 0
    for place in range(at, min(len(text), at + _LONGEST)):
        depth += (text[place] in "{[(") - (text[place] in "}])")
        if not depth:
            return place + 1
    return at + 1
