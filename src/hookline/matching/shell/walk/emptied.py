"""A line as it is where what is glued to its words is empty: `local$X IFS=,`, `alias $1e=eval`, `> cat$(:)`.

A word with a part that is not known is a word of its own kind to the walk. What the same word does without that part is
looked at as well. Parts of paths and values (`"$DIR/x"`, `--port=$PORT`) do not count: a word is the same without them.
"""

from typing import Any, cast

from hookline.matching.shell.grammar.syntax import Arithmetic, Item, List, Parameter, Part, Substitution, Text
from hookline.matching.shell.holes import HOLE

_PARTS = (Text, Parameter, Substitution, Arithmetic)
_BEFORE = ("/", "=")
_AFTER = "/"


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


def _word(parts: "list[Part] | tuple[Part, ...]") -> "list[Part]":
    if len(parts) == 1 and not (isinstance(parts[0], Text) and HOLE in parts[0].text):
        return [_emptied(part) for part in parts]
    kept: list[Part] = []
    for at, part in enumerate(parts):
        if isinstance(part, Text):
            kept.append(part._replace(text=part.text.replace(HOLE, "")) if part.text.strip(HOLE) else part)
        elif not _is_glued(parts[:at], parts[at + 1 :]) or isinstance(part, Arithmetic):
            kept.append(_emptied(part))
        elif isinstance(part, Substitution) and part.direction:
            kept.append(part)
    return kept


def _is_glued(before: "list[Part] | tuple[Part, ...]", after: "list[Part] | tuple[Part, ...]") -> bool:
    """Whether there is text on one side, and no sign on either that ends a part of a path or of a value."""
    left = next((part.text for part in reversed(before) if isinstance(part, Text) and part.text), "")
    right = next((part.text for part in after if isinstance(part, Text) and part.text), "")
    return bool(left or right) and not left.endswith(_BEFORE) and not right.startswith(_AFTER)
