"""Describe what tools mean: agents name them differently, and a hook written for one agent works in another.

A program that embeds Hookline declares its tools with the functions here:

    from hookline.actions import read, seconds, shell

    Engine(tools={"run_shell": shell("cmd", timeout=seconds("wait")), "open_file": read("name")})

The first arguments of each are the names of the tool's main argument in order of precedence; keywords name
further canonical arguments (docs/reference/tools.md has all of them). Undeclared arguments are not
translated.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.actions.declare import (
        agent,
        below_root,
        by_action,
        calls,
        code,
        delete,
        each_of,
        edit,
        either,
        extra,
        fetch,
        fetch_from_text,
        from_either_end,
        glob,
        globs,
        grep,
        in_background,
        last_line,
        line_range,
        list_files,
        list_of,
        many,
        move,
        multi_edit,
        narrow,
        notebook,
        nothing,
        other,
        patch,
        read,
        search,
        seconds,
        shell,
        todos,
        words,
        write,
        zero_based,
    )
    from hookline.actions.tool import Argument, Tool

__all__ = [
    "Argument",
    "Tool",
    "agent",
    "below_root",
    "by_action",
    "calls",
    "code",
    "delete",
    "each_of",
    "edit",
    "either",
    "extra",
    "fetch",
    "fetch_from_text",
    "from_either_end",
    "glob",
    "globs",
    "grep",
    "in_background",
    "last_line",
    "line_range",
    "list_files",
    "list_of",
    "many",
    "move",
    "multi_edit",
    "narrow",
    "notebook",
    "nothing",
    "other",
    "patch",
    "read",
    "search",
    "seconds",
    "shell",
    "todos",
    "words",
    "write",
    "zero_based",
]


def __getattr__(name: str) -> Any:
    """Load names when first used: an engine without declared tools does not need them."""
    if name in __all__:
        from hookline.actions import declare  # noqa: PLC0415 only when a name is first used

        return getattr(declare, name)
    raise AttributeError(f"module 'hookline.actions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
