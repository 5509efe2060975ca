"""Rules in three lists, allow, ask and deny, each with its text and where it came from."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.matching.patterns import Patterns
from hookline.matching.shell import ShellReader
from hookline.matching.toolrules import ToolRule, parse_tool_rule
from hookline.model.errors import PatternError
from hookline.model.safetext import one_line

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
        #: The directory `~` stands for in rules that allow. Unknown, such a rule allows nothing.
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
            said = f'{behavior} rule "{one_line(text, _WIDEST_RULE)}": {one_line(error.problem, 300)}'
        if behavior == "allow":
            return None, f"{said}; it allows nothing"
        widened = reader.widened(behavior, text, source)
        if widened is None:
            return None, f"{said}; it is about no tool, so it holds nothing back"
        return widened, f"{said}; it counts for all of {widened.readings[0].tool}"

    def with_rules(self, behavior: Behavior, texts: Iterable[str], source: str) -> "RuleSet":
        """With these rules as well. Raises PatternError for one that cannot be read and cannot be widened."""
        made = self if self.reader is not None else replace(self, reader=RuleReader())
        for text in texts:
            rule, problem = made.read(behavior, text, source)
            if rule is None:
                raise PatternError(text, problem or "it cannot be read")
            made = made.with_rule(rule)
        return made

    def with_rule(self, rule: Rule) -> "RuleSet":
        """The same rule from the same source is kept once."""
        there = self.of(rule.behavior)
        if any(one.text == rule.text and one.source == rule.source for one in there):
            return self
        return replace(self, **{rule.behavior: (*there, rule)})

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
