"""Writers that know on which line they put everything: what the readers are measured against."""

import json
from collections.abc import Sequence
from itertools import cycle
from typing import Any, cast

from hookline.model.diagnostics import Path


class Page:
    """Text that grows, and where it is."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.line = 1
        self.lines: dict[Path, int] = {}

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.line += text.count("\n")

    def note(self, path: Path) -> None:
        self.lines.setdefault(path, self.line)

    @property
    def text(self) -> str:
        return "".join(self.parts)


def pairs_of(value: Any) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", value).items())


def items_of(value: Any) -> list[Any]:
    return cast("list[Any]", value)


class JsonPage(Page):
    """`blanks` are put, over and over, where a blank may stand in JSON and in YAML."""

    def __init__(self, value: Any, blanks: Sequence[str]) -> None:
        super().__init__()
        self._blanks = cycle(blanks)
        self._value(value, ())

    def _blank(self) -> None:
        self.put(next(self._blanks))

    def _value(self, value: Any, path: Path) -> None:
        if isinstance(value, dict):
            self._object(value, path)
        elif isinstance(value, list):
            self._list(value, path)
        else:
            self.put(json.dumps(value))

    def _object(self, value: Any, path: Path) -> None:
        self.put("{")
        for index, (key, inner) in enumerate(pairs_of(value)):
            self.put("," if index else "")
            self._blank()
            self.note((*path, key))
            self.put(json.dumps(key) + ": ")
            self._blank()
            self._value(inner, (*path, key))
        self._blank()
        self.put("}")

    def _list(self, value: Any, path: Path) -> None:
        self.put("[")
        for index, inner in enumerate(items_of(value)):
            self.put("," if index else "")
            self._blank()
            self.note((*path, index))
            self._value(inner, (*path, index))
        self._blank()
        self.put("]")


class TomlPage(Page):
    """Write tables as headers or, with `inline`, inline; arrays over several lines, with comments between."""

    def __init__(self, document: dict[str, Any], inline: bool) -> None:
        super().__init__()
        self._inline = inline
        self._table(document, (), ())

    def _table(self, items: Any, path: Path, names: tuple[str, ...]) -> None:
        pairs = pairs_of(items)
        for name, value in pairs:
            if not self._by_header(value):
                self.note((*path, name))
                self.put(f"{_key(name)} = ")
                self._value(value, (*path, name))
                self.put("\n")
        for name, value in pairs:
            if self._by_header(value):
                self._headed(value, (*path, name), (*names, name))

    def _by_header(self, value: Any) -> bool:
        if self._inline:
            return False
        if isinstance(value, list):
            return len(items_of(value)) > 0 and all(isinstance(each, dict) for each in items_of(value))
        return isinstance(value, dict)

    def _headed(self, value: Any, path: Path, names: tuple[str, ...]) -> None:
        header = ".".join(_key(each) for each in names)
        self.note(path)
        if isinstance(value, dict):
            self.put(f"[{header}] # a = 1\n")
            self._table(value, path, names)
            return
        for index, each in enumerate(items_of(value)):
            self.note((*path, index))
            self.put(f"[[{header}]]\n")
            self._table(each, (*path, index), names)

    def _value(self, value: Any, path: Path) -> None:
        if isinstance(value, dict):
            self._inline_table(value, path)
        elif isinstance(value, list):
            self.put("[ # ] not yet\n")
            for index, inner in enumerate(items_of(value)):
                self.note((*path, index))
                self._value(inner, (*path, index))
                self.put(",\n")
            self.put("]")
        elif isinstance(value, str) and "\n" in value:
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            self.put(f'"""\n{escaped}"""')
        else:
            self.put(json.dumps(value))

    def _inline_table(self, value: Any, path: Path) -> None:
        self.put("{ ")
        for index, (name, inner) in enumerate(pairs_of(value)):
            self.put(", " if index else "")
            self.note((*path, name))
            self.put(f"{_key(name)} = ")
            self._value(inner, (*path, name))
        self.put(" }")


def _key(name: str) -> str:
    return name if name.isascii() and name.isalnum() else json.dumps(name)
