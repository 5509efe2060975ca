"""Change TOML text and leave everything else as it is: order, blanks, comments, ends of lines.

    text = appended(text, ("hooks", "hooks"), {"event": "tool_call_before", ...})
    text = with_table(text, ("hooks", "state", key), {"trusted_hash": "..."})
    text = removed(text, ("hooks", "hooks", 1))

New values go to the end of the text. Values that are written inside another, as `a = {b = 1}`, stay
untouched.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hookline.documents.toml_text import Scan, Statement
from hookline.model.diagnostics import Path

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")


def appended(text: str, path: Path, value: Mapping[str, Any]) -> str:
    """Append a table to the array of tables at this path; arrays of tables in it are written below it."""
    return _with_block(text, _array_lines(path, value))


def with_table(text: str, path: Path, value: Mapping[str, Any]) -> str:
    return _with_block(text, [f"[{_dotted(path)}]", *_pairs(value)])


def with_value(text: str, path: Path, value: Any) -> str:
    """Set the key at this path to this text, in a table that has a header."""
    statements = Scan(text).statements
    line = f"{_quoted(str(path[-1]))} = {_written(value)}"
    for at, one in enumerate(statements):
        if one.path == path and not one.is_header:
            return text[: one.start] + line + text[one.end :]
        if one.path == path[:-1] and one.is_header:
            last, end_of_line = one, "\r\n" if "\r\n" in text else "\n"
            for following in statements[at + 1 :]:
                if following.is_header:
                    break
                if following.path == path:
                    return text[: following.start] + line + text[following.end :]
                last = following
            end = _line_end(text, last.end)
            before = text[:end] if text[:end].endswith("\n") else text[:end] + end_of_line
            return f"{before}{line}{end_of_line}{text[end:]}"
    return text


def removed(text: str, path: Path) -> str:
    """Remove the table, or the value on a separate line, at this path."""
    statements = Scan(text).statements
    for at in reversed(range(len(statements))):
        one = statements[at]
        if one.path[: len(path)] == path:
            start, end = text.rfind("\n", 0, one.start) + 1, _line_end(text, one.end)
            if one.is_header and text[:start].endswith(("\n\n", "\n\r\n")):
                start = text.rindex("\n", 0, start - 1) + 1
            elif one.is_header and not text[:start]:
                end = _line_end(text, end) if _BLANK_LINE.match(text, end) else end
            text = text[:start] + text[end:]
    return text


def renamed(text: str, path: Path, key: str) -> str:
    """Rename the last key of this path."""
    names = [step for step in path if isinstance(step, str)]
    for one in reversed(Scan(text).statements):
        if one.path[: len(path)] == path and (span := _span(one, len(names))) is not None:
            text = text[: span[0]] + _quoted(key) + text[span[1] :]
    return text


def _span(one: Statement, number: int) -> tuple[int, int] | None:
    """Return the span of one part of the path; the first parts of a pair are in its table's header."""
    names = sum(isinstance(step, str) for step in one.path)
    at = number - 1 - (names - len(one.parts))
    return one.parts[at] if at >= 0 else None


def _array_lines(path: Path, value: Mapping[str, Any]) -> list[str]:
    plain = {key: each for key, each in value.items() if not _is_tables(each)}
    lines = [f"[[{_dotted(path)}]]", *_pairs(plain)]
    for key, tables in value.items():
        for table in cast("list[Mapping[str, Any]]", tables) if key not in plain else ():
            lines += ["", *_array_lines((*path, key), table)]
    return lines


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and isinstance(next(iter(cast("list[Any]", value)), None), dict)


def _pairs(value: Mapping[str, Any]) -> list[str]:
    return [f"{_quoted(key)} = {_written(each)}" for key, each in value.items()]


def _written(value: Any) -> str:
    """Write a value: JSON is TOML, except characters that JSON escapes in pairs, and one that TOML does not
    accept."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with_block(text: str, lines: Sequence[str]) -> str:
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    before = f"{text}{end_of_line}" if text and not text.endswith("\n") else text
    return before + (end_of_line if before else "") + "".join(f"{line}{end_of_line}" for line in lines)


def _dotted(path: Path) -> str:
    return ".".join(_quoted(str(step)) for step in path)


def _quoted(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _line_end(text: str, at: int) -> int:
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found else at
