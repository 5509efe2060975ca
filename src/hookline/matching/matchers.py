"""Test an event's subject: matchers.

Absent, empty and `*` match everything and make no matcher at all. A text of plain characters is a name or a
list of names. `Tool(arguments)` is that tool and a condition on its arguments. Names with `*` are globs.
Anything else is a regular expression. Case matters.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.matching.patterns import LONGEST_PATTERN, PLAIN, Expression, Glob, Patterns, glob
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Matcher
from hookline.shell import ShellReader

__all__ = [
    "PLAIN",
    "GlobMatcher",
    "NameList",
    "OneName",
    "OtherNames",
    "RegexMatcher",
    "can_match",
    "joined",
    "parse_matcher",
    "problem",
    "regex_or_names",
]

_SEPARATORS = "|,"


class OneName(Struct, frozen=True):
    text: str
    name: str

    def matches(self, subject: str) -> bool:
        return subject == self.name

    def why(self, subject: str) -> str:
        if self.matches(subject):
            return f'matcher "{self.text}" is "{subject}"'
        return f'matcher "{self.text}" is not "{subject}"'


class NameList(Struct, frozen=True):
    text: str
    names: frozenset[str]

    def matches(self, subject: str) -> bool:
        return subject in self.names

    def why(self, subject: str) -> str:
        decision = "is" if self.matches(subject) else "is not"
        return f'matcher "{self.text}" is a list of names and "{subject}" {decision} in it'


class GlobMatcher(Struct, frozen=True):
    text: str
    globs: tuple[Glob, ...]

    def matches(self, subject: str) -> bool:
        return any(one.matches(subject) for one in self.globs)

    def why(self, subject: str) -> str:
        decision = "matches" if self.matches(subject) else "does not match"
        return f'matcher "{self.text}" (a name with *) {decision} "{subject}"'


class RegexMatcher(Struct, frozen=True):
    text: str
    expression: Expression
    anchored: bool = True

    def matches(self, subject: str) -> bool:
        return self.expression.found(subject)

    def why(self, subject: str) -> str:
        decision = "matches" if self.matches(subject) else "does not match"
        whole = "the whole of " if self.anchored else ""
        return f'matcher "{self.text}" is a regular expression and {decision} {whole}"{subject}"'


class OtherNames(Struct, frozen=True):
    """A matcher whose subjects have other names as well: it matches by any of them."""

    inner: Matcher
    names: Mapping[str, tuple[str, ...]]

    @property
    def text(self) -> str:
        return self.inner.text

    def matches(self, subject: str) -> bool:
        return any(self.inner.matches(name) for name in (subject, *self.names.get(subject, ())))

    def why(self, subject: str) -> str:
        from hookline.matching.conditions import explain_matcher  # noqa: PLC0415 - only where a reason is asked for

        if self.inner.matches(subject) or not self.matches(subject):
            return explain_matcher(self.inner, subject)
        return f'matcher "{self.text}" matches another name of "{subject}"'


def parse_matcher(
    text: str | None, patterns: Patterns, shell: ShellReader
) -> tuple[Matcher | None, Condition | None]:
    """Read a `matcher` text as a test on the subject, and a condition on the arguments if it names any."""
    if text is None or text.strip() in {"", "*"}:
        return None, None
    if len(text) > LONGEST_PATTERN:
        raise PatternError(text[:40] + "...", f"at most {LONGEST_PATTERN} characters are accepted")
    if "(" in text:
        tools = _tools_and_arguments(text, patterns, shell)
        if tools is not None:
            return tools
    return regex_or_names(text, patterns, anchored=True, plain=PLAIN, globs=True), None


def _tools_and_arguments(
    text: str, patterns: Patterns, shell: ShellReader
) -> tuple[Matcher | None, Condition] | None:
    """Return tool patterns and names, if there is one tool pattern among them."""
    # Most matchers are names, which do not need the rules.
    from hookline.matching.tool_rules import looks_like_tool_pattern, tool_condition  # noqa: PLC0415 - see above

    parts = _parts(text)
    if not any(looks_like_tool_pattern(part) for part in parts):
        return None
    rules = tuple(tool_condition(part, patterns, shell) for part in parts)
    matcher, _none = parse_matcher("|".join(rule.rule.tool for rule in rules), patterns, shell)
    from hookline.matching.conditions import AnyOf  # noqa: PLC0415 the same

    return matcher, rules[0] if len(rules) == 1 else AnyOf(rules)


def joined(*conditions: Condition | None) -> Condition | None:
    """Join the conditions that are not None: all of them must hold."""
    given = tuple(condition for condition in conditions if condition is not None)
    if len(given) < 2:
        return given[0] if given else None
    from hookline.matching.conditions import AllOf  # noqa: PLC0415 - most hooks have one at most

    return AllOf(given)


def problem(condition: Condition | None, event: EventSpec[Any]) -> str | None:
    """Return why a condition can never hold at this event; None when it can, or when that is not known."""
    check: Callable[[EventSpec[Any]], str | None] | None = getattr(condition, "problem", None)
    return None if check is None else check(event)


def regex_or_names(
    text: str,
    patterns: Patterns,
    *,
    anchored: bool,
    plain: frozenset[str] = PLAIN,
    globs: bool = False,
) -> Matcher | None:
    """Make a matcher without tool patterns, as the other dialects have them; they differ in the parameters.

    With `globs`, plain text with `*` is a glob: as an anchored regular expression `mcp__x__*` could never
    match a tool, and the guard would silently never run.
    """
    if text.strip() in {"", "*"}:
        return None
    if plain.issuperset(text):
        names = frozenset(_names(text, plain))
        if not names:
            raise PatternError(text, "it names nothing; to match everything leave it out")
        return OneName(text, next(iter(names))) if len(names) == 1 else NameList(text, names)
    if globs and plain.issuperset(text.replace("*", "")):
        return GlobMatcher(text, tuple(glob(name) for name in _names(text, plain)))
    return RegexMatcher(text, patterns.expression(text, anchored=anchored), anchored)


def can_match(matcher: Matcher | None, vocabulary: Sequence[str]) -> bool:
    """Return True if it matches any value of a closed vocabulary. An empty vocabulary is an open one."""
    return matcher is None or not vocabulary or any(matcher.matches(value) for value in vocabulary)


def _names(text: str, plain: frozenset[str]) -> list[str]:
    for separator in _SEPARATORS:
        if separator in plain:
            text = text.replace(separator, "|")
    return [name for part in text.split("|") if (name := part.strip())]


def _parts(text: str) -> list[str]:
    """Split the text at `|` and `,` outside of brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and character in _SEPARATORS:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part for each in parts if (part := each.strip())]
