"""Match JavaScript regular expressions, which agents written in it search for anywhere in a name.

Patterns that JavaScript has and google-re2 refuses are split where that is safe; else testing raises, so that
the hook fails instead of never running.
"""

import re
from typing import Final

from msgspec import Struct

from hookline.dialects.family.settings import MatcherNote
from hookline.matching.matchers import RegexMatcher
from hookline.matching.patterns import Expression, Patterns
from hookline.model.errors import PatternError
from hookline.model.hook import Matcher

#: Group syntax that other engines know and JavaScript refuses.
_NOT_JAVASCRIPT: Final = re.compile(r"\(\?(?:[a-zA-Z-]+\)|P[<=>])")
_LOOKAHEADS: Final = ("(?=", "(?!")


class Untestable(Struct, frozen=True):
    """A pattern that cannot be tested safely. Testing raises, so that its hook fails instead of never running."""

    text: str
    problem: str

    def matches(self, subject: str) -> bool:  # noqa: ARG002 - the protocol
        raise PatternError(self.text, self.problem)


class Guarded(Struct, frozen=True):
    """`^(?!Read$)(?=mcp__).*`: lookaheads at the start, each a separate plain expression."""

    ahead: tuple[tuple[bool, Expression], ...]
    rest: Expression

    def found(self, subject: str) -> bool:
        return all(test.found(subject) is wanted for wanted, test in self.ahead) and self.rest.found(subject)


def search_matcher(text: str, patterns: Patterns) -> Matcher:
    """Make a matcher that searches for the pattern anywhere in a name. Raises PatternError."""
    refuse_other_syntax(text)
    try:
        return RegexMatcher(text, patterns.expression(text, anchored=False), anchored=False)
    except PatternError as error:
        return beyond_re2(text, patterns, error)


def untestable_note(matcher: Matcher) -> MatcherNote | None:
    """Return a note about a pattern that cannot be tested; None for any other."""
    if not isinstance(matcher, Untestable):
        return None
    problem = f"cannot be tested here ({matcher.problem}): its hooks fail instead of running"
    return MatcherNote("untestable-pattern", f"{matcher.text!r} {problem}", "list the names")


def refuse_other_syntax(text: str) -> None:
    """Raise PatternError for a group that JavaScript does not have."""
    if _NOT_JAVASCRIPT.search(text):
        raise PatternError(
            text, "JavaScript has no such group, so it matches nothing: for any case, list the names"
        )


def beyond_re2(text: str, patterns: Patterns, error: PatternError) -> Matcher:
    """Split a pattern with lookaheads, which JavaScript has; where it has more, it stays a failure."""
    if not any(word in error.problem for word in ("lookahead", "lookbehind", "back-reference")):
        raise error
    try:
        return RegexMatcher(text, _taken_apart(text, patterns), anchored=False)
    except PatternError:
        return Untestable(text, error.problem)


def _taken_apart(text: str, patterns: Patterns) -> Expression:
    if not text.startswith("^"):
        raise PatternError(text, "only lookaheads right after ^ can be tested")
    at = 1
    ahead: list[tuple[bool, Expression]] = []
    while text.startswith(_LOOKAHEADS, at):
        end = _group_end(text, at)
        inner = text[at + 3 : end]
        ahead.append((text[at + 2] == "=", patterns.expression(f"^(?:{inner})", anchored=False)))
        at = end + 1
    if "|" in _outside_groups(text[at:]):
        raise PatternError(text, "alternatives next to a lookahead cannot be tested")
    return Guarded(tuple(ahead), patterns.expression("^" + text[at:], anchored=False))


def _group_end(text: str, start: int) -> int:
    depth, at, in_class = 0, start, False
    while at < len(text):
        character = text[at]
        if character == "\\":
            at += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return at
        at += 1
    raise PatternError(text, "a ( is never closed")


def _outside_groups(text: str) -> str:
    kept, at = "", 0
    while at < len(text):
        if text[at] == "(":
            at = _group_end(text, at)
        elif text[at] == "\\":
            at += 1
        else:
            kept += text[at]
        at += 1
    return kept
