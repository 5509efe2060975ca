"""Read front matter: YAML fields between two --- lines at the top of a Markdown text, with that text's lines."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.documents.document import Document, read_document
from hookline.model.diagnostics import Diagnostic, Path, Where

_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z][\w-]*):[ \t]+(\S.*)")
#: Front matter with more lines is not repaired.
_MOST_LINES = 200


class FrontMatter(Struct, frozen=True):
    #: The fields; its diagnostics say why they cannot be read.
    document: Document
    #: The text below.
    body: str

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields; empty where there are none, or where they cannot be read."""
        value = self.document.value
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    @property
    def error(self) -> Diagnostic | None:
        """The error in the fields; such a file must not be used."""
        return next((each for each in self.document.diagnostics if each.severity == "error"), None)


def read_front_matter(text: str, file: str = "") -> FrontMatter:
    found = _BLOCK.match(text)
    if found is None:
        torn = text.startswith(("---\n", "---\r\n"))
        problem = "its front matter has no closing --- line" if torn else None
        return FrontMatter(_whole(file, problem), text)
    body = text[found.end() :]
    document = read_document(found[1], "yaml", file)
    if document.diagnostics:
        repaired = read_document(_with_quotes(found[1]), "yaml", file)
        document = document if repaired.diagnostics else repaired
    if document.value is not None and not isinstance(document.value, dict):
        return FrontMatter(_whole(file, "its front matter is not a list of fields"), body)
    return FrontMatter(_lower(document), body)


def _lower(document: Document) -> Document:
    """Move the document one line down, below the opening --- line."""

    def below(locate: Callable[[Path], int | None]) -> Callable[[Path], int | None]:
        def line(path: Path) -> int | None:
            found = locate(path)
            return None if found is None else found + 1

        return line

    moved = tuple(
        replace(each, where=Where(each.where.file, each.where.path, below(each.where.locate)))
        for each in document.diagnostics
    )
    return replace(document, diagnostics=moved, locate=below(document.locate))


def _whole(file: str, problem: str | None) -> Document:
    """Return no fields: there are none, or they cannot be read for this reason."""

    def first(_path: Path) -> int | None:
        return 1

    if problem is None:
        return Document(file, {}, (), (), first)
    error = Diagnostic("error", "bad-front-matter", problem, Where(file, (), first))
    return Document(file, None, (error,), (), first)


def _with_quotes(text: str) -> str:
    """Quote values such as `argument-hint: [id] [title]`: not YAML, but common in such files."""
    lines = text.splitlines()
    return "\n".join(_quoted(line) for line in lines) if len(lines) <= _MOST_LINES else text


def _quoted(line: str) -> str:
    field = _FIELD.fullmatch(line)
    if field is None or not read_document(line, "yaml", "").diagnostics:
        return line
    return f"{field[1]}: {json.dumps(field[2].strip())}"
