"""Changes of JSON text that leave everything else as it is: order, blanks, comments, ends of lines.

    text = appended(text, ("hooks", "PreToolUse"), {"hooks": [...]})
    text = removed(text, ("hooks", "PreToolUse", 1))

What was appended and is removed again leaves the text as it was, byte for byte, unless it was put into something empty.
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
    #: Of an object, in the order of `items`.
    keys: list[str] = []
    items: list["_Node"] = []
    #: Where each item begins: of an object, its key.
    starts: list[int] = []


def appended(text: str, path: Path, value: Any) -> str:
    """With the value as the last item of the array at this path; what is missing of the path is made."""
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
        raise EditError(f"{_shown(path)} is no array")
    return _inserted(text, node, value)


def with_value(text: str, path: Path, value: str) -> str:
    """With this text as the member at this path, of an object that is there."""
    node = _read(text, path)
    for at, step in enumerate(path[:-1]):
        found = _child(node, step, path[:at])
        if found is None:
            raise EditError(f"there is no {_shown(path[: at + 1])}")
        node = found
    index = _index(node, path[-1])
    if index is None:
        return _inserted(text, node, value, key=str(path[-1]))
    before = node.items[index]
    return text[: before.start] + json.dumps(value, ensure_ascii=False) + text[before.end :]


def removed(text: str, path: Path) -> str:
    """Without the item or the member at this path."""
    node, index = _found(text, path)
    if index:
        return text[: node.items[index - 1].end] + text[node.items[index].end :]
    if len(node.items) > 1:
        return text[: node.starts[0]] + text[node.starts[1] :]
    return text[: node.start + 1] + text[node.end - 1 :]


def _found(text: str, path: Path) -> tuple[_Node, int]:
    """What is around the item or the member at this path, and its place in there."""
    node = _read(text, path)
    for at, step in enumerate(path[:-1]):
        found = _child(node, step, path[:at])
        if found is None:
            raise EditError(f"there is no {_shown(path[: at + 1])}")
        node = found
    index = _index(node, path[-1])
    if index is None:
        raise EditError(f"there is no {_shown(path)}")
    return node, index


# Reading


def _read(text: str, path: Path) -> _Node:
    """What is beside the path is only passed over."""
    node = _value(text, _skip(text, 0), path, 0)
    if _skip(text, node.end) != len(text):
        raise EditError("it is no JSON")
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
        raise EditError("it is no JSON")
    return _Node("plain", at, found.end())


def _passed_over(text: str, at: int) -> _Node | None:
    """A value that nothing of is needed, at the speed of C; None for one with comments in it."""
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
                raise EditError("it is no JSON")
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
            raise EditError("it is no JSON")
    node.end = at + 1
    return node


def _child(node: _Node, step: str | int, before: Path) -> _Node | None:
    if node.kind != ("object" if isinstance(step, str) else "array"):
        what = "object" if isinstance(step, str) else "array"
        raise EditError(f"{_shown(before)} is no {what}")
    index = _index(node, step)
    return None if index is None else node.items[index]


def _index(node: _Node, step: str | int) -> int | None:
    """Of a key that is there twice the last one counts, as for every reader."""
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
    """The blanks that the line of this place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """What one step is indented by: as much as the first line that is indented."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "
