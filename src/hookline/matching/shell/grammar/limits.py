"""Which lines are not read at all, and which characters make a word other than what it looks like."""

import re

from hookline.matching.shell.holes import HOLE

LONGEST_LINE = 64 * 1024
#: Of one command. Here-documents do not count.
LONGEST_ARGUMENTS = 16 * 1024

#: Control characters but newline and tab, blanks that a shell does not treat as such, and invisible characters.
INVISIBLE = re.compile(
    "[\x01-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def unreadable(line: str) -> str | None:
    """Why this line cannot be judged; None when it may be read."""
    if len(line) > LONGEST_LINE:
        return f"the line is longer than {LONGEST_LINE} characters"
    if HOLE in line:
        return "the line contains the invisible character U+0000"
    return None
