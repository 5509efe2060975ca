"""Make the changes that mend findings in a configuration text; what cannot be changed in place is left."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from hookline.documents.document import Format
from hookline.documents.edit import (
    EditError,
    appended,
    found_at,
    joined,
    read_value,
    removed,
    renamed,
    with_table,
    with_value,
)
from hookline.model.diagnostics import Path, Repair

#: Each repair reads the whole text again: of more than these some are left for the next time.
_MOST_REPAIRS = 200
_MOST_READ = 10_000_000
#: A text of JSON; one without an end goes to the end of its line, so that no later quote is tried for it.
_STRING = r'"(?:[^"\\\n]|\\.)*+"?'


def repaired(text: str, form: Format, repairs: Iterable[Repair]) -> tuple[str, list[Repair]]:
    """Return the text with these repairs, and those that were made.

    The innermost values come first, and the last items of a list: so no change moves the path of another.
    """
    done: list[Repair] = []
    most = min(_MOST_REPAIRS, _MOST_READ // (len(text) + 1) + 1)
    for one in sorted(set(repairs), key=_depth, reverse=True)[:most]:
        try:
            changed = _changed(text, form, one)
        except (EditError, TypeError, KeyError, ValueError):
            continue
        if changed != text:
            text = changed
            done.append(one)
    return text, done


def _depth(one: Repair) -> tuple[int, tuple[tuple[bool, int, str], ...]]:
    steps = ((isinstance(step, int), step if isinstance(step, int) else 0, str(step)) for step in one.path)
    return len(one.path), tuple(steps)


def _changed(text: str, form: Format, one: Repair) -> str:
    path, value = one.path, found_at(read_value(text, form), one.path)
    if one.how == "set":
        return with_value(text, form, path, one.value)
    if value is None:
        return text
    changes: Mapping[str, Callable[[], str]] = {
        "rename": lambda: _moved(text, form, path, (*path[:-1], one.value)),
        "move": lambda: _moved(text, form, path, one.value),
        "list": lambda: with_value(text, form, path, [value]),
        "group": lambda: with_value(text, form, path, _group(value)),
        # Of other settings only the last one counts: joined, they could allow what it does not.
        "join": lambda: joined(text, path) if form == "json" and "hooks" in path else text,
        "remove": lambda: _removed(text, form, path),
        "escape": lambda: _escaped(text) if form == "json" else text,
    }
    return changes[one.how]()


def _moved(text: str, form: Format, path: Path, to: Path) -> str:
    """Give a value another path; what is there already gets its items."""
    value = read_value(text, form)
    moved, there = found_at(value, path), found_at(value, to)
    if there is None and path[:-1] == to[:-1]:
        return renamed(text, form, path, str(to[-1]))
    if not isinstance(moved, list) or not isinstance(there, list | None):
        if there is not None or not isinstance(moved, Mapping):
            raise EditError("only lists can be joined")
        return removed(with_table(text, form, to, cast("Mapping[str, Any]", moved)), form, path)
    for item in cast("list[Any]", moved):
        text = appended(text, form, to, item)
    return removed(text, form, path)


def _group(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the group around an entry that stands alone; its matcher belongs to the group."""
    matcher = {key: value for key, value in entry.items() if key == "matcher"}
    return {**matcher, "hooks": [{key: value for key, value in entry.items() if key != "matcher"}]}


def _escaped(text: str) -> str:
    """Escape slashes in texts of JSON that an agent would take for the start of a comment."""

    def escape(found: re.Match[str]) -> str:
        text = found[0]
        if "//" not in text and "/*" not in text:
            return text
        return re.sub(r"\\.|/", lambda part: part[0] if len(part[0]) == 2 else r"\/", text)

    return re.sub(_STRING, escape, text)


def _removed(text: str, form: Format, path: Path) -> str:
    """Remove an entry, and its group where it is the only one."""
    beside = found_at(read_value(text, form), path[:-1])
    sole = isinstance(beside, list) and len(cast("list[Any]", beside)) == 1
    in_group = path[-2:-1] == ("hooks",) and len(path) > 3 and isinstance(path[-3], int)
    return removed(text, form, path[:-2] if sole and in_group else path)
