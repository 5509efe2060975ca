"""Check regular expressions for the whole name of a tool: one that matches none was meant otherwise."""

import re
import string

from hookline.dialects.family.settings import EVERYTHING, MatcherNote, Matching
from hookline.matching.matchers import regex_or_names
from hookline.matching.patterns import Patterns
from hookline.matching.tool_rules import looks_like_tool_pattern
from hookline.model.errors import PatternError

#: A text of these is a name, or several joined by |: it needs no regular expression to mean the same.
PLAIN = frozenset(string.ascii_letters + string.digits + "_-|")
_DEAD = "the matcher can never match: it is a regular expression, and no tool has such a name"

#: A star that repeats the letter before it, where "anything" was meant.
_GLOB = re.compile(r"[\w|-]*\w\*[\w|*-]*|\*[\w|*-]+")
#: No tool has a blank or a comma in its name; in a count or a class they mean something.
_BLANK = re.compile(r"[,\s]")
_COUNTS_AND_CLASSES = re.compile(r"\{[^}]*+(?:\}|\Z)|\[[^\]]*+(?:\]|\Z)")
#: Signs that a regular expression was meant.
_ANYTHING = re.compile(r"[\\.]")


def read_tool_regex(text: str, patterns: Patterns, field: str = "matcher") -> Matching:
    """Read a pattern: nothing or `*` is every tool. A pattern that cannot be read breaks its entries."""
    if text.strip() in ("", "*"):
        return EVERYTHING
    try:
        matcher = regex_or_names(text, patterns, anchored=True, plain=PLAIN)
    except PatternError as error:
        message = f"{field}: {error}"
        return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)
    return Matching(matcher, note=dead_note(text))


def dead_note(text: str) -> MatcherNote | None:
    """Return a note about a pattern that matches no tool, or None."""
    fix = meant_instead(text)
    return None if fix is None else MatcherNote("dead-matcher", _DEAD, fix)


def meant_instead(text: str) -> str | None:
    """Return what a pattern that matches no tool was probably meant to be; None for one that may match."""
    if PLAIN.issuperset(text):
        return None
    if "(" in text and looks_like_tool_pattern(text):
        return f'"{text.partition("(")[0]}": arguments are in the payload, not in the matcher'
    if _ANYTHING.search(text):
        return None
    if _BLANK.search(_COUNTS_AND_CLASSES.sub("", text)):
        return '"' + "|".join(re.split(r"[\s,|]+", text.strip())) + '"'
    return f'"{text.replace("*", ".*")}"' if "*" in text and _GLOB.fullmatch(text) else None
