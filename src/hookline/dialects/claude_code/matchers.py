"""Read Claude Code's matchers: a name, a list of names, or a JavaScript regular expression searched for
anywhere."""

import re
import string
from typing import Final

from hookline.dialects.claude_code.events import OLD_TOOL_NAMES, ROWS, WORDS
from hookline.dialects.family.settings import EVERYTHING, MatcherNote, Matching
from hookline.matching.matchers import NameList, OneName, OtherNames, RegexMatcher, can_match, regex_or_names
from hookline.matching.nearest import nearest
from hookline.matching.patterns import Patterns
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

_TOOL_PATTERN: Final = re.compile(r"[A-Za-z]\w*\(.+\)", re.DOTALL)


def read_matcher(event_name: str, text: str, patterns: Patterns) -> Matcher | None:
    """Read a matcher at one event; None matches everything. Raises PatternError."""
    row = ROWS[event_name]
    if text.strip() in {"", "*"} or not row.matched:
        return None
    if "(?" in text:
        from hookline.dialects.family.javascript_regex import refuse_other_syntax  # noqa: PLC0415 rare

        refuse_other_syntax(text)
    plain = _NAMES if event_name in _NARROW else _LISTS
    try:
        matcher = regex_or_names(text, patterns, anchored=False, plain=plain)
    except PatternError as error:
        from hookline.dialects.family.javascript_regex import beyond_re2  # noqa: PLC0415 rare

        matcher = beyond_re2(text, patterns, error)
    if matcher is None:
        return None
    if row.about_tool:
        return OtherNames(matcher, OLD_TOOL_NAMES)
    if event_name in WORDS:
        return OtherNames(matcher, {ours: (claude,) for ours, claude in WORDS[event_name].items()})
    return matcher


def read_matching(event_name: str, text: str, patterns: Patterns) -> Matching:
    """Read a matcher of one event, with a note about it, if any."""
    try:
        matcher = read_matcher(event_name, text, patterns)
    except PatternError as error:
        message = f"matcher: {error}"
        return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)
    if matcher is None:
        if text.strip() in {"", "*"}:
            return EVERYTHING
        message = f"{event_name} has nothing to match, so the matcher is not read"
        return Matching(note=MatcherNote("unread-matcher", message, "remove the matcher"))
    inner = matcher.inner if isinstance(matcher, OtherNames) else matcher
    if not isinstance(inner, OneName | NameList | RegexMatcher):
        from hookline.dialects.family.javascript_regex import untestable_note  # noqa: PLC0415 rare

        return Matching(matcher, note=untestable_note(inner))
    dead = _never_matches(event_name, text, matcher)
    if dead is None:
        return Matching(matcher)
    message, fix, instead = dead
    return Matching(matcher, note=MatcherNote("dead-matcher", message, fix, instead=instead))


#: Why a matcher never matches, what to do, and the matcher that was certainly meant.
_Dead = tuple[str, str | None, str | None]


def _never_matches(event_name: str, text: str, matcher: Matcher) -> _Dead | None:
    """Return why a readable matcher never matches, and what to write instead; None when it may match."""
    row = ROWS[event_name]
    if row.subjects is None:
        return _dead_tool_matcher(text, matcher) if row.about_tool else None
    if can_match(matcher, row.subjects):
        return None
    close = nearest(text, row.subjects)
    known = ", ".join(row.subjects)
    message = f"the matcher can never match: {row.event.subject} is one of {known}"
    return message, f"did you mean {close}?" if close else None, close


def _dead_tool_matcher(text: str, matcher: Matcher) -> _Dead | None:
    inner = matcher.inner if isinstance(matcher, OtherNames) else matcher
    if isinstance(inner, OneName):
        name = inner.name
        if name.startswith("mcp__") and name.count("__") == 1:
            meant = f"{name}__.*"
            return f"no tool is called {name!r}: a name matches a whole name", meant, meant
        spelling = None if name in TOOLS else _BY_LOWER_CASE.get(name.lower())
        wrong = f"no tool is called {name!r}: case matters"
        return (wrong, f"write {spelling}", spelling) if spelling else None
    if not isinstance(inner, RegexMatcher):
        return None
    tool_pattern = _TOOL_PATTERN.fullmatch(text) is not None
    # Only suspicious patterns are tried on every name: reading a thousand patterns must stay fast.
    if not (tool_pattern or text.startswith(("/", "!"))) or any(map(matcher.matches, (*TOOLS, "mcp__x__y"))):
        return None
    if tool_pattern:
        tool = text.partition("(")[0]
        wrong = "the matcher can never match: it is a regular expression"
        return wrong, f'matcher "{tool}" and if "{text}"', None
    return "the matcher can never match: it is a regular expression, and no tool has such a name", None, None
