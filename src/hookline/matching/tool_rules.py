"""Rules about tool calls: `Bash`, `Bash(git *)`, `Edit(src/**)`, `WebFetch(domain:x.org)`, `mcp__server`.

A rule can be read in two ways. `judge` is the wide one, for guards and `if`: yes when anything in the call matches,
and in doubt when something in it may. `covers` is the strict one, for permissions: true only when everything in the
call matches and nothing is in doubt.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, Protocol, cast

from msgspec import Struct

from hookline.matching.conditions import AllOf, AnyOf
from hookline.matching.file_rules import FileArgument, file_argument
from hookline.matching.patterns import LONGEST_PATTERN, Glob, Patterns, glob
from hookline.matching.shell import ShellReader
from hookline.matching.shell_rules import shell_argument
from hookline.matching.value_rules import domain_argument, value_argument
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec, field_of, knows
from hookline.model.hook import Answer, Condition, Doubt
from hookline.model.scene import Scene
from hookline.tools.kinds import KIND_OF

_NAME = re.compile(r"[\w*.:/-]+")
#: `Name(...)`, but not a group of alternatives as in `Notebook(Edit|Read)`: that is a regular expression.
_TOOL_PATTERN = re.compile(r"(?!mcp__)[A-Za-z]\w*\((?!\?)(?![\w\s]*\|[\w\s|]*\)).*\)", re.DOTALL)


class Argument(Protocol):
    """The part of a rule in brackets."""

    @property
    def pattern(self) -> str: ...

    def judge(self, arguments: Mapping[str, Any], cwd: str) -> Answer: ...

    def covers(self, arguments: Mapping[str, Any], cwd: str) -> bool: ...

    def why(self, arguments: Mapping[str, Any], cwd: str, answer: bool) -> str:
        """The sentence for an answer that is not in doubt."""
        ...


class ToolShape(Struct, frozen=True):
    """How the argument of a rule about this tool is read, and from which fields."""

    kind: Literal["shell", "powershell", "file", "search", "web", "other"] = "other"
    fields: tuple[str, ...] = ()


_SHELL = ToolShape("shell", ("command",))
#: Names that tools have which take lines of PowerShell.
POWERSHELL = frozenset(("PowerShell", "powershell", "pwsh"))
_FILE = ToolShape("file", ("file_path", "notebook_path", "path"))
_SEARCH = ToolShape("search", ("path",))
_OTHER = ToolShape()
_NO_ARGUMENTS = Doubt("the call has no arguments")

#: The tools whose arguments mean more than text, by canonical names and names that many agents have.
TOOL_SHAPES: Mapping[str, ToolShape] = MappingProxyType(
    {
        **dict.fromkeys(("Bash", "bash", "exec_shell", "shell", "run_shell_command"), _SHELL),
        **dict.fromkeys(POWERSHELL, ToolShape("powershell", ("command",))),
        **dict.fromkeys(("Edit", "Write", "Read", "MultiEdit", "NotebookEdit", "NotebookRead"), _FILE),
        "Delete": ToolShape("file", ("file_path",)),
        "Move": ToolShape("file", ("source", "destination")),
        **dict.fromkeys(("Glob", "Grep", "LS"), _SEARCH),
        "WebFetch": ToolShape("web", ("url",)),
    }
)


class ToolRule(Struct, frozen=True, eq=False):
    text: str
    #: The tool as the rule names it.
    tool: str
    #: One of these is the whole name.
    names: tuple[Glob, ...]
    argument: Argument | None = None
    #: The argument as it is read for tools of other kinds, when one is called by the name of the rule.
    other_readings: Callable[[str], "ToolRule"] | None = None

    def names_tool(self, tool: str) -> bool:
        for name in self.names:  # noqa: SIM110 - asked of every rule at every call, so without a generator
            if name.matches(tool):
                return True
        return False

    def read_as(self, tool: str) -> "ToolRule":
        """The rule as it counts for a call that is called by its name and does what the canonical tool does."""
        return self if self.other_readings is None else self.other_readings(tool)


def looks_like_tool_pattern(text: str) -> bool:
    return _TOOL_PATTERN.fullmatch(text) is not None


def parse_tool_rule(
    text: str, patterns: Patterns, shell: ShellReader, shapes: Mapping[str, ToolShape] = TOOL_SHAPES
) -> ToolRule:
    """Raises PatternError with what is wrong."""
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
        return ToolRule(whole, tool, names, _argument(pattern, shapes.get(other, _OTHER), patterns, shell))

    known = shapes.get(tool)
    argument = _argument(pattern, known or _OTHER, patterns, shell)
    plain = known is not None and known.kind != "shell"
    return ToolRule(whole, tool, names, argument, None if plain else read_as)


def judge(rule: ToolRule, tool_name: str, tool_input: Any, cwd: str) -> Answer:
    """The wide reading: whether the call is what the rule is about, or may be."""
    if not rule.names_tool(tool_name):
        return False
    if rule.argument is None:
        return True
    if type(tool_input) is not dict and not isinstance(tool_input, Mapping):
        return _NO_ARGUMENTS
    return rule.argument.judge(cast("Mapping[str, Any]", tool_input), cwd)


def judge_from(rule: ToolRule, tool_name: str, tool_input: Any, cwd: str, places: Iterable[str]) -> Answer:
    """The same for a rule that may have been written from any of these places, wherever the agent is now."""
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


def concerns(rule: ToolRule, tool_name: str, tool_input: Any, cwd: str) -> bool:
    """Whether a guard with this rule counts for the call: surely, or in doubt."""
    return judge(rule, tool_name, tool_input, cwd) is not False


def covers(rule: ToolRule, tool_name: str, tool_input: Any, cwd: str) -> bool:
    """The strict reading: whether all of the call is what the rule is about, beyond doubt."""
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

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> Answer:  # noqa: ARG002 - the protocol
        rule, tool = self._meant(payload)
        # An agent that has moved into a directory must not get around the guards of what is in it.
        places = (scene.project_dir or "",)
        return isinstance(tool, str) and judge_from(rule, tool, arguments_of(payload), scene.cwd, places)

    def covers(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        rule, tool = self._meant(payload)
        if not isinstance(tool, str):
            return False
        given = arguments_of(payload)
        if isinstance(rule.argument, FileArgument) and isinstance(given, Mapping):
            given = rule.argument.spelled_out(cast("Mapping[str, Any]", given), scene.cwd)
        return any(covers(rule, tool, given, place) for place in {scene.cwd, scene.project_dir or scene.cwd})

    def _meant(self, payload: Any) -> tuple[ToolRule, Any]:
        """The rule as it counts for this call, and the name by which the rule means the tool."""
        tool: Any = field_of(payload, "tool_name")
        if tool == "Grep" and self.rule.tool == "Read" and _has_path(arguments_of(payload)):
            return self.rule, "Read"  # a search in a file reads it
        called: Any = field_of(payload, "called_as")
        if called is None or not isinstance(called, Mapping) or not isinstance(tool, str):
            return self.rule, tool
        if tool in KIND_OF and self.rule.tool in KIND_OF[tool].also:
            return self.rule, self.rule.tool
        name = called_name(payload)
        if name is None:
            return self.rule, tool
        meant = tool if self.rule.names_tool(tool) or not self.rule.names_tool(name) else name
        if name in POWERSHELL:
            return self.rule.read_as(name), meant
        return (self.rule if meant == tool else self.rule.read_as(tool)), meant

    def problem(self, event: EventSpec[Any]) -> str | None:
        if knows(event, "tool_name"):
            return None
        return f'if "{self.text}" can never hold: {event.name} is not about a tool'

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
        return f'if "{self.text}": {self._reason(event, payload, scene)}'

    def _reason(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
        rule, tool = self._meant(payload)
        if not isinstance(tool, str):
            return f"{event.name} is not about a tool"
        if not rule.names_tool(tool):
            return f"the tool is {tool}, not {rule.tool}"
        if rule.argument is None:
            return f"the tool is {tool}"
        answer = self.holds(event, payload, scene)
        if isinstance(answer, Doubt):
            return f"in doubt: {answer.text}"
        return rule.argument.why(cast("Mapping[str, Any]", arguments_of(payload)), scene.cwd, answer)


class Widened(AnyOf, frozen=True):
    """The rule of another agent as that agent reads it, or as it is read here: it holds where either does."""

    @property
    def text(self) -> str:
        return self.conditions[0].text


def widened(condition: Condition, read: Callable[[str], Condition | None]) -> Condition:
    """A condition whose rules also hold as they are read here. `read` may raise PatternError."""
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
    """The name that the tool of a call has in the agent that makes it, where a hook is told another one."""
    called: Any = field_of(payload, "called_as")
    if called is None or not isinstance(called, Mapping):
        return None
    name = cast("Mapping[str, Any]", called).get("tool_name")
    return name if isinstance(name, str) else None


def arguments_of(payload: Any) -> Any:
    """The arguments of the call; where only the shell line is known, that."""
    arguments = field_of(payload, "tool_input")
    command = field_of(payload, "command")
    return {"command": command} if not arguments and isinstance(command, str) else arguments


def _names(tool: str) -> tuple[Glob, ...]:
    """`mcp__server` is every tool of that server."""
    if tool.startswith("mcp__") and tool.count("__") == 1:
        return glob(tool), glob(tool + "__*")
    return (glob(tool),)


def _argument(pattern: str, shape: ToolShape, patterns: Patterns, shell: ShellReader) -> Argument:
    if shape.kind == "shell":
        return shell_argument(pattern, shell)
    if shape.kind == "powershell":
        from hookline.matching.shell.powershell import (  # noqa: PLC0415 few lines are of PowerShell
            BY_NAME_ONLY,
            PowerShellReader,
        )

        return shell_argument(pattern, PowerShellReader(), BY_NAME_ONLY)
    if shape.kind in {"file", "search"}:
        return file_argument(pattern, shape.fields, shape.kind == "search", patterns)
    if shape.kind == "web" and pattern.startswith("domain:"):
        return domain_argument(pattern)
    return value_argument(pattern)
