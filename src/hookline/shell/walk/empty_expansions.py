"""Re-read a line with unknown expansions assumed empty: `local$X IFS=,`, `alias $1e=eval`, `> cat$(:)`.

The walk treats a word with an unknown part as a separate kind of word. This module also reads the same word
without that part. Parts of paths and values (`"$DIR/x"`, `--port=$PORT`) stay: they do not change what the
word is.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, cast

from hookline.shell.grammar.syntax import Arithmetic, Item, List, Parameter, Part, Substitution, Text
from hookline.shell.placeholders import HOLE

#: The beginning or the end of an unknown part, with something beside it that is not a blank and not an
#: operator.
GLUED = re.compile(
    rf"""[^\s/=|&()<>{{}}`][$`{HOLE}]
        |(?:\$\w+|\$[@*#?$!-]|[)}}`{HOLE}])['"]*[^\s/;|&()<>{{}}'"$`{HOLE}]
        |[\w)}}`{HOLE}]\$['"]""",
    re.VERBOSE,
)
#: Without one of these it finds nothing.
_SIGNS = ("$", "`", ")", "}", HOLE)
_PARTS = (Text, Parameter, Substitution, Arithmetic)
_BEFORE = ("/", "=", " ", "\t", "\n")
_AFTER = ("/", " ", "\t", "\n")


def may_be_glued(line: str) -> bool:
    """Return True if it is worth reading again: few lines have such words."""
    return any(sign in line for sign in _SIGNS) and GLUED.search(line.replace("\\\n", "")) is not None


def emptied(line: List) -> List | None:
    """Return the commands that change; None where none does."""
    changed: dict[int, Item] = {}
    for first in (False, True):
        work = _Emptying(first)
        items = [Item(work.of(item.node), item.after, item.background) for item in line.items]
        changed |= {
            id(new): new
            for new, old in zip(items, line.items, strict=True)
            if new.node != old.node and all(new.node != other.node for other in changed.values())
        }
        changed |= {id(item): item for item in work.inside}
    return List(tuple(changed.values())) if changed else None


class _Emptying:
    """A walk over a line. All that a line is made of are tuples, and words are tuples of parts.

    `first`: only the beginning of a word is left out: `$X--eval=a$Y` is `--eval=a$Y` and not `--eval=a`.
    """

    def __init__(self, first: bool) -> None:
        self._first = first
        #: Commands that change inside of the removed parts.
        self.inside: list[Item] = []

    def of(self, found: Any) -> Any:
        """Return the same with words without their glued parts."""
        if isinstance(found, list):
            return self._word(cast("list[Part]", found))
        if not isinstance(found, tuple):
            return found
        each = cast("tuple[Any, ...]", found)
        if type(each) is not tuple:
            return type(each)(*map(self.of, each))
        if each and isinstance(each[0], _PARTS):
            return tuple(self._word(cast("tuple[Part, ...]", each)))
        return tuple(map(self.of, each))

    def _word(self, parts: Sequence[Part]) -> list[Part]:
        """Remove a part that has text on one side, and no sign on either that ends a part of a path or of a value."""
        if len(parts) == 1 and not (isinstance(parts[0], Text) and HOLE in parts[0].text):
            return [self.of(part) for part in parts]
        texts = [part.text if isinstance(part, Text) else "" for part in parts]
        # The nearest text on either side of each part.
        left = list(accumulate(texts, _last, initial=""))
        right = list(accumulate(reversed(texts), _last, initial=""))[::-1]
        kept: list[Part] = []
        for at, part in enumerate(parts):
            glued = bool(left[at] or right[at + 1])
            glued = glued and not left[at].endswith(_BEFORE) and not right[at + 1].startswith(_AFTER)
            glued = glued and not (self._first and left[at])
            if isinstance(part, Text):
                kept.append(
                    part._replace(text=part.text.replace(HOLE, "")) if part.text.strip(HOLE) else part
                )
            elif not glued or isinstance(part, Arithmetic):
                kept.append(self.of(part))
            elif isinstance(part, Substitution) and part.direction:
                kept.append(part)
            else:
                self.inside += (
                    item for each in _lists_in(part) for item in getattr(emptied(each), "items", ())
                )
        return kept


def _lists_in(found: Any) -> Iterator[List]:
    """Yield the outermost lists of commands in a part."""
    if isinstance(found, List):
        yield found
    elif isinstance(found, tuple | list):
        for each in cast("Sequence[Any]", found):
            yield from _lists_in(each)


def _last(before: str, text: str) -> str:
    return text or before
