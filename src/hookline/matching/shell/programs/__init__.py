"""Programs that run programs, as rows of one table. Each module has the rows of one topic."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from hookline.matching.shell.programs.row import Program

__all__ = ["Program", "all_rows", "has_rows_below", "row_of"]

_TOPICS = (
    "builds",
    "consoles",
    "containers",
    "files",
    "git",
    "interpreters",
    "network",
    "packages",
    "privileges",
    "shells",
    "terminals",
    "texts",
    "wrappers",
)


@cache
def all_rows() -> tuple[Program, ...]:
    return tuple(row for topic in _TOPICS for row in import_module(f"{__name__}.{topic}").ROWS)


@cache
def _index() -> Mapping[str, Program]:
    return {name.strip(): row for row in all_rows() for name in row.names.split(",")}


@cache
def _prefixes() -> frozenset[str]:
    return frozenset(name.rpartition(" ")[0] for name in _index() if " " in name)


def row_of(key: str) -> Program | None:
    """The row of a program, or of a sub-command: `git bisect run`."""
    return _index().get(key)


def has_rows_below(key: str) -> bool:
    """Whether sub-commands of it have rows of their own."""
    return key in _prefixes()
