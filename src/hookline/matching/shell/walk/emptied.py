"""A line as it is where what is glued to its words is empty: `local$X IFS=,`, `alias $1e=eval`, `> cat$(:)`.

A word with a part that is not known is a word of its own kind to the walk. What the same word does without that part is
looked at as well. Parts of paths and values (`"$DIR/x"`, `--port=$PORT`) do not count: a word is the same without them.
"""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, cast

from hookline.matching.shell.grammar.syntax import Arithmetic, Item, List, Parameter, Part, Substitution, Text
from hookline.matching.shell.holes import HOLE

#: The beginning or the end of what is not known, with something that is no blank and no operator beside it.
_GLUED = re.compile(
    rf"""[^\s/=|&()<>{{}}`]['"]*[$`{HOLE}]
        |(?:\$\w+|\$[@*#?$!-]|[)}}`{HOLE}])['"]*[^\s/;|&()<>{{}}'"$`{HOLE}]""",
    re.VERBOSE,
)
_PARTS = (Text, Parameter, Substitution, Arithmetic)
_BEFORE = ("/", "=", " ", "\t", "\n")
_AFTER = ("/", " ", "\t", "\n")


def may_be_glued(line: str) -> bool:
    """Whether it is worth a look: few lines have such words."""
    return _GLUED.search(line) is not None


def emptied(line: List) -> List | None:
    """The commands that change; None where none does."""
    items = [Item(_emptied(item.node), item.after, item.background) for item in line.items]
    changed = [new for new, old in zip(items, line.items, strict=True) if new.node != old.node]
    return List(tuple(changed)) if changed else None


def _emptied(found: Any) -> Any:
    """The same with words without what is glued to them; all that a line is made of are tuples."""
    if isinstance(found, list):
        return list(_word(cast("list[Part]", found)))
    if not isinstance(found, tuple):
        return found
    each = cast("tuple[Any, ...]", found)
    if type(each) is not tuple:
        return type(each)(*map(_emptied, each))
    if each and isinstance(each[0], _PARTS):
        return tuple(_word(cast("tuple[Part, ...]", each)))
    return tuple(map(_emptied, each))


def _word(parts: Sequence[Part]) -> list[Part]:
    """Without a part that has text on one side, and no sign on either that ends a part of a path or of a value."""
    if len(parts) == 1 and not (isinstance(parts[0], Text) and HOLE in parts[0].text):
        return [_emptied(part) for part in parts]
    texts = [part.text if isinstance(part, Text) else "" for part in parts]
    # The nearest text on either side of each part.
    left = list(accumulate(texts, _last, initial=""))
    right = list(accumulate(reversed(texts), _last, initial=""))[::-1]
    kept: list[Part] = []
    for at, part in enumerate(parts):
        glued = bool(left[at] or right[at + 1])
        glued = glued and not left[at].endswith(_BEFORE) and not right[at + 1].startswith(_AFTER)
        if isinstance(part, Text):
            kept.append(part._replace(text=part.text.replace(HOLE, "")) if part.text.strip(HOLE) else part)
        elif not glued or isinstance(part, Arithmetic):
            kept.append(_emptied(part))
        elif isinstance(part, Substitution) and part.direction:
            kept.append(part)
    return kept


def _last(before: str, text: str) -> str:
    return text or before
