"""Test the `if` of an entry: one permission rule, as the client does.

It is looser than a permission: wrappers such as `sudo` are not read, a path before the program is part of it,
and in doubt the client runs the hook.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from msgspec import Struct

from hookline.dialects.claude_code.commands import CommandLine, read_line
from hookline.dialects.claude_code.events import OLD_TOOL_NAMES
from hookline.matching.patterns import Glob, Patterns, glob
from hookline.matching.tool_rules import ToolRule, judge, parse_tool_rule
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec, field_of, knows
from hookline.model.hook import Answer, Condition, Doubt
from hookline.model.session_info import SessionInfo
from hookline.shell import ShellReader

_ANYTHING: Final = re.compile(r"(?s)Bash(?:\(\s*+(?:\*\s*+)?\))?")
_BASH: Final = re.compile(r"(?s)Bash\((.*)\)")
_UNREADABLE: Final = Doubt("the line has a here-document or cannot be read")
_SUBSTITUTES: Final = Doubt("the line has a command substitution")


class ClaudeToolCondition(Struct, frozen=True):
    text: str

    def problem(self, event: EventSpec[Any]) -> str | None:
        if knows(event, "tool_name"):
            return None
        return f'if "{self.text}" can never hold: {event.name} is not about a tool'


class BashRule(ClaudeToolCondition, frozen=True):
    """`Bash(git push *)`. A rule about more than a program also holds where something is substituted."""

    globs: tuple[Glob, ...]
    names_program: bool

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer:  # noqa: ARG002 - the protocol
        if field_of(payload, "tool_name") != "Bash":
            return False
        line = _line(payload)
        return _UNREADABLE if line is None else self._judge(line)

    def _judge(self, line: CommandLine) -> Answer:
        if any(one.matches(part) for part in line.parts for one in self.globs):
            return True
        if line.doubtful:
            return _UNREADABLE
        return _SUBSTITUTES if line.substitutes and not self.names_program else False

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        answer = self.holds(event, payload, info)
        if field_of(payload, "tool_name") != "Bash":
            reason = f"the tool is {field_of(payload, 'tool_name')}, not Bash"
        elif isinstance(answer, Doubt):
            reason = f"in doubt: {answer.text}"
        else:
            reason = "a command of the line is that" if answer else "no command of the line is that"
        return f'if "{self.text}": {reason}'


class AnyBash(ClaudeToolCondition, frozen=True):
    """`Bash` and `Bash(*)`."""

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        return field_of(payload, "tool_name") == "Bash"


class ToolIf(ClaudeToolCondition, frozen=True, eq=False):
    """A rule about any other tool. A rule about Edit is about Edit alone, not about every tool that writes."""

    rule: ToolRule

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer:  # noqa: ARG002 - the protocol
        tool = field_of(payload, "tool_name")
        if not isinstance(tool, str):
            return False
        arguments = field_of(payload, "tool_input")
        names = (tool, *OLD_TOOL_NAMES.get(tool, ()))
        # They are names of one tool: the rule has one of them.
        named = next((name for name in names if self.rule.names_tool(name)), None)
        return named is not None and judge(self.rule, named, arguments, info.cwd)


def read_if(text: str, patterns: Patterns, shell: ShellReader, home: str) -> Condition | None:
    """Return the condition; None for an empty text. Raises PatternError for one that never holds."""
    if text == "":
        return None
    whole = text.strip()
    if _ANYTHING.fullmatch(whole):
        return AnyBash(text)
    bash = _BASH.fullmatch(whole)
    if bash:
        return _bash_rule(text, " ".join(bash[1].split()))
    if whole[:1] in {"*", ""}:
        raise PatternError(text, "it never holds: a rule begins with the name of a tool")
    tool, bracket, inside = whole.partition("(")
    if inside.startswith("~/") and home:
        # `//` is the root of the file system; a single `/` is that of the project.
        whole = f"{tool}{bracket}/{home.rstrip('/')}/{inside[2:]}"
    if tool[:1].islower() and not tool.startswith("mcp__"):
        raise PatternError(
            text, "it never holds: a tool comes first, with a capital letter, as in Bash(git *)"
        )
    return ToolIf(text, parse_tool_rule(whole, patterns, shell))


def _bash_rule(text: str, pattern: str) -> BashRule:
    stem = pattern
    for ending in (":*", " *", "*"):
        if pattern.endswith(ending):
            stem = pattern.removesuffix(ending)
            break
    globs = (glob(stem), glob(stem + " *")) if pattern.endswith((":*", " *")) else (glob(pattern),)
    return BashRule(text, globs, names_program=" " not in stem and "*" not in stem)


def _line(payload: Any) -> CommandLine | None:
    arguments = field_of(payload, "tool_input")
    command = cast("Mapping[str, Any]", arguments).get("command") if isinstance(arguments, Mapping) else None
    return read_line(command) if isinstance(command, str) else None
