"""Read YAML configuration by the 1.2 core schema: `off`, `no` and `1:30` are text.

Built from the events of the parser, not from its nodes: no recursion that a nested text could exhaust, and
an alias is counted at its full size, so a few lines cannot mean a million values.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hookline.documents.document import (
    DEPTH,
    NODES,
    Duplicate,
    ParseResult,
    SyntaxProblem,
    too_deep,
    too_many,
)
from hookline.model.diagnostics import Path

_NUMBER_START = frozenset("-+.0123456789")
_WORDS: Mapping[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"[-+]?[0-9]{1,4000}"), int),
    (re.compile(r"0o[0-7]{1,4000}"), lambda text: int(text, 0)),
    (re.compile(r"0x[0-9a-fA-F]{1,4000}"), lambda text: int(text, 0)),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), lambda text: float(text.replace(".", ""))),
)
_CORE = "tag:yaml.org,2002:"


def read(text: str) -> ParseResult:
    building = _Building()
    _feed(text, building)
    return ParseResult(building.value, tuple(building.duplicates), lambda: _scanned(text))


def _scanned(text: str) -> Mapping[Path, int]:
    building = _Building(lines={})
    _feed(text, building)
    return building.lines or {}


def _feed(text: str, building: "_Building") -> None:
    # Only here: importing a YAML parser costs more than reading most configurations.
    import yaml  # noqa: PLC0415 - see above

    try:
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        try:
            while (event := loader.get_event()) is not None:
                building.take(type(event).__name__, event)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        reason = error.problem or error.context or "the parser gives no reason"
        fix = "indent with spaces, not tabs" if "\\t" in str(error.problem) else None
        raise SyntaxProblem(f"it is not valid YAML: {reason}", line, fix=fix) from None
    except (yaml.YAMLError, ValueError, UnicodeError) as error:
        raise SyntaxProblem(f"not YAML: {str(error).splitlines()[0]}", None) from None


class _Open:
    """A mapping or a list that is being filled."""

    __slots__ = ("anchor", "before", "height", "key", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, before: int) -> None:
        self.value = value
        self.anchor = anchor
        #: The number of values before it, to know its own size when it ends.
        self.before = before
        self.height = 1
        self.key: str | None = None


class _Anchored:
    __slots__ = ("height", "size", "value")

    def __init__(self, value: Any, size: int, height: int) -> None:
        self.value = value
        self.size = size
        self.height = height


class _Building:
    """A value that grows with each event."""

    def __init__(self, lines: dict[Path, int] | None = None) -> None:
        self.value: Any = None
        self.lines = lines
        self.duplicates: list[Duplicate] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._count = 0
        self._documents = 0
        self._takes: Mapping[str, Callable[[Any], None]] = {
            "DocumentStartEvent": self._document,
            "ScalarEvent": self._scalar,
            "MappingStartEvent": self._mapping,
            "SequenceStartEvent": self._list,
            "MappingEndEvent": self._end,
            "SequenceEndEvent": self._end,
            "AliasEvent": self._alias,
        }

    def take(self, kind: str, event: Any) -> None:
        take = self._takes.get(kind)
        if take is not None:
            take(event)

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise SyntaxProblem(
                "a second document begins", event.start_mark.line + 1, fix="remove the --- line"
            )

    def _scalar(self, event: Any) -> None:
        top = self._open[-1] if self._open else None
        if top is not None and top.key is None and isinstance(top.value, dict):
            self._key(top, event)
        else:
            value = _scalar_value(event)
            self._place(value, event, 1, 0)
            if event.anchor:
                self._anchors[event.anchor] = _Anchored(value, 1, 0)

    def _key(self, top: _Open, event: Any) -> None:
        top.key = key = event.value
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(key, 1, 0)
        if key in top.value:
            self.duplicates.append(Duplicate(self._path(), event.start_mark.line + 1))
        if self.lines is not None:
            self.lines[self._path()] = event.start_mark.line + 1

    def _mapping(self, event: Any) -> None:
        self._begin({}, event)

    def _list(self, event: Any) -> None:
        self._begin([], event)

    def _begin(self, value: dict[str, Any] | list[Any], event: Any) -> None:
        _refuse_tag(event, ("map", "seq"))
        before = self._count
        self._place(value, event, 1, 1, stays_open=True)
        # An alias inside its own anchor would be a value without an end.
        if event.anchor:
            self._anchors.pop(event.anchor, None)
        self._open.append(_Open(value, event.anchor, before))

    def _end(self, _event: Any) -> None:
        done = self._open.pop()
        if self._open:
            top = self._open[-1]
            top.height = max(top.height, done.height + 1)
            top.key = None
        if done.anchor:
            self._anchors[done.anchor] = _Anchored(done.value, self._count - done.before, done.height)

    def _alias(self, event: Any) -> None:
        found = self._anchors.get(event.anchor)
        if found is None:
            raise SyntaxProblem(f"no anchor *{event.anchor} has ended before here", event.start_mark.line + 1)
        top = self._open[-1] if self._open else None
        if top is not None and top.key is None and isinstance(top.value, dict):
            raise SyntaxProblem("an alias as a key", event.start_mark.line + 1)
        self._place(found.value, event, found.size, found.height)

    def _place(self, value: Any, event: Any, size: int, height: int, *, stays_open: bool = False) -> None:
        line: int = event.start_mark.line + 1
        self._count += size
        if self._count > NODES:
            raise too_many(line)
        if len(self._open) + height > DEPTH:
            raise too_deep(line)
        if not self._open:
            self.value = value
            return
        top = self._open[-1]
        top.height = max(top.height, height + 1)
        if isinstance(top.value, list):
            top.value.append(value)
            if self.lines is not None:
                self.lines[self._path()] = line
        elif top.key is None:
            raise SyntaxProblem("a key that is not plain text", line)
        else:
            top.value[top.key] = value
            top.key = top.key if stays_open else None

    def _path(self) -> Path:
        return tuple(
            (each.key or "") if isinstance(each.value, dict) else len(each.value) - 1 for each in self._open
        )


def _scalar_value(event: Any) -> Any:
    text: str = event.value
    if event.tag is not None:
        _refuse_tag(event, ("str", "int", "float", "bool", "null"))
        if event.tag in ("!", _CORE + "str"):
            return text
    elif event.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMBER_START:
        for pattern, convert in _NUMBERS:
            if pattern.fullmatch(text):
                return convert(text)
    return text


def _refuse_tag(event: Any, core: tuple[str, ...]) -> None:
    tag = event.tag
    if tag is not None and tag != "!" and tag not in {_CORE + name for name in core}:
        raise SyntaxProblem(f"the tag {str(tag)[:60]!r} is not read here", event.start_mark.line + 1)
