"""Parse lists of plain commands faster: `cd src && git log -3 | head`. Most lines are such.

A line without anything to expand, to redirect or to nest is split by one regular expression in a fraction of
the time. A test holds both to the same result, the count of steps included; whatever is not sure is left to
the parser.
"""

import re

from hookline.shell.grammar.syntax import Item, List, Node, Pipeline, Simple, Text, Word

#: A word of letters without a meaning in the grammar, or one that is quoted as a whole (of ASCII alone: a
#: class of all other characters takes milliseconds to compile); then its end.
_TOKEN = re.compile(
    r"[ \t]*(?:(?P<word>[A-Za-z0-9_./,:@%+=~*?^-]+)|'(?P<quoted>[ -&(-\[\]-~]*)')(?=[ \t;&|]|\Z)"
    r"|[ \t]*(?P<between>&&|\|\||;|\|)(?![;&|])"
)
_LONGEST = 1000
#: With these as its first word a command is a compound one, or its words may be assignments.
_BEGIN_MORE = frozenset(
    (
        "if", "while", "until", "for", "case", "select", "function", "time", "coproc", "then", "elif", "else",
        "fi", "do", "done", "esac", "declare", "typeset", "local", "export", "readonly", "alias", "eval",
    )
)  # fmt: skip


def plain_list(text: str, steps: list[int]) -> List | None:
    """Return the commands of a line, counting steps as the parser would; None where the parser has to read
    the line."""
    if len(text) > _LONGEST:
        return None
    items: list[Item] = []
    commands: list[Node] = []
    words: list[Word] = []
    after, at, end, counted = ";", 0, len(text.rstrip(" \t")), 2
    while at < end:
        found = _TOKEN.match(text, at, end)
        if found is None:
            return None
        at = found.end()
        between = found["between"]
        if between is None:
            word = found["word"]
            if not words and (word is None or "=" in word or word in _BEGIN_MORE):
                return None
            if word is None:
                words.append((Text(found["quoted"], quoted=True),))
            else:
                words.append((Text(word, quoted=False),))
            counted += 2 + (at < len(text))
            continue
        if not words:
            return None
        commands.append(Simple(tuple(words)))
        words = []
        counted += 2
        if between != "|":
            items.append(Item(commands[0] if len(commands) == 1 else Pipeline(tuple(commands)), after))
            commands, after = [], between
            counted += 1
    if not words:
        return None
    commands.append(Simple(tuple(words)))
    items.append(Item(commands[0] if len(commands) == 1 else Pipeline(tuple(commands)), after))
    steps[0] += counted + 2
    return List(tuple(items))
