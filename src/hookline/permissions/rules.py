"""Rules that allow, ask and deny, and which of them are about a call."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.matching.file_rules import FileArgument
from hookline.matching.patterns import Patterns
from hookline.matching.shell import ShellReader
from hookline.matching.shell_rules import ShellArgument, places_of
from hookline.matching.tool_rules import ToolRule, covers, judge_from, parse_tool_rule
from hookline.model.errors import PatternError
from hookline.model.hook import Answer, Doubt
from hookline.model.safe_text import one_line
from hookline.permissions.facts import CallFacts
from hookline.tools.kinds import PATH_ARGUMENTS

Behavior = Literal["allow", "ask", "deny"]
BEHAVIORS: tuple[Behavior, ...] = ("allow", "ask", "deny")

_WIDEST_RULE = 120
_TOOL = re.compile(r"\s*([\w*.:/-]+)\s*(?:\(|$)")
_WITH_ARGUMENT = re.compile(r"\(\s*(?!\*?\s*\))")

#: A rule about one of these is about every tool that does the same to a file.
FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Edit": ("Edit", "Write", "MultiEdit", "NotebookEdit"),
        "Read": ("Read", "NotebookRead", "Grep", "Glob", "LS"),
    }
)


class Rule(Struct, frozen=True, eq=False):
    """One rule. `readings` holds it once for each tool of its family."""

    text: str
    behavior: Behavior
    source: str
    readings: tuple[ToolRule, ...]
    #: It could not be read, so it counts for the whole tool.
    widened: bool = False

    @property
    def shown(self) -> str:
        """The text as it may be printed."""
        return one_line(self.text, _WIDEST_RULE)

    @property
    def origin(self) -> str:
        """Where it came from, as it may be printed."""
        return one_line(self.source, _WIDEST_RULE)


class RuleReader:
    """What rules are read with. Rule sets that share one read each shell line once."""

    def __init__(
        self, patterns: Patterns | None = None, shell: ShellReader | None = None, home: str = ""
    ) -> None:
        self.patterns = patterns if patterns is not None else Patterns()
        self.shell = shell if shell is not None else ShellReader()
        #: The directory for `~` in rules that allow. Without it, such a rule allows nothing.
        self.home = home.rstrip("/")

    def rule(self, behavior: Behavior, text: str, source: str) -> Rule:
        """Raises PatternError with what is wrong."""
        whole = text.strip()
        if not whole:
            raise PatternError(text, "the rule is empty")
        tool = whole.partition("(")[0].rstrip()
        rest = whole[len(tool) :]
        # In doubt a deny is about more and an allow about less: `Edit` alone allows no other tool.
        related = behavior != "allow" or _WITH_ARGUMENT.search(rest)
        names = FAMILIES.get(tool, (tool,)) if related else (tool,)
        readings = tuple(self._read(name, rest, behavior) for name in names)
        return Rule(whole, behavior, source, readings)

    def _read(self, tool: str, rest: str, behavior: Behavior) -> ToolRule:
        if behavior == "allow" and self.home and rest.startswith("(~/"):
            rest = f"(/{self.home}/{rest[3:]}"
        return parse_tool_rule(tool + rest, self.patterns, self.shell)

    def widened(self, behavior: Behavior, text: str, source: str) -> Rule | None:
        """The rule without its argument, for a guard that cannot be read; None when it names no tool."""
        found = _TOOL.match(text)
        if found is None:
            return None
        return replace(self.rule(behavior, found[1], source), text=text.strip(), widened=True)


class RuleSet(Struct, frozen=True, eq=False):
    """Rules of all three kinds. Adding sets keeps every rule: the strongest one concerned decides."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
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
        """The rules that can be read, and a sentence for each that cannot.

        A guard is never lost to a mistake: a deny or ask rule that names a tool then counts for all of it.
        """
        made = RuleSet(reader=reader if reader is not None else RuleReader())
        problems: list[str] = []
        for behavior, texts in zip(BEHAVIORS, (allow, ask, deny), strict=True):
            for text in texts:
                rule, problem = made.read(behavior, text, source)
                problems.extend([problem] if problem else [])
                made = made.with_rule(rule) if rule is not None else made
        return made, tuple(problems)

    def read(self, behavior: Behavior, text: Any, source: str) -> tuple[Rule | None, str | None]:
        """One rule as it may be added to this set, and what is wrong with it."""
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
        return widened, f"{problem}; it counts for all of {widened.readings[0].tool}"

    def with_rules(self, behavior: Behavior, texts: Iterable[str], source: str) -> "RuleSet":
        """With these rules as well. Raises PatternError for one that cannot be read and cannot be widened."""
        made = self if self.reader is not None else replace(self, reader=RuleReader())
        for text in texts:
            rule, problem = made.read(behavior, text, source)
            if rule is None:
                raise PatternError(text, problem or "it cannot be read")
            made = made.with_rule(rule)
        return made

    def with_rule(self, *rules: Rule) -> "RuleSet":
        """The same rule from the same source is kept once."""
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

    def without(self, dropped: Iterable[Rule]) -> "RuleSet":
        gone = {id(rule) for rule in dropped}
        kept = {name: tuple(r for r in self.of(name) if id(r) not in gone) for name in BEHAVIORS}
        return replace(self, **kept)

    def of(self, behavior: Behavior) -> tuple[Rule, ...]:
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


