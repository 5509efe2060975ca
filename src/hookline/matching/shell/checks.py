"""What makes a shell line unfit to be read, decided before a parser spends time on it."""

import re

LONGEST_LINE = 16 * 1024
DEEPEST_NESTING = 32
MOST_HERE_DOCUMENTS = 32
#: The parser takes quadratic time to recover from mistakes: 8,000 pipes that lead nowhere cost seconds.
MOST_PUNCTUATION = 1000
MOST_KEYWORDS = 400

#: Controls but newline and tab, blanks that are no blanks to a shell, and what a reader cannot see.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_PUNCTUATION = re.compile(r"[()|<>`&;{}\[\]?@]")
_KEYWORD = re.compile(r"==|=~|\b(?:for|case|select|if|while|until|function)\b")
_BRACKET = re.compile(r"[({\[)}\]]")
#: The shell joins what this tears apart for the parser, and parts what the parser joins.
_JOINED_LINE = re.compile(r"[^\s\\]\\\n\S|(?:^|\n)[ \t]*\\\n")


def unreadable(line: str) -> str | None:
    """Why nobody should trust a reading of this line; None when it may be read."""
    if len(line) > LONGEST_LINE:
        return f"the line is longer than {LONGEST_LINE} characters"
    unseen = UNSEEN.search(line)
    if unseen:
        return f"the line holds the unseen character U+{ord(unseen[0]):04X}"
    if _JOINED_LINE.search(line):
        return "a word goes on over the end of a line"
    return _too_costly(line) or _too_nested(line)


def _too_costly(line: str) -> str | None:
    if line.count("<<") > MOST_HERE_DOCUMENTS:
        return "the line has too many here-documents"
    if len(_PUNCTUATION.findall(line)) > MOST_PUNCTUATION:
        return "the line has too much punctuation"
    return "the line has too many keywords" if len(_KEYWORD.findall(line)) > MOST_KEYWORDS else None


def _too_nested(line: str) -> str | None:
    # Closers inside quotes hide nesting from this count; the limit on punctuation bounds that, too.
    depth = 0
    for bracket in _BRACKET.findall(line):
        if bracket in ")}]":
            depth = max(0, depth - 1)
            continue
        depth += 1
        if depth > DEEPEST_NESTING:
            return f"the line nests deeper than {DEEPEST_NESTING} brackets"
    return None
