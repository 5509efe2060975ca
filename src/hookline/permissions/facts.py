"""What is known about a tool call when its permission is decided."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.matching.tool_rules import TOOL_SHAPES
from hookline.model.payloads import JsonObject
from hookline.tools.kinds import KINDS, Category
from hookline.tools.standard import STANDARD

__all__ = ["TOOL_CATEGORIES", "CallFacts", "Category", "call_facts", "category_of"]

#: The tools most agents have. A host with others passes its own table, or the category with each call.
TOOL_CATEGORIES: Mapping[str, Category] = MappingProxyType(
    {
        **{name: KINDS["shell"].category for name, shape in TOOL_SHAPES.items() if shape.kind == "shell"},
        **{name: KINDS[tool.kind].category for name, tool in STANDARD.tools.items() if tool.kind},
    }
)


class CallFacts(Struct, frozen=True):
    """One tool call. `cwd` is where its relative paths start."""

    tool_name: str
    tool_input: JsonObject
    category: Category = "other"
    cwd: str = ""
    #: The real path of the call's file, when the host has followed links. Then both paths are checked.
    real_path: str | None = None
    #: The top of the worktree the call is made in: a copy of the project, so rules count from there too.
    worktree: str = ""


def category_of(tool_name: str, categories: Mapping[str, Category] = TOOL_CATEGORIES) -> Category:
    if tool_name.startswith("mcp__"):
        return "mcp"
    return categories.get(tool_name, "other")


def call_facts(tool_name: str, tool_input: Mapping[str, Any], cwd: str = "") -> CallFacts:
    """The facts of a call whose category is in the table."""
    return CallFacts(tool_name, tool_input, category_of(tool_name), cwd)
