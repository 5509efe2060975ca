"""Regular expressions for the whole name of a tool: those that fit none, so that something else was meant."""

import re
import string

from hookline.matching.tool_rules import looks_like_tool_pattern

#: A text of these is a name, or several joined by |: it needs no regular expression to mean the same.
PLAIN = frozenset(string.ascii_letters + string.digits + "_-|")
DEAD = "the matcher can never match: it is a regular expression, and no tool has such a name"

#: A star that repeats the letter before it, where "anything" was meant.
_GLOB = re.compile(r"[\w|-]*\w\*[\w|*-]*|\*[\w|*-]+")
#: No tool has a blank or a comma in its name; in a count or a class they mean something.
_BLANK = re.compile(r"[,\s]")
_COUNTS_AND_CLASSES = re.compile(r"\{[^}]*\}|\[[^\]]*\]")
#: Where there is one of these, a regular expression was meant.
_ANYTHING = re.compile(r"[\\.]")


def meant_instead(text: str) -> str | None:
    """What a pattern that fits no tool was probably meant to be; None for one that may fit."""
    if PLAIN.issuperset(text):
        return None
    if "(" in text and looks_like_tool_pattern(text):
        return f'"{text.partition("(")[0]}": arguments are in the payload, not in the matcher'
    if _ANYTHING.search(text):
        return None
    if _BLANK.search(_COUNTS_AND_CLASSES.sub("", text)):
        return '"' + "|".join(re.split(r"[\s,|]+", text.strip())) + '"'
    return f'"{text.replace("*", ".*")}"' if "*" in text and _GLOB.fullmatch(text) else None
