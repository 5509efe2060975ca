"""What a `matcher` means in gen-code: nothing or `*` is all, `Tool(arguments)` a tool pattern, else a regular
expression for the whole of the value; and what about it can never have been meant."""

import string

from msgspec import Struct

from hookline.matching.conditions import problem
from hookline.matching.matchers import OneName, can_match, native_matcher, regex_or_names
from hookline.matching.patterns import Patterns
from hookline.matching.shell import ShellReader
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Matcher

#: A text of these is a list of alternatives, each of which is the whole value: no expression is needed.
_PLAIN = frozenset(string.ascii_letters + string.digits + "_-|")
_PLAIN_WITH_BLANKS = _PLAIN | frozenset(" ,")


class Doubt(Struct, frozen=True):
    """Why a matcher does not do what whoever wrote it wanted."""

    code: str
    message: str
    fix: str | None = None


class Matching(Struct, frozen=True):
    matcher: Matcher | None = None
    condition: Condition | None = None
    doubt: Doubt | None = None


EVERYTHING = Matching()


def read_matcher(text: str, event: EventSpec[object], patterns: Patterns, shell: ShellReader) -> Matching:
    if text in ("", "*"):
        return EVERYTHING
    try:
        matcher, condition = _understood(text, patterns, shell)
    except PatternError as error:
        message = f"{error}, so it is compared letter by letter"
        return Matching(OneName(text, text), doubt=Doubt("bad-pattern", f"matcher: {message}"))
    return Matching(matcher, condition, _doubt(text, event, matcher, condition))


def _understood(text: str, patterns: Patterns, shell: ShellReader) -> tuple[Matcher | None, Condition | None]:
    if "(" in text:
        matcher, condition = native_matcher(text, patterns, shell)
        if condition is not None:
            return matcher, condition
    if not text.strip():
        return OneName(text, text), None
    return regex_or_names(text, patterns, anchored=True, plain=_PLAIN), None


def _doubt(
    text: str, event: EventSpec[object], matcher: Matcher | None, condition: Condition | None
) -> Doubt | None:
    never = "the matcher can never match"
    if event.subject is None:
        if matcher is None or matcher.matches(""):
            return None
        message = f"{never}: {event.name} has nothing to match, so its hooks do not run"
        return Doubt("dead-matcher", message, "remove the matcher")
    if not can_match(matcher, event.subjects):
        known = ", ".join(event.subjects)
        return Doubt("dead-matcher", f"{never}: {event.subject} is one of {known}")
    impossible = problem(condition, event)
    if impossible is not None:
        return Doubt("dead-matcher", impossible)
    return _odd_for_a_tool(text) if event.subject == "tool_name" else None


def _odd_for_a_tool(text: str) -> Doubt | None:
    """Lists and stars as other agents write them are something else in a regular expression."""
    if _PLAIN.issuperset(text):
        return None
    if _PLAIN_WITH_BLANKS.issuperset(text):
        names = "|".join(text.replace(",", " ").replace("|", " ").split())
        message = "the matcher can never match: no tool has a blank or a comma in its name"
        return Doubt("dead-matcher", message, f'"{names}"')
    if _PLAIN.issuperset(text.replace("*", "")):
        fix = '"' + text.replace("*", ".*") + '"'
        return Doubt("star-matcher", "a bare * repeats the letter before it; any text is .*", fix)
    return None
