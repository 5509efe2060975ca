"""Change YAML text and leave everything else as it is: order, blanks, comments, ends of lines.

    text = appended(text, ("agents", "root", "hooks", "stop"), {"type": "command", ...})
    text = removed(text, ("agents", "root", "hooks", "stop", 1))

Collections in brackets stay in brackets; others get separate lines.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from hookline.documents.edit import EditError
from hookline.model.diagnostics import Path

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_STEP = 2


def appended(text: str, path: Path, value: Any) -> str:
    """Append the value to the list at this path; missing parts of the path are created."""
    tree = _Tree(text)
    nodes = tree.nodes(path)
    rest = path[len(nodes) - 1 :]
    if not nodes[0] or _is_null(nodes[0]):
        return text + _ended(text) + _as_lines(_nested(path, value), 0, tree.end_of_line)
    node, new = nodes[-1], _nested(rest, value)
    if _is_null(node):
        # `hooks:` without a value; the new value goes below that line.
        column = tree.column(nodes[-2]) + _STEP
        wanted = new if rest else [value]
        return _with_lines(text, tree.line_end(node), _as_lines(wanted, column, tree.end_of_line))
    if node.flow_style:
        written = json.dumps(new if rest else value, ensure_ascii=False)
        return _into_brackets(text, node, written[1:-1] if rest else written)
    lines = _as_lines(new if rest else [value], tree.column(node), tree.end_of_line)
    return _with_lines(text, tree.line_end(node), lines)


def with_value(text: str, path: Path, value: Any) -> str:
    """Set the member at this path to this text, in a mapping that exists."""
    tree = _Tree(text)
    nodes = tree.nodes(path)
    written = json.dumps(value, ensure_ascii=False)
    if len(nodes) > len(path):
        start, end = nodes[-1].start_mark.index, nodes[-1].end_mark.index
        return text[:start] + written + text[end:]
    if len(nodes) < len(path) or nodes[-1].id != "mapping" or not nodes[-1].value:
        raise EditError("no such mapping")
    node = nodes[-1]
    if node.flow_style:
        return _into_brackets(text, node, f"{path[-1]}: {written}")
    lines = _as_lines({str(path[-1]): value}, tree.column(node), tree.end_of_line)
    return _with_lines(text, tree.line_end(node), lines)


def renamed(text: str, path: Path, key: str) -> str:
    """Rename the last key of this path."""
    tree = _Tree(text)
    nodes = tree.nodes(path)
    if len(nodes) <= len(path) or nodes[-2].id != "mapping":
        raise EditError("no such key")
    old = _key(nodes[-2], path[-1])
    written = key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return text[: old.start_mark.index] + written + text[old.end_mark.index :]


def removed(text: str, path: Path) -> str:
    """Remove the item or the member at this path."""
    tree = _Tree(text)
    nodes = tree.nodes(path)
    if len(nodes) <= len(path):
        raise EditError("no such value")
    parent = nodes[-2]
    number = _number_of(parent, path[-1]) or 0
    starts, items = _starts(parent), _items(parent)
    if parent.flow_style:
        if number:
            return text[: items[number - 1].end_mark.index] + text[items[number].end_mark.index :]
        after = starts[1] if len(items) > 1 else parent.end_mark.index - 1
        return text[: starts[0]] + text[after:]
    start, end = tree.line_start(starts[number]), tree.line_end(items[number])
    shorter = text[:start] + text[end:]
    if len(items) > 1 or len(nodes) < 3:
        return shorter
    # The last one: an empty collection remains, behind its key.
    empty = " {}" if parent.id == "mapping" else " []"
    colon = text.index(":", _key(nodes[-3], path[-2]).end_mark.index) + 1
    return shorter[:colon] + empty + shorter[colon:]


class _Tree:
    """The nodes of a text, and where their lines begin and end."""

    def __init__(self, text: str) -> None:
        import yaml  # noqa: PLC0415 importing a YAML parser is slow

        self._text = text
        self.end_of_line = "\r\n" if "\r\n" in text else "\n"
        # The parser in Python: its marks count characters.
        loader: Any = yaml.SafeLoader(text)
        self._root: Any = loader.get_single_node()

    def nodes(self, path: Path) -> list[Any]:
        """Return the nodes from the root along the path, as far as they exist."""
        found: list[Any] = [self._root]
        for step in path:
            node = found[-1]
            if node is None or node.id == "scalar" or (number := _number_of(node, step)) is None:
                break
            found.append(_items(node)[number])
        return found

    def column(self, node: Any) -> int:
        """Return the column of its keys, or of the dashes of its items."""
        start = _starts(node)[0]
        if node.id == "sequence":
            start = self._text.rindex("-", 0, start)
        return start - (self._text.rfind("\n", 0, start) + 1)

    def line_start(self, at: int) -> int:
        return self._text.rfind("\n", 0, at) + 1

    def line_end(self, node: Any) -> int:
        """Return where the line after the last one of a node begins."""
        last = node
        while last.id != "scalar" and not last.flow_style and last.value:
            last = _items(last)[-1]
        end = len(self._text[: last.end_mark.index].rstrip())
        found = _REST_OF_LINE.match(self._text, end)
        return found.end() if found else end


def _number_of(node: Any, step: str | int) -> int | None:
    if isinstance(step, int):
        return step if node.id == "sequence" and step < len(node.value) else None
    if node.id != "mapping":
        return None
    return next((at for at, (key, _) in enumerate(node.value) if key.value == step), None)


def _items(node: Any) -> list[Any]:
    return [value for _, value in node.value] if node.id == "mapping" else list(node.value)


def _starts(node: Any) -> list[int]:
    """Return the start of each item; for a mapping, of its key."""
    return [(each[0] if node.id == "mapping" else each).start_mark.index for each in node.value]


def _key(node: Any, step: str | int) -> Any:
    number = _number_of(node, step)
    if node.id != "mapping" or number is None:
        raise EditError("it is written in a way that cannot be changed in place")
    return node.value[number][0]


def _is_null(node: Any) -> bool:
    return node is None or (node.id == "scalar" and not node.value and node.style is None)


# Writing


def _nested(path: Path, value: Any) -> Any:
    """Return the value as an item of a list at the end of the path."""
    inner: Any = [value] if path else value
    for step in reversed(path):
        inner = {step: inner}
    return inner


def _with_lines(text: str, at: int, lines: str) -> str:
    return text[:at] + ("" if text[:at].endswith("\n") else _ended(text[:at])) + lines + text[at:]


def _ended(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\r\n" if "\r\n" in text else "\n"


def _into_brackets(text: str, node: Any, written: str) -> str:
    items = _items(node)
    at = items[-1].end_mark.index if items else node.start_mark.index + 1
    return text[:at] + (", " if items else "") + written + text[at:]


def _as_lines(value: Any, column: int, end_of_line: str) -> str:
    return "".join(f"{line}{end_of_line}" for line in _lines(value, column))


def _lines(value: Any, column: int) -> Iterator[str]:
    """Yield a mapping or a list as lines."""
    blanks = " " * column
    if isinstance(value, dict):
        for key, each in cast("dict[str, Any]", value).items():
            name = key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
            if isinstance(each, dict | list) and each:
                yield f"{blanks}{name}:"
                yield from _lines(each, column + _STEP)
            else:
                yield f"{blanks}{name}: {json.dumps(each, ensure_ascii=False)}"
        return
    for each in cast("list[Any]", value):
        if isinstance(each, dict) and each:
            first, *more = _lines(each, column + _STEP)
            yield f"{blanks}- {first.strip()}"
            yield from more
        else:
            yield f"{blanks}- {json.dumps(each, ensure_ascii=False)}"