class Concerned(Struct, frozen=True):
    """A rule that is about a call, surely or in doubt."""

    rule: Rule
    doubt: Doubt | None = None


def first_concerned(rules: Sequence[Rule], facts: CallFacts, places: Sequence[str] = ()) -> Concerned | None:
    """The wide reading, for rules that deny or ask: the first that is about the call, else the first that may be.

    `places` are the directories that rules may be relative to: changing the directory does not evade them.
    """
    inputs = tuple(_inputs(facts))
    places = (*places, facts.worktree)
    in_doubt: Concerned | None = None
    for rule in rules:
        answer = _judged(rule, inputs, facts, places)
        if answer is True:
            return Concerned(rule)
        if isinstance(answer, Doubt) and in_doubt is None:
            in_doubt = Concerned(rule, answer)
    return in_doubt


def _judged(rule: Rule, inputs: Sequence[Any], facts: CallFacts, places: Sequence[str]) -> Answer:
    total: Answer = False
    for reading in rule.readings:
        for one in inputs:
            answer = judge_from(reading, facts.tool_name, one, facts.cwd, places)
            if answer is True:
                return True
            total = total or answer
    return total


def covering(rules: Sequence[Rule], facts: CallFacts, places: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The strict reading, for rules that allow: those that cover all of the call, beyond doubt.

    Several rules may cover a shell line together, each a part of its commands. With `places`, rules are relative to
    those instead of the agent's current directory.
    """
    inputs = tuple(_inputs(facts))
    places = (*(places or (facts.cwd,)), *((facts.worktree,) if facts.worktree else ()))
    for rule in rules:
        for reading in rule.readings:
            if all(_covers(reading, one, facts, places) for one in inputs):
                return (rule,)
    return _together(rules, facts, places)


def _covers(reading: ToolRule, given: Any, facts: CallFacts, places: Sequence[str]) -> bool:
    if isinstance(reading.argument, FileArgument):
        given = reading.argument.spelled_out(given, facts.cwd)
    return any(covers(reading, facts.tool_name, given, place) for place in places)


def _together(rules: Sequence[Rule], facts: CallFacts, roots: Sequence[str]) -> tuple[Rule, ...]:
    about = [
        (rule, reading.argument)
        for rule in rules
        for reading in rule.readings
        if isinstance(reading.argument, ShellArgument) and reading.names_tool(facts.tool_name)
    ]
    if len(about) < 2:
        return ()
    used: dict[int, Rule] = {}
    commands = about[0][1].literal_commands(facts.tool_input)
    places = places_of(commands, roots)
    for command in commands:
        rule = next((rule for rule, argument in about if argument.covers_command(command, places)), None)
        if rule is None:
            return ()
        used[id(rule)] = rule
    return tuple(used.values())


def _inputs(facts: CallFacts) -> Iterator[Any]:
    """The arguments as given and, where links were followed, with the real path in their place."""
    yield facts.tool_input
    if facts.real_path is not None:
        named = next((name for name in PATH_ARGUMENTS if facts.tool_input.get(name)), "path")
        yield {**facts.tool_input, named: facts.real_path}
