"""One text, read: its value, what is wrong with it, and on which line everything stands."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from hookline.documents.reading import Duplicate, Reading, SyntaxProblem
from hookline.model.diagnostics import Diagnostic, Path, Where

Format = Literal["json", "toml", "yaml"]

LIMIT = 10_000_000

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


def format_of(file: str) -> Format | None:
    """The format a file's name promises."""
    return _SUFFIXES.get(file.rsplit(".", 1)[-1].lower())


def _reader(format: Format) -> Callable[[str], Reading]:  # noqa: A002 - the word of the callers
    """Loaded with the first text of its format: most people use one."""
    found: Callable[[str], Reading] = import_module(f"hookline.documents.{_READERS[format]}").read
    return found


class Document(Struct, frozen=True):
    """The value is None when the text could not be read; the diagnostics then say why."""

    file: str
    value: Any
    diagnostics: tuple[Diagnostic, ...]
    duplicates: tuple[Duplicate, ...]
    locate: Callable[[Path], int | None]

    def where(self, *path: str | int) -> Where:
        return Where(self.file, path, self.locate)


def read_document(text: str, format: Format, file: str, *, limit: int = LIMIT) -> Document:  # noqa: A002 - the word of the callers
    """Whatever the text holds, the result is a document: what is wrong with it is a diagnostic."""
    if len(text) > limit:
        return _unreadable(
            file, "too-big", f"{len(text):,} characters are more than the {limit:,} that are read", None
        )
    text = text.removeprefix("\ufeff")
    try:
        reading = _reader(format)(text)
    except SyntaxProblem as problem:
        return _unreadable(file, problem.code, str(problem), problem.line, problem.fix)
    lines = _Lines(reading.scan)
    diagnostics = tuple(_twice(file, duplicate) for duplicate in reading.duplicates)
    return Document(file, reading.value, diagnostics, reading.duplicates, lines.line)


def _unreadable(file: str, code: str, message: str, line: int | None, fix: str | None = None) -> Document:
    def at_problem(_path: Path) -> int | None:
        return line

    diagnostic = Diagnostic("error", code, message, Where(file, (), at_problem), fix=fix)
    return Document(file, None, (diagnostic,), (), at_problem)


def _twice(file: str, duplicate: Duplicate) -> Diagnostic:
    where = Where(file, duplicate.path, lambda _path: duplicate.line)
    message = f"the key {str(duplicate.path[-1])!r} stands twice; only the last one is read"
    return Diagnostic("error", "duplicate-key", message, where)


class _Lines:
    """The lines of a text, found when the first one is asked for: a config without mistakes never scans."""

    def __init__(self, scan: Callable[[], Mapping[Path, int]]) -> None:
        self._scan = scan
        self._known: Mapping[Path, int] | None = None

    def line(self, path: Path) -> int | None:
        """Of the path, or of the nearest thing around it when it is not in the text."""
        if self._known is None:
            self._known = self._scan()
        while path:
            if path in self._known:
                return self._known[path]
            path = path[:-1]
        return 1
