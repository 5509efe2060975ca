"""Changes of TOML text that leave everything else as it is: order, blanks, comments, ends of lines.

    text = appended(text, ("hooks", "hooks"), {"event": "tool_call_before", ...})
    text = with_table(text, ("hooks", "state", key), {"trusted_hash": "..."})
    text = removed(text, ("hooks", "hooks", 1))

What is added stands at the end of the text. Values that are written inside another, as `a = {b = 1}`, stay untouched.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from hookline.documents.toml_text import Scan, Statement
from hookline.model.diagnostics import Path

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")


def appended(text: str, path: Path, value: Mapping[str, Any]) -> str:
    """With a table more in the array of tables at this path."""
    return _with_block(text, f"[[{_dotted(path)}]]", value)


def with_table(text: str, path: Path, value: Mapping[str, Any]) -> str:
    return _with_block(text, f"[{_dotted(path)}]", value)


def removed(text: str, path: Path) -> str:
    """Without the table, or the value of a line of its own, at this path."""
    statements = Scan(text).statements
    for at in reversed(range(len(statements))):
        one = statements[at]
        if one.path[: len(path)] == path:
            start, end = _line_start(text, one.start), _line_end(text, one.end)
            if one.is_header and text[:start].endswith(("\n\n", "\n\r\n")):
                start = text.rindex("\n", 0, start - 1) + 1
            elif one.is_header and not text[:start]:
                end = _line_end(text, end) if _BLANK_LINE.match(text, end) else end
            text = text[:start] + text[end:]
    return text


def renamed(text: str, path: Path, key: str) -> str:
    """With another key in place of the last one of this path."""
    names = [step for step in path if isinstance(step, str)]
    for one in reversed(Scan(text).statements):
        if one.path[: len(path)] == path and (span := _span(one, len(names))) is not None:
            text = text[: span[0]] + _quoted(key) + text[span[1] :]
    return text


def _span(one: Statement, number: int) -> tuple[int, int] | None:
    """Where the part of the path with this number is written; a pair has the first ones in its table's header."""
    names = sum(isinstance(step, str) for step in one.path)
    at = number - 1 - (names - len(one.parts))
    return one.parts[at] if at >= 0 else None


def _with_block(text: str, header: str, value: Mapping[str, Any]) -> str:
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    before = f"{text}{end_of_line}" if text and not text.endswith("\n") else text
    lines = [header, *(f"{_quoted(key)} = {json.dumps(each)}" for key, each in value.items())]
    return before + (end_of_line if before else "") + "".join(f"{line}{end_of_line}" for line in lines)


def _dotted(path: Path) -> str:
    return ".".join(_quoted(str(step)) for step in path)


def _quoted(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found else at
