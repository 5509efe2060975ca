"""Read rules that allow, ask and deny, and find those that match a call."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.action import BY_NAMES, Action, PathContext
from hookline.actions.kinds import FURTHER, KIND_OF, KINDS, PATH_ARGUMENTS, RULE_KINDS, tools_of_rule
from hookline.matching.file_rules import FileArgument
from hookline.matching.patterns import Patterns
from hookline.matching.shell_rules import ShellArgument, places_of
from hookline.matching.tool_rules import ToolRule, covers, judge_from, parse_tool_rule
from hookline.model.errors import PatternError
from hookline.model.hook import Answer, Doubt
from hookline.model.safe_text import one_line
from hookline.permissions.facts import CallFacts
from hookline.shell import ShellReader, base_name

Behavior = Literal["allow", "ask", "deny"]
BEHAVIORS: tuple[Behavior, ...] = ("allow", "ask", "deny")

_WIDEST_RULE = 120
_DECLARED = FURTHER | frozenset(RULE_KINDS)
_TOOL = re.compile(r"\s*([\w*.:/-]+)\s*(?:\(|$)")
#: A program never sees these: a pattern with them is about the line.
_OPERATORS = frozenset("<>|&;$`")
_WITH_ARGUMENT = re.compile(r"\(\s*(?!\*?\s*\))")


class PermissionRule(Struct, frozen=True, eq=False):
    """One rule. `readings` holds it once for each tool of its family."""

    text: str
    behavior: Behavior
    source: str
    readings: tuple[ToolRule, ...]
    #: It could not be read, so it applies to the whole tool.
    widened: bool = False

    @property
    def shown(self) -> str:
        """The text in printable form."""
        return one_line(self.text, _WIDEST_RULE)

    @property
    def origin(self) -> str:
        """Its source in printable form."""
        return one_line(self.source, _WIDEST_RULE)


class RuleReader:
    """A reader of rules. Rule sets that share one read each shell line once."""

    def __init__(
        self, patterns: Patterns | None = None, shell: ShellReader | None = None, home: str = ""
    ) -> None:
        self.patterns = patterns if patterns is not None else Patterns()
        self.shell = shell if shell is not None else ShellReader()
        #: The directory for `~` in rules that allow. Without it, such a rule allows nothing.
        self.home = home.rstrip("/")

    def rule(self, behavior: Behavior, text: str, source: str) -> PermissionRule:
        """Read a rule. Raises PatternError with the error."""
        whole = text.strip()
        if not whole:
            raise PatternError(text, "the rule is empty")
        tool = whole.partition("(")[0].rstrip()
        rest = whole[len(tool) :]
        # In doubt a deny is about more and an allow about less: `Edit` alone allows no other tool.
        related = behavior != "allow" or _WITH_ARGUMENT.search(rest)
        names = tools_of_rule(tool) if related else (tool,)
        readings = tuple(self._read(name, rest, behavior) for name in names)
        return PermissionRule(whole, behavior, source, readings)

    def _read(self, tool: str, rest: str, behavior: Behavior) -> ToolRule:
        if behavior == "allow" and self.home and rest.startswith("(~/"):
            rest = f"(/{self.home}/{rest[3:]}"
        return parse_tool_rule(tool + rest, self.patterns, self.shell)

    def widened(self, behavior: Behavior, text: str, source: str) -> PermissionRule | None:
        """Return the rule without its argument, for a guard that cannot be read; None when it names no tool."""
        found = _TOOL.match(text)
        if found is None:
            return None
        return replace(self.rule(behavior, found[1], source), text=text.strip(), widened=True)


def is_about_commands(rule: PermissionRule) -> bool:
    """Return True if a rule is about shell commands: about their programs, or about files that they touch."""
    return any(isinstance(reading.argument, ShellArgument | FileArgument) for reading in rule.readings)


def holds_at_exec(rule: PermissionRule) -> bool:
    """Return True if a rule is about a program by its name: what it only doubts can be judged when it runs."""
    found = False
    for reading in rule.readings:
        if isinstance(reading.argument, ShellArgument):
            pattern = reading.argument.pattern
            first = base_name(pattern.removesuffix(":*").partition(" ")[0])
            if not first or "*" in first or _is_builtin(first) or not _OPERATORS.isdisjoint(pattern):
                return False
            found = True
    return found


def _is_builtin(name: str) -> bool:
    """Return True if a shell does it itself, without a program."""
    from hookline.shell.programs import table  # noqa: PLC0415 only the exec guard asks

    row = table().get(name)
    return row is not None and row.builtin == "only"


class RuleSet(Struct, frozen=True, eq=False):
    """Rules of all three kinds. Adding sets keeps every rule: the strongest one that matches decides."""

    allow: tuple[PermissionRule, ...] = ()
    ask: tuple[PermissionRule, ...] = ()
    deny: tuple[PermissionRule, ...] = ()
    reader: RuleReader | None = None

    @classmethod
    def parse(
        cls,
        allow: Iterable[Any] = (),
        ask: Iterable[Any] = (),
        deny: Iterable[Any] = (),
        *,
        source: str = "",
        reader: RuleReader | None = None,
    ) -> tuple["RuleSet", tuple[str, ...]]:
        """Return the rules that can be read, and a sentence for each that cannot.

        A guard is never lost to a mistake: a deny or ask rule that names a tool then applies to all of it.
        """
        made = RuleSet(reader=reader if reader is not None else RuleReader())
        problems: list[str] = []
        for behavior, texts in zip(BEHAVIORS, (allow, ask, deny), strict=True):
            for text in texts:
                rule, problem = made.read(behavior, text, source)
                problems.extend([problem] if problem else [])
                made = made.with_rule(rule) if rule is not None else made
        return made, tuple(problems)

    def read(self, behavior: Behavior, text: Any, source: str) -> tuple[PermissionRule | None, str | None]:
        """Read one rule to add to this set; return it and its error."""
        reader = self.reader if self.reader is not None else RuleReader()
        if not isinstance(text, str):
            return None, f"{behavior} rule: {type(text).__name__} is not the text of a rule"
        try:
            return reader.rule(behavior, text, source), None
        except PatternError as error:
            problem = f'{behavior} rule "{one_line(text, _WIDEST_RULE)}": {one_line(error.problem, 300)}'
        if behavior == "allow":
            return None, f"{problem}; it allows nothing"
        widened = reader.widened(behavior, text, source)
        if widened is None:
            return None, f"{problem}; it names no tool, so it has no effect"
        return widened, f"{problem}; it applies to all of {widened.readings[0].tool}"

    def with_rules(self, behavior: Behavior, texts: Iterable[str], source: str) -> "RuleSet":
        """Add these rules. Raises PatternError for one that cannot be read and cannot be widened."""
        made = self if self.reader is not None else replace(self, reader=RuleReader())
        for text in texts:
            rule, problem = made.read(behavior, text, source)
            if rule is None:
                raise PatternError(text, problem or "it cannot be read")
            made = made.with_rule(rule)
        return made

    def with_rule(self, *rules: PermissionRule) -> "RuleSet":
        """Add rules; the same rule from the same source is kept once."""
        made = self
        for behavior in BEHAVIORS:
            new = [rule for rule in rules if rule.behavior == behavior]
            if not new:
                continue
            there = {(one.text, one.source): one for one in self.of(behavior)}
            before = len(there)
            for rule in new:
                there.setdefault((rule.text, rule.source), rule)
            if len(there) > before:
                made = replace(made, **{behavior: (*self.of(behavior), *list(there.values())[before:])})
        return made

    def without(self, dropped: Iterable[PermissionRule]) -> "RuleSet":
        gone = {id(rule) for rule in dropped}
        kept = {name: tuple(r for r in self.of(name) if id(r) not in gone) for name in BEHAVIORS}
        return replace(self, **kept)

    def of(self, behavior: Behavior) -> tuple[PermissionRule, ...]:
        return self.deny if behavior == "deny" else self.ask if behavior == "ask" else self.allow

    def __add__(self, other: "RuleSet") -> "RuleSet":
        return RuleSet(
            self.allow + other.allow,
            self.ask + other.ask,
            self.deny + other.deny,
            self.reader if self.reader is not None else other.reader,
        )

    def __len__(self) -> int:
        return len(self.allow) + len(self.ask) + len(self.deny)


class RuleMatch(Struct, frozen=True):
    """A rule that matches a call, surely or in doubt."""

    rule: PermissionRule
    doubt: Doubt | None = None
    #: Why a call of another tool is about it: "`cat a` reads a".
    because: str = ""


def first_concerned(
    rules: Sequence[PermissionRule],
    facts: CallFacts,
    bases: Sequence[str] = (),
    reader: "RuleReader | None" = None,
) -> RuleMatch | None:
    """Read rules that deny or ask widely: return the first that matches the call, else the first that may
    match.

    `bases` are the base directories of rules: changing the directory does not evade them.
    """
    inputs = tuple(_inputs(facts))
    bases = (*bases, facts.worktree)
    if (kind := KIND_OF.get(facts.tool_name)) is not None and kind.name == "shell_input":
        # What is typed into a running shell is a line of it.
        typed = replace(
            facts, tool_name=KINDS["shell"].tool, tool_input={"command": facts.tool_input.get(kind.line)}
        )
        found = first_concerned(rules, typed, bases, reader)
        if found is not None:
            return found
    in_doubt: RuleMatch | None = None
    for rule in rules:
        answer = _judged(rule, inputs, facts, bases)
        if answer is True:
            return RuleMatch(rule)
        if isinstance(answer, Doubt) and in_doubt is None:
            in_doubt = RuleMatch(rule, answer)
    return (
        _concerned_by_files(rules, facts, bases, reader)
        or in_doubt
        or _concerned_by_names(rules, facts, bases)
    )


def _concerned_by_files(
    rules: Sequence[PermissionRule], facts: CallFacts, bases: Sequence[str], reader: "RuleReader | None"
) -> RuleMatch | None:
    """Return the first rule about files that a shell line or code of the call touches."""
    about = [
        (rule, reading)
        for rule in rules
        for reading in rule.readings
        if isinstance(reading.argument, FileArgument)
    ]
    if not about or facts.category != "run":
        return None
    from hookline.actions.parse_call import read_call  # noqa: PLC0415 few rules are about files
    from hookline.actions.standard_tools import CANONICAL  # noqa: PLC0415 as above
    from hookline.guards.file_actions import file_actions  # noqa: PLC0415 as above

    reader = reader if reader is not None else RuleReader()
    context = PathContext(facts.cwd, facts.worktree or facts.cwd, reader.home or os.path.expanduser("~"))
    actions = read_call(CANONICAL, facts.tool_name, facts.tool_input, context)
    for action in file_actions(actions, context, reader.shell):
        for rule, reading in about:
            for name in _names_of_rules(action):
                if judge_from(reading, name, action.arguments, facts.cwd, bases) is True:
                    return RuleMatch(rule, because=action.because)
    return None


def _names_of_rules(action: Action) -> tuple[str, ...]:
    """Return the tools whose rules are about an action on a file."""
    kind = action.kind
    if kind is None or kind.access != "write":
        return () if kind is None else (kind.tool,)
    return tuple(dict.fromkeys((kind.tool, "Write", "Edit")))


def _concerned_by_names(
    rules: Sequence[PermissionRule], facts: CallFacts, bases: Sequence[str]
) -> RuleMatch | None:
    """Return the first rule that may match an undeclared tool, by the names of its arguments.

    A rule about a tool as a whole is about that tool alone: who denies `Bash` may want a server's tool
    instead.
    """
    if not rules or facts.category not in ("mcp", "other") or facts.tool_name in _DECLARED:
        return None
    from hookline.actions.by_names import may_do  # noqa: PLC0415 most tools are known

    actions = [action for action in may_do(facts.tool_name, facts.tool_input) if not action.guess]
    for rule in rules:
        for reading in (each for each in rule.readings if each.argument is not None):
            if any(
                judge_from(reading, action.tool_name, action.arguments, facts.cwd, bases)
                for action in actions
            ):
                return RuleMatch(rule, Doubt(BY_NAMES))
    return None


def _judged(rule: PermissionRule, inputs: Sequence[Any], facts: CallFacts, bases: Sequence[str]) -> Answer:
    total: Answer = False
    for reading in rule.readings:
        for one in inputs:
            answer = judge_from(reading, facts.tool_name, one, facts.cwd, bases)
            if answer is True:
                return True
            total = total or answer
    return total


def covering(
    rules: Sequence[PermissionRule], facts: CallFacts, bases: Sequence[str] = ()
) -> tuple[PermissionRule, ...]:
    """Read rules that allow strictly: return those that cover all of the call, beyond doubt.

    Several rules may cover a shell line together, each a part of its commands. With `bases`, rules are
    relative to those instead of the agent's current directory.
    """
    inputs = tuple(_inputs(facts))
    bases = (*(bases or (facts.cwd,)), *((facts.worktree,) if facts.worktree else ()))
    for rule in rules:
        for reading in rule.readings:
            if all(_covers(reading, one, facts, bases) for one in inputs):
                return (rule,)
    return _together(rules, facts, bases)


def _covers(reading: ToolRule, given: Any, facts: CallFacts, bases: Sequence[str]) -> bool:
    if isinstance(reading.argument, FileArgument):
        given = reading.argument.spelled_out(given, facts.cwd)
    return any(covers(reading, facts.tool_name, given, place) for place in bases)


def _together(
    rules: Sequence[PermissionRule], facts: CallFacts, roots: Sequence[str]
) -> tuple[PermissionRule, ...]:
    about = [
        (rule, reading.argument)
        for rule in rules
        for reading in rule.readings
        if isinstance(reading.argument, ShellArgument) and reading.names_tool(facts.tool_name)
    ]
    if len(about) < 2:
        return ()
    used: dict[int, PermissionRule] = {}
    commands = about[0][1].literal_commands(facts.tool_input)
    bases = places_of(commands, roots)
    for command in commands:
        rule = next((rule for rule, argument in about if argument.covers_command(command, bases)), None)
        if rule is None:
            return ()
        used[id(rule)] = rule
    return tuple(used.values())


def _inputs(facts: CallFacts) -> Iterator[Any]:
    """Yield the arguments as given and, where links were followed, with the real path instead."""
    yield facts.tool_input
    if facts.real_path is not None:
        named = next((name for name in PATH_ARGUMENTS if facts.tool_input.get(name)), "path")
        yield {**facts.tool_input, named: facts.real_path}
