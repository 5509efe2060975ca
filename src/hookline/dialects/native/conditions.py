"""The condition of an entry: a table with a type, which may hold further conditions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from hookline.matching.conditions import (
    MCP,
    TOOL_CATEGORIES,
    AllOf,
    Always,
    AnyOf,
    Categories,
    ExitCode,
    InMode,
    ToolCategory,
    tool_name,
)
from hookline.model.hook import Condition

_TYPES = ("always", "tool_name", "tool_category", "mode", "exit_code", "all", "any")
_DEEPEST = 16
#: Native hooks are told canonical names.
_CATEGORIES: Categories = MappingProxyType(
    {
        **TOOL_CATEGORIES,
        "NotebookRead": "safe",
        **dict.fromkeys(("WebFetch", "WebSearch"), "web"),
        **dict.fromkeys(("Agent", "Task"), "agent"),
        MCP: "mcp",
    }
)


class ConditionMistake(Exception):  # noqa: N818 - a mistake in a configuration, caught by its reader
    """What is wrong, and where below the condition."""

    def __init__(self, message: str, *path: str | int) -> None:
        self.path = path
        super().__init__(message)


def read_condition(table: Any, *path: str | int) -> Condition:
    if not isinstance(table, Mapping):
        raise ConditionMistake("a condition is an object with a type", *path)
    if len(path) > 2 * _DEEPEST:
        raise ConditionMistake(f"conditions nested more than {_DEEPEST} levels deep", *path)
    fields = cast("Mapping[str, Any]", table)
    kind = fields.get("type")
    if kind == "always":
        return Always()
    if kind == "tool_name":
        return tool_name(_text(fields, "name", path))
    if kind == "tool_category":
        return ToolCategory(_text(fields, "category", path), _CATEGORIES)
    if kind == "mode":
        return InMode(_text(fields, "mode", path))
    if kind == "exit_code":
        return ExitCode(_number(fields, "code", path))
    if kind in ("all", "any"):
        inner = _several(fields, path)
        return AllOf(inner) if kind == "all" else AnyOf(inner)
    from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

    close = nearest(kind, _TYPES) if isinstance(kind, str) else None
    hint = f"; did you mean {close}?" if close else f"; there are {', '.join(_TYPES)}"
    raise ConditionMistake(f"no condition is called {kind!r}{hint}", *path, "type")


def _several(fields: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[Condition, ...]:
    given = fields.get("conditions")
    if not isinstance(given, list):
        raise ConditionMistake("all and any need a list of conditions", *path)
    tables = cast("list[Any]", given)
    return tuple(read_condition(each, *path, "conditions", index) for index, each in enumerate(tables))


def _text(fields: Mapping[str, Any], key: str, path: tuple[str | int, ...]) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value:
        raise ConditionMistake(f"{fields['type']} needs the text {key}", *path)
    return value


def _number(fields: Mapping[str, Any], key: str, path: tuple[str | int, ...]) -> int:
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConditionMistake(f"{fields['type']} needs the number {key}", *path)
    return value
