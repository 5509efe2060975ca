"""Match rules about tool calls: `Bash`, `Bash(git *)`, `Edit(src/**)`, `WebFetch(domain:x.org)`,
`mcp__server`.

A rule can be read in two ways. `judge` is the wide one, for guards and `if`: yes when anything in the call
matches, and in doubt when something in it may. `covers` is the strict one, for permissions: true only when
everything in the call matches and nothing is in doubt.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Protocol, cast

from msgspec import Struct

from hookline.actions.kinds import KIND_OF, POWERSHELL, rule_argument, rule_fields
from hookline.matching.conditions import AllOf, AnyOf
from hookline.matching.file_rules import FileArgument, file_argument
from hookline.matching.patterns import LONGEST_PATTERN, Glob, Patterns, glob
from hookline.matching.shell_rules import ShellArgument, shell_argument
from hookline.matching.value_rules import domain_argument, value_argument
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec, field_of, knows
from hookline.model.hook import Answer, Condition, Doubt
from hookline.model.session_info import SessionInfo
from hookline.shell import ShellReader

_NAME = re.compile(r"[\w*.:/-]+")
#: `Name(...)`, but not a group of alternatives as in `Notebook(Edit|Read)`: that is a regular expression.
_TOOL_PATTERN = re.compile(r"(?!mcp__)[A-Za-z]\w*\((?!\?)(?![\w\s]*\|[\w\s|]*\)).*\)", re.DOTALL)


class RuleArgument(Protocol):
    """The part of a rule in brackets."""

    @property
    def pattern(self) -> str: ...

    def judge(self, arguments: Mapping[str, Any], cwd: str) -> Answer: ...

    def covers(self, arguments: Mapping[str, Any], cwd: str) -> bool: ...

    def why(self, arguments: Mapping[str, Any], cwd: str, answer: bool) -> str:
        """Return the sentence for an answer that is not in doubt."""
        ...


#: The key of a call that is shown for what it does beside what its tool says.
_BECAUSE = "because"
_NO_ARGUMENTS = Doubt("the call has no arguments")


class ToolRule(Struct, frozen=True, eq=False):
    text: str
    #: The tool as the rule names it.
    tool: str
    #: One of these is the whole name.
    names: tuple[Glob, ...]
    argument: RuleArgument | None = None
    #: The argument as it is read for tools of other kinds, when one is called by the name of the rule.
    other_readings: Callable[[str], "ToolRule"] | None = None

    def names_tool(self, tool: str) -> bool:
        for name in self.names:  # noqa: SIM110 - asked of every rule at every call, so without a generator
            if name.matches(tool):
                return True
        return False

    def read_as(self, tool: str) -> "ToolRule":
        """Return the rule as it applies to a call that has its name and does what the canonical tool does."""
        return self if self.other_readings is None else self.other_readings(tool)


def looks_like_tool_pattern(text: str) -> bool:
    return _TOOL_PATTERN.fullmatch(text) is not None


def parse_tool_rule(text: str, patterns: Patterns, shell: ShellReader) -> ToolRule:
    """Parse a rule. Raises PatternError with the error."""
    whole = text.strip()
    if len(whole) > LONGEST_PATTERN:
        raise PatternError(whole[:40] + "...", f"at most {LONGEST_PATTERN} characters are accepted")
    tool, bracket, inside = whole.partition("(")
    tool = tool.rstrip()
    if not _NAME.fullmatch(tool):
        raise PatternError(text, "a rule begins with the name of a tool: Tool or Tool(pattern)")
    if bracket and not inside.endswith(")"):
        raise PatternError(text, "the ( after the tool is never closed")
    pattern = inside[:-1].strip()
    names = _names(tool)
    if pattern in {"", "*"}:
        return ToolRule(whole, tool, names)

    @cache
    def read_as(other: str) -> ToolRule:
        return ToolRule(whole, tool, names, _argument(pattern, other, patterns, shell))

    argument = _argument(pattern, tool, patterns, shell)
    several = rule_argument(tool) in ("shell", "other")
    return ToolRule(whole, tool, names, argument, read_as if several else None)


def judge(rule: ToolRule, tool_name: str, tool_input: Any, cwd: str) -> Answer:
    """Read a rule widely: return yes if it matches the call, or doubt if it may."""
    if not rule.names_tool(tool_name):
        return False
    if rule.argument is None:
        return True
    if type(tool_input) is not dict and not isinstance(tool_input, Mapping):
        return _NO_ARGUMENTS
    return rule.argument.judge(cast("Mapping[str, Any]", tool_input), cwd)


def judge_from(rule: ToolRule, tool_name: str, tool_input: Any, cwd: str, places: Iterable[str]) -> Answer:
    """Judge a rule that may have been written for any of these directories, wherever the agent is now."""
    total = judge(rule, tool_name, tool_input, cwd)
    if total is True or not isinstance(rule.argument, FileArgument) or not isinstance(tool_input, Mapping):
        return total
    whole = rule.argument.spelled_out(cast("Mapping[str, Any]", tool_input), cwd)
    for place in places:
        if place and place != cwd:
            answer = judge(rule, tool_name, whole, place)
            if answer is True:
                return True
            total = total or answer
    return total


def covers(rule: ToolRule, tool_name: str, tool_input: Any, cwd: str) -> bool:
    """Read a rule strictly: return True if it matches all of the call, beyond doubt."""
    if not rule.names_tool(tool_name):
        return False
    if rule.argument is None:
        return True
    return isinstance(tool_input, Mapping) and rule.argument.covers(
        cast("Mapping[str, Any]", tool_input), cwd
    )


class ToolCondition(Struct, frozen=True, eq=False):
    """An `if`. On an event without a tool it never holds."""

    rule: ToolRule

    @property
    def text(self) -> str:
        return self.rule.text

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer:  # noqa: ARG002 - the protocol
        rule, tool = self._meant(payload)
        # An agent that has moved into a directory must not evade the guards of its contents.
        places = (info.project_dir or "",)
        given = arguments_of(payload)
        answer = isinstance(tool, str) and judge_from(rule, tool, given, info.cwd, places)
        if answer is not False or not info.unseen_input or not isinstance(rule.argument, ShellArgument):
            return answer
        named = isinstance(tool, str) and rule.names_tool(tool) and isinstance(given, Mapping)
        return named and rule.argument.judge_input(cast("Mapping[str, Any]", given))

    def covers(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        rule, tool = self._meant(payload)
        if not isinstance(tool, str):
            return False
        given = arguments_of(payload)
        if isinstance(rule.argument, FileArgument) and isinstance(given, Mapping):
            given = rule.argument.spelled_out(cast("Mapping[str, Any]", given), info.cwd)
        return any(covers(rule, tool, given, place) for place in {info.cwd, info.project_dir or info.cwd})

    def _meant(self, payload: Any) -> tuple[ToolRule, Any]:
        """Return the rule as it applies to this call, and the name by which the rule means the tool."""
        tool: Any = field_of(payload, "tool_name")
        if tool == "Grep" and self.rule.tool == "Read" and _has_path(arguments_of(payload)):
            return self.rule, "Read"  # a search in a file reads it
        called: Any = field_of(payload, "original_call")
        if called is None or not isinstance(called, Mapping) or not isinstance(tool, str):
            return self.rule, tool
        if tool in KIND_OF and self.rule.tool in KIND_OF[tool].also:
            return self.rule, self.rule.tool
        name = called_name(payload)
        if name is None or (_BECAUSE in called and is_about_lines(self.rule)):
            return self.rule, tool
        meant = tool if self.rule.names_tool(tool) or not self.rule.names_tool(name) else name
        if name in POWERSHELL:
            return self.rule.read_as(name), meant
        return (self.rule if meant == tool else self.rule.read_as(tool)), meant

    def problem(self, event: EventSpec[Any]) -> str | None:
        if knows(event, "tool_name"):
            return None
        return f'if "{self.text}" can never hold: {event.name} is not about a tool'

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        return f'if "{self.text}": {self._reason(event, payload, info)}'

    def _reason(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        rule, tool = self._meant(payload)
        if not isinstance(tool, str):
            return f"{event.name} is not about a tool"
        if not rule.names_tool(tool):
            return f"the tool is {tool}, not {rule.tool}"
        if rule.argument is None:
            return f"the tool is {tool}"
        answer = self.holds(event, payload, info)
        if isinstance(answer, Doubt):
            return f"in doubt: {answer.text}"
        return rule.argument.why(cast("Mapping[str, Any]", arguments_of(payload)), info.cwd, answer)


def is_about_lines(rule: ToolRule) -> bool:
    """Return True if a rule is about lines of a shell: then it is not about the files that such a line touches."""
    return rule.argument is not None and rule_argument(rule.tool) == "shell"


def only_about_lines(condition: Condition) -> bool:
    """Return True if a condition holds for lines of a shell alone."""
    if isinstance(condition, ToolCondition):
        return is_about_lines(condition.rule)
    if isinstance(condition, AllOf):
        return any(map(only_about_lines, condition.conditions))
    return isinstance(condition, AnyOf) and all(map(only_about_lines, condition.conditions))


def has_argument(condition: Condition) -> bool:
    """Return True if the condition is about what calls do: it has a rule such as `Bash(git *)`, not `Bash` alone."""
    if isinstance(condition, ToolCondition):
        return condition.rule.argument is not None
    if isinstance(condition, AllOf):
        return any(map(has_argument, condition.conditions))
    return isinstance(condition, AnyOf) and all(map(has_argument, condition.conditions))


class Widened(AnyOf, frozen=True):
    """The rule of another agent as that agent reads it, or as it is read here: it holds where either does."""

    @property
    def text(self) -> str:
        return self.conditions[0].text


def widened(condition: Condition, read: Callable[[str], Condition | None]) -> Condition:
    """Return a condition whose rules also hold as they are read here. `read` may raise PatternError."""
    if isinstance(condition, AllOf | AnyOf):
        return type(condition)(tuple(widened(each, read) for each in condition.conditions))
    if isinstance(condition, ToolCondition) or not looks_like_tool_pattern(condition.text):
        return condition
    try:
        ours = read(condition.text)
    except PatternError:  # its own reading is all there is
        ours = None
    return condition if ours is None else Widened((condition, ours))


def _has_path(arguments: Any) -> bool:
    return isinstance(arguments, Mapping) and isinstance(
        cast("Mapping[str, Any]", arguments).get("path"), str
    )


def tool_condition(text: str, patterns: Patterns, shell: ShellReader) -> ToolCondition:
    return ToolCondition(parse_tool_rule(text, patterns, shell))


def called_name(payload: Any) -> str | None:
    """Return the tool's name in the agent that makes the call, where a hook sees another one."""
    called: Any = field_of(payload, "original_call")
    if called is None or not isinstance(called, Mapping):
        return None
    name = cast("Mapping[str, Any]", called).get("tool_name")
    return name if isinstance(name, str) else None


def arguments_of(payload: Any) -> Any:
    """Return the arguments of the call; where only the shell line is known, that."""
    arguments = field_of(payload, "tool_input")
    command = field_of(payload, "command")
    return {"command": command} if not arguments and isinstance(command, str) else arguments


def _names(tool: str) -> tuple[Glob, ...]:
    """Return the name patterns: `mcp__server` is every tool of that server."""
    if tool.startswith("mcp__") and tool.count("__") == 1:
        return glob(tool), glob(tool + "__*")
    return (glob(tool),)


def _argument(pattern: str, tool: str, patterns: Patterns, shell: ShellReader) -> RuleArgument:
    read = rule_argument(tool)
    if read == "shell":
        return shell_argument(pattern, shell)
    if read == "powershell":
        from hookline.shell.powershell import (  # noqa: PLC0415 few lines are of PowerShell
            BY_NAME_ONLY,
            PowerShellReader,
        )

        return shell_argument(pattern, PowerShellReader(), BY_NAME_ONLY)
    if read in {"file", "search"}:
        return file_argument(pattern, rule_fields(tool), read == "search", patterns)
    if read == "web" and pattern.startswith("domain:"):
        return domain_argument(pattern)
    return value_argument(pattern)
