"""Claude Code's matchers: a name, a list of names, or a JavaScript regular expression looked for anywhere."""

import re
import string
from typing import Final

from msgspec import Struct

from hookline.dialects.claude_code.events import OLD_TOOL_NAMES, ROWS, WORDS
from hookline.dialects.family.settings import EVERYTHING, Matching, Note
from hookline.matching.matchers import OneName, OtherNames, RegexMatcher, can_match, regex_or_names
from hookline.matching.nearest import nearest
from hookline.matching.patterns import Expression, Patterns
from hookline.model.errors import PatternError
from hookline.model.hook import Matcher

_NAMES: Final = frozenset(string.ascii_letters + string.digits + "_|")
#: A text of these alone is a name or a list of names, at all events but two.
_LISTS: Final = _NAMES | frozenset("-, ")
_NARROW: Final = frozenset({"FileChanged", "StopFailure"})

#: Tools by the names people mistype. There are more; a matcher may name any.
TOOLS: Final = (
    "Agent", "AskUserQuestion", "Bash", "Edit", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob",
    "Grep", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "Skill", "Task", "TaskCreate", "TaskUpdate",
    "TodoWrite", "WebFetch", "WebSearch", "Write",
)  # fmt: skip

_BY_LOWER_CASE: Final = {tool.lower(): tool for tool in TOOLS}

#: Group syntax that other engines know and JavaScript refuses.
_NOT_JAVASCRIPT: Final = re.compile(r"\(\?(?:[a-zA-Z-]+\)|P[<=>])")
_LOOKAHEADS: Final = ("(?=", "(?!")
_TOOL_PATTERN: Final = re.compile(r"[A-Za-z]\w*\(.+\)", re.DOTALL)


class Untestable(Struct, frozen=True):
    """A pattern that cannot be tested safely. Asking raises, so that its hook fails instead of never running."""

    text: str
    problem: str

    def matches(self, subject: str) -> bool:  # noqa: ARG002 - the protocol
        raise PatternError(self.text, self.problem)


class Guarded(Struct, frozen=True):
    """`^(?!Read$)(?=mcp__).*`: lookaheads at the start, each a plain expression of its own."""

    ahead: tuple[tuple[bool, Expression], ...]
    rest: Expression

    def found(self, subject: str) -> bool:
        return all(test.found(subject) is wanted for wanted, test in self.ahead) and self.rest.found(subject)


def read_matcher(event_name: str, text: str, patterns: Patterns) -> Matcher | None:
    """What a matcher means at one event; None matches everything. Raises PatternError."""
    row = ROWS[event_name]
    if text.strip() in {"", "*"} or not row.matched:
        return None
    if _NOT_JAVASCRIPT.search(text):
        raise PatternError(
            text, "JavaScript has no such group, so it matches nothing: for any case, list the names"
        )
    plain = _NAMES if event_name in _NARROW else _LISTS
    try:
        matcher = regex_or_names(text, patterns, anchored=False, plain=plain)
    except PatternError as error:
        matcher = _beyond_re2(text, patterns, error)
    if matcher is None:
        return None
    if row.about_tool:
        return OtherNames(matcher, OLD_TOOL_NAMES)
    if event_name in WORDS:
        return OtherNames(matcher, {ours: (claude,) for ours, claude in WORDS[event_name].items()})
    return matcher


def _beyond_re2(text: str, patterns: Patterns, error: PatternError) -> Matcher:
    """JavaScript can look ahead and back; where that is all, the pattern is taken apart or stays a failure."""
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


def read_matching(event_name: str, text: str, patterns: Patterns) -> Matching:
    """A matcher of one event with the one thing to say about it, if any."""
    try:
        matcher = read_matcher(event_name, text, patterns)
    except PatternError as error:
        message = f"matcher: {error}"
        return Matching(note=Note("bad-pattern", message, severity="error"), broken=message)
    if matcher is None:
        if text.strip() in {"", "*"}:
            return EVERYTHING
        message = f"{event_name} has nothing to match, so the matcher is not read"
        return Matching(note=Note("unread-matcher", message, "remove the matcher"))
    inner = matcher.inner if isinstance(matcher, OtherNames) else matcher
    if isinstance(inner, Untestable):
        message = f"{text!r} cannot be tested here ({inner.problem}): its hooks fail instead of running"
        return Matching(matcher, note=Note("untestable-pattern", message, "list the names"))
    dead = _never_matches(event_name, text, matcher)
    return Matching(matcher, note=None if dead is None else Note("dead-matcher", *dead))


def _never_matches(event_name: str, text: str, matcher: Matcher) -> tuple[str, str | None] | None:
    """Why a matcher is dead although it can be read, and what to write instead; None when it may match."""
    row = ROWS[event_name]
    if row.subjects is None:
        return _dead_tool_matcher(text, matcher) if row.about_tool else None
    if can_match(matcher, row.subjects):
        return None
    close = nearest(text, row.subjects)
    known = ", ".join(row.subjects)
    message = f"the matcher can never match: {row.event.subject} is one of {known}"
    return message, f"did you mean {close}?" if close else None


def _dead_tool_matcher(text: str, matcher: Matcher) -> tuple[str, str | None] | None:
    inner = matcher.inner if isinstance(matcher, OtherNames) else matcher
    if isinstance(inner, OneName):
        name = inner.name
        if name.startswith("mcp__") and name.count("__") == 1:
            return f"no tool is called {name!r}: a name matches a whole name", f"{name}__.*"
        spelling = None if name in TOOLS else _BY_LOWER_CASE.get(name.lower())
        return (f"no tool is called {name!r}: case counts", f"write {spelling}") if spelling else None
    if not isinstance(inner, RegexMatcher):
        return None
    tool_pattern = _TOOL_PATTERN.fullmatch(text) is not None
    # Only what looks wrong is tried on every name: reading a thousand patterns must stay fast.
    if not (tool_pattern or text.startswith(("/", "!"))) or any(map(matcher.matches, (*TOOLS, "mcp__x__y"))):
        return None
    if tool_pattern:
        tool = text.partition("(")[0]
        return "the matcher can never match: it is a regular expression", f'matcher "{tool}" and if "{text}"'
    return "the matcher can never match: it is a regular expression, and no tool has such a name", None
