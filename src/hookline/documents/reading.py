"""What each format's reader gives, and how it refuses."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from msgspec import Struct

from hookline.model.diagnostics import Path
from hookline.model.errors import HooklineError

DEPTH = 64
NODES = 200_000


class Duplicate(Struct, frozen=True):
    """A key that stands a second time in one object."""

    path: Path
    line: int


class Reading(Struct, frozen=True):
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


def too_deep(line: int | None) -> SyntaxProblem:
    return SyntaxProblem(f"nested more than {DEPTH} levels deep", line, code="too-deep")


def too_many(line: int | None) -> SyntaxProblem:
    return SyntaxProblem(f"more than {NODES:,} values", line, code="too-big")


def refuse_excess(value: Any) -> None:
    """Level by level, because a recursive walk could not survive what it is to refuse."""
    level: list[Any] = [value]
    count = 1
    for _ in range(DEPTH):
        level = [inner for each in level for inner in _inside(each)]
        count += len(level)
        if count > NODES:
            raise too_many(None)
        if not level:
            return
    if any(isinstance(each, dict | list) for each in level):
        raise too_deep(None)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()
