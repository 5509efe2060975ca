"""Refuse lines that are too much to read, that shells read differently, or that hold deceptive characters."""

import re

from hookline.shell.placeholders import HOLE

LONGEST_LINE = 64 * 1024
#: Characters of one command. Here-documents are not counted.
LONGEST_ARGUMENTS = 16 * 1024
#: Letters of options that are one word: each of them is looked up.
LONGEST_CLUSTER = 2048

#: Control characters but newline and tab, blanks that a shell does not treat as such, and invisible
#: characters.
INVISIBLE = re.compile(
    "[\x01-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)

#: Signs that bash and other shells read differently.
BASH_SIGNS = ("$'", '$"', "$[", "&>", "<(", ">(", "[[", "((", "<<<", "|&", "+=", "=(", ";&")
#: Each of them has one of these.
_IN_BASH_SIGNS = frozenset("$&([<+")
#: More of it, each with a text without which there is none: a search for the text takes no time.
BASH_SYNTAX = (
    ("{", re.compile(r"\{[^{}\s]*(?:,|\.\.)")),
    ("[", re.compile(r"(?<=\w)\[")),
    ("<", re.compile(r"(?<=\d\d)<")),
    (">", re.compile(r"(?<=\d\d)>")),
    ("time", re.compile(r"\btime\s+(?:[^\w\s]|\w+(?:=|\+=|\[))")),
    ("function", re.compile(r"\bfunction\b")),
    ("select", re.compile(r"\bselect\b")),
    ("coproc", re.compile(r"\bcoproc\b")),
)


def unreadable(line: str) -> str | None:
    """Return why this line cannot be judged; None when it may be read."""
    if len(line) > LONGEST_LINE:
        return f"the line is longer than {LONGEST_LINE} characters"
    if HOLE in line:
        return "the line contains the invisible character U+0000"
    return None


def has_bash_syntax(code: str) -> bool:
    """Return True if other shells than bash may read this line differently."""
    if not _IN_BASH_SIGNS.isdisjoint(code) and any(sign in code for sign in BASH_SIGNS):
        return True
    return any(text in code and pattern.search(code) for text, pattern in BASH_SYNTAX)
