"""Read JSON configuration: Python's reader for the value, our own scan for lines and duplicate keys."""

import json
import re
from collections.abc import Mapping
from typing import Any

from hookline.documents.document import (
    Duplicate,
    Newlines,
    ParseResult,
    SyntaxProblem,
    refuse_excess,
    too_deep,
    too_many,
)
from hookline.model.diagnostics import Path

_TOKEN = re.compile(
    r"""(?:
        (?P<mark> [{}\[\],:] )
      | (?P<text> "(?: [^"\\\x00-\x1f] | \\. )*+" )
      | (?P<word> [^\s{}\[\],:"]+ )
    )""",
    re.VERBOSE,
)

#: A bound before parsing: a text may hold commas inside its strings, so it is wide.
_COMMAS = 1_000_000


def read(text: str) -> ParseResult:
    if not text.strip():
        raise SyntaxProblem("the file is empty", 1, fix="write {} for no hooks")
    if text.count(",") > _COMMAS:
        raise too_many(None)
    twice = False

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        found = dict(pairs)
        twice = twice or len(found) != len(pairs)
        return found

    try:
        value = json.loads(text, object_pairs_hook=as_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _explained(text, error) from None
    except RecursionError:
        raise too_deep(None) from None
    except _NotJson as error:
        raise SyntaxProblem(str(error), None) from None
    except ValueError:
        raise SyntaxProblem("a number has too many digits", None) from None
    refuse_excess(value)
    duplicates = _Scan(text).duplicates if twice else ()
    return ParseResult(value, duplicates, lambda: _Scan(text).lines)


class _NotJson(Exception):  # noqa: N818 - never leaves this file
    pass


def _refuse_constant(word: str) -> Any:
    raise _NotJson(f"{word} is not JSON")


def _explained(text: str, error: json.JSONDecodeError) -> SyntaxProblem:
    here = text[error.pos :].lstrip()
    before = text[: error.pos].rstrip()
    if here.startswith(("//", "/*", "#")):
        fix = "remove the comment"
        return SyntaxProblem("JSON has no comments", error.lineno, code="json-comment", fix=fix)
    if here[:1] in ("}", "]") and before.endswith(","):
        line = before.count("\n") + 1
        return SyntaxProblem("a comma before the closing bracket", line, fix="remove the comma")
    if here.startswith("'"):
        return SyntaxProblem("text in single quotes", error.lineno, fix="use double quotes")
    return SyntaxProblem(error.msg, error.lineno)


class _Scan:
    """One pass over a text that is known to be JSON: finds where each key and each item starts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newlines = Newlines(text)
        self._path: list[str | int] = []
        self._keys: list[set[str] | None] = []
        self._key_next = False
        self._lines: dict[Path, int] = {}
        self._twice: list[Duplicate] = []
        for match in _TOKEN.finditer(text):
            self._take(match)

    @property
    def lines(self) -> Mapping[Path, int]:
        return self._lines

    @property
    def duplicates(self) -> tuple[Duplicate, ...]:
        return tuple(self._twice)

    def _take(self, match: re.Match[str]) -> None:
        kind = match.lastgroup or ""
        found, start = match[kind], match.start(kind)
        if kind == "text" and self._key_next:
            self._key(json.loads(found), start)
        elif kind != "mark" or found in "{[":
            self._item(start)
            if kind == "mark":
                self._open(found)
        elif found in "}]":
            self._path.pop()
            self._keys.pop()
            self._key_next = False
        elif found == ",":
            self._key_next = self._keys[-1] is not None

    def _key(self, key: str, start: int) -> None:
        seen = self._keys[-1]
        self._path[-1] = key
        self._key_next = False
        line = self._newlines.line(start)
        if seen is not None:
            if key in seen:
                self._twice.append(Duplicate(tuple(self._path), line))
            seen.add(key)
        self._lines[tuple(self._path)] = line

    def _item(self, start: int) -> None:
        if self._keys and self._keys[-1] is None:
            index = self._path[-1]
            self._path[-1] = index + 1 if isinstance(index, int) else 0
            self._lines[tuple(self._path)] = self._newlines.line(start)

    def _open(self, found: str) -> None:
        self._path.append("" if found == "{" else -1)
        self._keys.append(set() if found == "{" else None)
        self._key_next = found == "{"
