"""What is known about a tool call when its permission is decided."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from hookline.model.payloads import JsonObject

#: What a call does. `agent` starts a sub-agent, whose own calls are decided one by one.
Category = Literal["read", "write", "run", "web", "mcp", "agent", "other"]

#: The tools most agents have. A host with others passes its own table, or the category with each call.
TOOL_CATEGORIES: Mapping[str, Category] = MappingProxyType(
    {
        **dict.fromkeys(("Read", "NotebookRead", "Glob", "Grep", "LS"), "read"),
        **dict.fromkeys(("Edit", "Write", "MultiEdit", "NotebookEdit"), "write"),
        **dict.fromkeys(("Bash", "bash", "exec_shell", "shell", "run_shell_command"), "run"),
        **dict.fromkeys(("WebFetch", "WebSearch"), "web"),
        **dict.fromkeys(("Agent", "Task"), "agent"),
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
