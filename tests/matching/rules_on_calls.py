"""Share between the tests of this package."""

from typing import Any

from hookline.matching.patterns import Patterns
from hookline.matching.tool_rules import ToolRule, covers, judge, parse_tool_rule
from hookline.model import payloads as p
from hookline.shell import ShellReader

#: One reader for all: readings are pure, and the parser takes a while to load.
SHELL = ShellReader()


def rule(text: str) -> ToolRule:
    return parse_tool_rule(text, Patterns(), SHELL)


def fires(text: str, tool: str = "Bash", cwd: str = "/proj", **arguments: Any) -> bool:
    """Return True if a guard with this rule applies: surely, or in doubt."""
    return judge(rule(text), tool, arguments, cwd) is not False


def allows(text: str, tool: str = "Bash", cwd: str = "/proj", **arguments: Any) -> bool:
    return covers(rule(text), tool, arguments, cwd)


def call(tool: str, **arguments: Any) -> p.ToolCall:
    return p.ToolCall(tool_name=tool, tool_input=arguments)
