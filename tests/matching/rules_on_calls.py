"""Share between the tests of this package."""

from typing import Any

from hookline.matching.patterns import Patterns
from hookline.matching.tool_rules import ToolRule, concerns, covers, parse_tool_rule
from hookline.model import payloads as p
from hookline.shell import ShellReader

#: One reader for all: readings are pure, and the parser takes a while to load.
SHELL = ShellReader()


def rule(text: str) -> ToolRule:
    return parse_tool_rule(text, Patterns(), SHELL)


def fires(text: str, tool: str = "Bash", cwd: str = "/proj", **arguments: Any) -> bool:
    return concerns(rule(text), tool, arguments, cwd)


def allows(text: str, tool: str = "Bash", cwd: str = "/proj", **arguments: Any) -> bool:
    return covers(rule(text), tool, arguments, cwd)


def call(tool: str, **arguments: Any) -> p.ToolCall:
    return p.ToolCall(tool_name=tool, tool_input=arguments)
