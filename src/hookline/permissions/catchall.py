"""Rules so wide that a hook may not add them: whoever wants these writes them into the settings."""

import re
from collections.abc import Mapping

from hookline.matching.patterns import LONGEST_PATTERN
from hookline.matching.toolrules import TOOL_SHAPES
from hookline.permissions.facts import TOOL_CATEGORIES, Category, category_of

#: What a hook may allow as a whole. Nobody knows what a tool of no category does.
_HARMLESS_AS_A_WHOLE: frozenset[Category] = frozenset({"read", "mcp", "agent"})
_BRACES = re.compile(r"\{([^{}]*)\}")
_CLASS = re.compile(r"\[[^\]]*\]")
_LITERAL = re.compile(r"\w")
_PROGRAM = re.compile(r"[^\s*:]+(?:\s|:\*$|$)")


def too_wide(text: str, categories: Mapping[str, Category] = TOOL_CATEGORIES) -> str | None:
    """Why a hook may not allow this; None when it may."""
    if len(text) > LONGEST_PATTERN:
        return "it is too long to be a rule"
    tool, _bracket, inside = text.strip().partition("(")
    tool = tool.rstrip()
    argument = inside.removesuffix(")").strip()
    if "*" in tool or not tool:
        return "it is about more than one tool"
    if tool.startswith("mcp__") and tool.count("__") < 2:
        return "it is about every tool of a server"
    category = category_of(tool, categories)
    if category == "read":
        return None
    if argument in {"", "*"}:
        return None if category in _HARMLESS_AS_A_WHOLE else f"it is about everything {tool} can do"
    return _wide_argument(tool, argument)


def _wide_argument(tool: str, argument: str) -> str | None:
    shape = TOOL_SHAPES.get(tool)
    kind = shape.kind if shape is not None else "other"
    if kind == "shell":
        return None if _PROGRAM.match(argument) else "it does not name the program"
    if kind == "web" and argument.startswith("domain:"):
        host = argument.removeprefix("domain:").strip().removeprefix("*.")
        return None if "." in host and "*" not in host else "it does not name the host"
    if kind == "web":
        argument = argument.partition("://")[2]
    return None if _LITERAL.search(_weakest(argument)) else "it is about everything"


def _weakest(pattern: str) -> str:
    """A pattern with each group of alternatives replaced by the one that says least, and no wildcards."""
    before = ""
    while pattern != before:
        before, pattern = pattern, _BRACES.sub(_least_said, pattern)
    return _CLASS.sub("", pattern)


def _least_said(group: re.Match[str]) -> str:
    return min(group[1].split(","), key=lambda one: len(_LITERAL.findall(_CLASS.sub("", one))))
