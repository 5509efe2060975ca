"""Collect the facts about a tool call that decide its permission."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.actions.kinds import RULE_KINDS, Category
from hookline.model.payloads import JsonObject

__all__ = ["CallFacts", "Category", "call_facts", "category_of"]


class CallFacts(Struct, frozen=True):
    """One tool call. Relative paths start at `cwd`."""

    tool_name: str
    tool_input: JsonObject
    category: Category = "other"
    cwd: str = ""
    #: The real path of the call's file, when the host has followed links. Then both paths are checked.
    real_path: str | None = None
    #: The top of the worktree of the call: a copy of the project, so rules apply from there too.
    worktree: str = ""
    #: Its programs are judged again when they start, so that doubt about them is no reason to refuse it.
    guarded: bool = False


def category_of(tool_name: str, categories: Mapping[str, Category] | None = None) -> Category:
    """Return what a tool does. A host with other tools passes its own table, or the category with each call."""
    if tool_name.startswith("mcp__"):
        return "mcp"
    if categories is not None:
        return categories.get(tool_name, "other")
    kind = RULE_KINDS.get(tool_name)
    return "other" if kind is None else kind.category


def call_facts(tool_name: str, tool_input: Mapping[str, Any], cwd: str = "") -> CallFacts:
    """Return the facts of a call whose category is in the table."""
    return CallFacts(tool_name, tool_input, category_of(tool_name), cwd)
