"""Read a configuration text as a value, with its errors and the line of everything in it."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, cast

from msgspec import Struct

from hookline.model.diagnostics import Diagnostic, Path, Repair, Where
from hookline.model.errors import HooklineError

Format = Literal["json", "toml", "yaml"]

#: Limits of a document: characters, levels of nesting, values.
LIMIT = 10_000_000
DEPTH = 64
NODES = 200_000

_READERS: Mapping[Format, str] = MappingProxyType(
    {"json": "json_text", "toml": "toml_text", "yaml": "yaml_text"}
)
_SUFFIXES: Mapping[str, Format] = {
    "json": "json",
    "jsonc": "json",
    "toml": "toml",
    "yaml": "yaml",
    "yml": "yaml",
}


class Duplicate(Struct, frozen=True):
    """A key that appears a second time in one object."""

    path: Path
    line: int


class ParseResult(Struct, frozen=True):
    value: Any
    duplicates: tuple[Duplicate, ...]
    #: Finds the line of every path of the value; costs a second pass over the text.
    scan: Callable[[], Mapping[Path, int]]


class SyntaxProblem(HooklineError):  # noqa: N818 - a problem of the text, not of Hookline
    def __init__(
        self, message: str, line: int | None, *, code: str = "syntax", fix: str | None = None
    ) -> None:
        self.line = line
        self.code = code
        self.fix = fix
        super().__init__(message)


def format_of(file: str) -> Format | None:
    """Return the format by the suffix of the file's name."""
    return _SUFFIXES.get(file.rsplit(".", 1)[-1].lower())


def _reader(format: Format) -> Callable[[str], ParseResult]:  # noqa: A002 - callers pass format=...
    """Import the reader with the first text of its format: most people use one."""
    found: Callable[[str], ParseResult] = import_module(f"hookline.documents.{_READERS[format]}").read
    return found


class Document(Struct, frozen=True):
    """A document that was read. The value is None when it could not be; the diagnostics then say why."""

    file: str
    value: Any
    diagnostics: tuple[Diagnostic, ...]
    duplicates: tuple[Duplicate, ...]
    locate: Callable[[Path], int | None]
    #: The text itself, for agents that read files in ways of their own.
    text: str = ""

    def where(self, *path: str | int) -> Where:
        return Where(self.file, path, self.locate)


def read_document(
    text: str,
    format: Format,  # noqa: A002 - callers pass format=...
    file: str,
    *,
    limit: int = LIMIT,
    comments: bool = False,
) -> Document:
    """Read a text. Never raises: errors are diagnostics of the document. JSON may have comments if asked for."""
    if len(text) > limit:
        return _unreadable(
            file, "too-big", f"{len(text):,} characters are more than the {limit:,} that are read", None
        )
    text = raw = text.removeprefix("\ufeff")
    if comments and format == "json":
        text = _without_comments(text)
    try:
        reading = _reader(format)(text)
    except SyntaxProblem as problem:
        return _unreadable(file, problem.code, str(problem), problem.line, problem.fix)
    lines = _Lines(reading.scan)
    diagnostics = tuple(_twice(file, duplicate) for duplicate in reading.duplicates)
    return Document(file, reading.value, diagnostics, reading.duplicates, lines.line, raw)


#: Includes texts and comments that never end, so that a hostile text is read in one pass.
_TEXTS_AND_COMMENTS = r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)'


def _without_comments(text: str) -> str:
    """Replace comments by blanks: everything else stays on its line."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0])

    return re.sub(_TEXTS_AND_COMMENTS, blank, text, flags=re.DOTALL)


def _unreadable(file: str, code: str, message: str, line: int | None, fix: str | None = None) -> Document:
    def at_problem(_path: Path) -> int | None:
        return line

    diagnostic = Diagnostic("error", code, message, Where(file, (), at_problem), fix=fix)
    return Document(file, None, (diagnostic,), (), at_problem)


def _twice(file: str, duplicate: Duplicate) -> Diagnostic:
    where = Where(file, duplicate.path, lambda _path: duplicate.line)
    message = f"the key {str(duplicate.path[-1])!r} appears twice; only the last one is read"
    fix = "join the two under one key"
    return Diagnostic(
        "error", "duplicate-key", message, where, fix=fix, repair=Repair("join", duplicate.path)
    )


class _Lines:
    """The lines of a text, found at the first lookup: a config without mistakes is never scanned."""

    def __init__(self, scan: Callable[[], Mapping[Path, int]]) -> None:
        self._scan = scan
        self._known: Mapping[Path, int] | None = None

    def line(self, path: Path) -> int | None:
        """Return the line of the path, or of the nearest enclosing one when it is not in the text."""
        if self._known is None:
            self._known = self._scan()
        while path:
            if path in self._known:
                return self._known[path]
            path = path[:-1]
        return 1


# Shared by the readers of the formats


def too_deep(line: int | None) -> SyntaxProblem:
    return SyntaxProblem(f"nested more than {DEPTH} levels deep", line, code="too-deep")


def too_many(line: int | None) -> SyntaxProblem:
    return SyntaxProblem(f"more than {NODES:,} values", line, code="too-big")


def refuse_excess(value: Any) -> None:
    """Refuse too deep or too many values. Level by level: a recursive walk could overflow the stack."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    count = 1
    for _ in range(DEPTH):
        if not level:
            return
        inner: list[Any] = []
        for each in level:
            inner += cast("dict[str, Any]", each).values() if isinstance(each, dict) else each
        count += len(inner)
        if count > NODES:
            raise too_many(None)
        level = [each for each in inner if isinstance(each, dict | list)]
    if level:
        raise too_deep(None)


class Newlines:
    """Finds the line of a position in a text."""

    def __init__(self, text: str) -> None:
        from bisect import bisect_left  # noqa: PLC0415 most texts are never scanned

        self._before = partial(bisect_left, [match.start() for match in re.finditer("\n", text)])

    def line(self, position: int) -> int:
        return self._before(position) + 1


# Types of values in configuration and answers, by the names that messages use for them


def _is_list(value: Any, item: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(item(each) for each in cast("list[Any]", value))


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) for key in cast("Mapping[Any, Any]", value)
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SHAPES: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "anything": lambda _value: True,
        "true or false": lambda value: isinstance(value, bool),
        "true, false or text": lambda value: isinstance(value, bool | str),
        "a number": _is_number,
        "a whole number": lambda value: isinstance(value, int) and not isinstance(value, bool),
        "text": _is_text,
        "an object": _is_object,
        "a list of texts": lambda value: _is_list(value, _is_text),
        "a list of objects": lambda value: _is_list(value, _is_object),
        "an object of texts": lambda value: _is_object(value) and all(map(_is_text, value.values())),
        "text or a list of texts": lambda value: _is_text(value) or _is_list(value, _is_text),
        "text or an object": lambda value: _is_text(value) or _is_object(value),
    }
)


def misshaped(value: Any, shape: str) -> str | None:
    """Return the actual shape for a message; None when the value has the wanted shape."""
    if SHAPES[shape](value):
        return None
    for known in ("true or false", "a number", "text", "an object"):
        if SHAPES[known](value):
            return f"{known}, not {shape}"
    named = "empty" if value is None else type(value).__name__
    return f"{'a list' if isinstance(value, list | tuple) else named}, not {shape}"
