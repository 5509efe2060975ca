"""Change JSON text and leave everything else as it is: order, blanks, comments, ends of lines.

    text = appended(text, ("hooks", "PreToolUse"), {"hooks": [...]})
    text = removed(text, ("hooks", "PreToolUse", 1))

Appending an item and removing it again restores the text byte for byte, unless the container was empty.
"""

import json
import re
from typing import Any, Literal

from msgspec import Struct

from hookline.documents.edit import EditError
from hookline.model.diagnostics import Path

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"')
_WORD = re.compile(r'[^\s{}\[\],:"]+')
_DEEPEST = 200
_DECODER = json.JSONDecoder()


class _Node(Struct):
    kind: Literal["object", "array", "plain"]
    start: int
    end: int = 0
    #: The keys of an object, in the order of `items`.
    keys: list[str] = []
    items: list["_Node"] = []
    #: The start of each item; for an object, of its key.
    starts: list[int] = []


def appended(text: str, path: Path, value: Any) -> str:
    """Append the value to the array at this path; missing parts of the path are created."""
    if not text.strip():
        text = "{}\n"
    node = _read(text, path)
    for at, step in enumerate(path):
        found = _child(node, step, path[:at])
        if found is None:
            inner: Any = [value]
            for outer in reversed(path[at + 1 :]):
                inner = {outer: inner}
            return _inserted(text, node, inner, key=str(step))
        node = found
    if node.kind != "array":
        raise EditError(f"{_shown(path)} is not an array")
    return _inserted(text, node, value)


def with_value(text: str, path: Path, value: Any) -> str:
    """Set the member or the item at this path; the object or the array exists."""
    node = _around(text, path)
    index = _index(node, path[-1])
    if index is None:
        return _inserted(text, node, value, key=str(path[-1]))
    before = node.items[index]
    return text[: before.start] + _written(text, value, before) + text[before.end :]


def _written(text: str, value: Any, before: _Node) -> str:
    """Write a value in place of another: on one line if that one is."""
    if "\n" not in text[before.start : before.end]:
        return json.dumps(value, ensure_ascii=False)
    outer, end_of_line = _indent(text, before.start), "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{end_of_line}{outer}".join(lines)


def renamed(text: str, path: Path, key: str) -> str:
    """Rename the last key of this path."""
    node, index = _found(text, path)
    start = node.starts[index]
    found = _TEXT.match(text, start)
    if node.kind != "object" or found is None:
        raise EditError(f"{_shown(path)} is not a member of an object")
    return text[:start] + json.dumps(key, ensure_ascii=False) + text[found.end() :]


def duplicates(text: str, path: Path) -> list[Any]:
    """Return every value of a key that an object has several times, as they stand."""
    node, _ = _found(text, path)
    return [
        json.loads(text[item.start : item.end])
        for key, item in zip(node.keys, node.items, strict=True)
        if key == path[-1]
    ]


def without_duplicates(text: str, path: Path) -> str:
    """Remove every member of this key but the last."""
    node, last = _found(text, path)
    for index in reversed(range(last)):
        if node.keys[index] == path[-1]:
            text = text[: node.starts[index]] + text[node.starts[index + 1] :]
    return text


def removed(text: str, path: Path) -> str:
    """Remove the item or the member at this path."""
    node, index = _found(text, path)
    if index:
        return text[: node.items[index - 1].end] + text[node.items[index].end :]
    if len(node.items) > 1:
        return text[: node.starts[0]] + text[node.starts[1] :]
    return text[: node.start + 1] + text[node.end - 1 :]


def _around(text: str, path: Path) -> _Node:
    """Return the object or the array of the member or item at this path."""
    node = _read(text, path)
    for at, step in enumerate(path[:-1]):
        found = _child(node, step, path[:at])
        if found is None:
            raise EditError(f"there is no {_shown(path[: at + 1])}")
        node = found
    return node


def _found(text: str, path: Path) -> tuple[_Node, int]:
    """Return the container of the item or member at this path, and its index in there."""
    node = _around(text, path)
    index = _index(node, path[-1])
    if index is None:
        raise EditError(f"there is no {_shown(path)}")
    return node, index


# Reading


def _read(text: str, path: Path) -> _Node:
    """Read the nodes along the path; everything beside it is skipped."""
    node = _value(text, _skip(text, 0), path, 0)
    if _skip(text, node.end) != len(text):
        raise EditError("it is not valid JSON")
    return node


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, path: Path | None, depth: int) -> _Node:
    if depth > _DEEPEST:
        raise EditError("it is nested too deeply")
    opening = text[at : at + 1]
    if opening in {"{", "["}:
        return (_passed_over(text, at) if path is None else None) or _container(text, at, path, depth)
    found = (_TEXT if opening == '"' else _WORD).match(text, at)
    if found is None:
        raise EditError("it is not valid JSON")
    return _Node("plain", at, found.end())


def _passed_over(text: str, at: int) -> _Node | None:
    """Skip a value at the speed of C; None for one with comments in it."""
    try:
        return _Node("plain", at, _DECODER.raw_decode(text, at)[1])
    except (ValueError, RecursionError):
        return None


def _container(text: str, at: int, path: Path | None, depth: int) -> _Node:
    node = _Node("object" if text[at] == "{" else "array", at)
    closing = "}" if node.kind == "object" else "]"
    at = _skip(text, at + 1)
    while text[at : at + 1] != closing:
        node.starts.append(at)
        if node.kind == "object":
            key = _TEXT.match(text, at)
            colon = _skip(text, key.end()) if key else at
            if key is None or text[colon : colon + 1] != ":":
                raise EditError("it is not valid JSON")
            node.keys.append(json.loads(key[0]))
            at = _skip(text, colon + 1)
        step = node.keys[-1] if node.kind == "object" else len(node.items)
        inner = path[1:] if path and path[0] == step else None
        item = _value(text, at, inner, depth + 1)
        node.items.append(item)
        at = _skip(text, item.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise EditError("it is not valid JSON")
    node.end = at + 1
    return node


def _child(node: _Node, step: str | int, before: Path) -> _Node | None:
    if node.kind != ("object" if isinstance(step, str) else "array"):
        what = "an object" if isinstance(step, str) else "an array"
        raise EditError(f"{_shown(before)} is not {what}")
    index = _index(node, step)
    return None if index is None else node.items[index]


def _index(node: _Node, step: str | int) -> int | None:
    """Return the index of a step; of duplicate keys the last one, as every reader does."""
    if isinstance(step, int):
        return step if node.kind == "array" and step < len(node.items) else None
    return max((at for at, key in enumerate(node.keys) if key == step), default=None)


def _shown(path: Path) -> str:
    return ".".join(map(str, path)) or "the file"


# Writing


def _inserted(text: str, node: _Node, value: Any, key: str = "") -> str:
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    if node.items and "\n" not in text[node.start : node.starts[0]]:
        body = f", {name}{json.dumps(value, ensure_ascii=False)}"
        return text[: node.items[-1].end] + body + text[node.items[-1].end :]
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, node.start)
    inner = _indent(text, node.starts[0]) if node.items else outer + _unit(text)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    body = f"{end_of_line}{inner}{name}{f'{end_of_line}{inner}'.join(lines)}"
    if node.items:
        return f"{text[: node.items[-1].end]},{body}{text[node.items[-1].end :]}"
    kept = text[node.start + 1 : node.end - 1].rstrip()
    return f"{text[: node.start + 1]}{kept}{body}{end_of_line}{outer}{text[node.end - 1 :]}"


def _indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of the line of this position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return the indentation of one level: that of the first indented line."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "
