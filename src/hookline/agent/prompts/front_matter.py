"""The fields between `---` lines at the top of a Markdown file, and the text below them."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from hookline.model.safe_text import one_line

_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
#: More lines than this are not looked at one by one.
_MOST_LINES = 200
_FIELD = re.compile(r"([A-Za-z][\w-]*):[ \t]+(\S.*)")


class FrontMatter(Struct, frozen=True):
    """`problem` says why the fields cannot be known; the file is then not to be used."""

    fields: Mapping[str, Any]
    body: str
    problem: str | None = None


def read_front_matter(text: str) -> FrontMatter:
    found = _BLOCK.match(text)
    if found is None:
        torn = text.startswith(("---\n", "---\r\n"))
        return FrontMatter({}, text, "its front matter has no closing --- line" if torn else None)
    body = text[found.end() :]
    value, problem = _yaml(found[1])
    if problem is not None:
        value, still = _yaml(_with_quotes(found[1]))
        problem = problem if still is not None else None
    if problem is None and value is not None and not isinstance(value, dict):
        problem = "its front matter is no list of fields"
    if problem is not None:
        return FrontMatter({}, body, problem)
    return FrontMatter(cast("dict[str, Any]", value or {}), body)


def _yaml(text: str) -> tuple[Any, str | None]:
    # Only a command or a skill needs it.
    from hookline.documents.document import read_document  # noqa: PLC0415 - see above

    document = read_document(text, "yaml", "")
    errors = [each for each in document.diagnostics if each.severity == "error"]
    if not errors:
        return document.value, None
    # The opening --- is line 1 of the file.
    line = (errors[0].where.line or 0) + 1
    return None, f"line {line} of its front matter: {one_line(errors[0].message, 200)}"


def _with_quotes(text: str) -> str:
    """`argument-hint: [id] [title]` is no YAML, and yet it is how these files are written."""
    lines = text.splitlines()
    return "\n".join(_quoted(line) for line in lines) if len(lines) <= _MOST_LINES else text


def _quoted(line: str) -> str:
    field = _FIELD.fullmatch(line)
    if field is None or _yaml(line)[1] is None:
        return line
    return f"{field[1]}: {json.dumps(field[2].strip())}"
