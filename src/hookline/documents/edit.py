"""Change configuration texts in place, in any format; each change is checked by reading the text again.

    text = appended(text, "json", ("hooks", "PreToolUse"), {"hooks": [...]})
    text = removed(text, "toml", ("hooks", "hooks", 1))
    text = with_value(text, "yaml", ("hooks", "Stop", 0, "hooks", 0, "mode"), "shadow")

A change with any other effect than the wanted one is not made.
"""

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, cast

import msgspec

from hookline.documents.document import Format, read_document
from hookline.model.diagnostics import Path
from hookline.model.errors import HooklineError

_MARK = "\ufeff"


class EditError(HooklineError):
    """A text cannot be changed at that path; the message says why."""


def appended(text: str, form: Format, path: Path, value: Any) -> str:
    """Append the value to the array at this path; missing parts of the path are created."""
    wanted = read_value(text, form)
    holder = _entered(wanted, path, [])
    if not isinstance(holder, list):
        raise EditError(f"{shown(path)} is not a list")
    cast("list[Any]", holder).append(value)
    return _changed(text, form, wanted, "appended", path, value)


def with_table(text: str, form: Format, path: Path, value: Mapping[str, Any]) -> str:
    """Add a table at this path, where none is."""
    wanted = read_value(text, form)
    _entered(wanted, path[:-1], {})[path[-1]] = dict(value)
    return _changed(text, form, wanted, "with_table", path, value)


def with_value(text: str, form: Format, path: Path, value: Any) -> str:
    """Set the member at this path, in a table that exists, or the item, in a list that has it."""
    wanted = read_value(text, form)
    table = found_at(wanted, path[:-1])
    is_item = isinstance(path[-1], int) and found_at(wanted, path) is not None
    if not isinstance(table, list if is_item else dict):
        raise EditError(f"{shown(path[:-1])} is not a table")
    cast("dict[str | int, Any]", table)[path[-1]] = value
    return _changed(text, form, wanted, "with_value", path, value)


def removed(text: str, form: Format, path: Path) -> str:
    """Remove the item or the member at this path."""
    wanted = read_value(text, form)
    if found_at(wanted, path) is None:
        raise EditError(f"there is no {shown(path)}")
    del found_at(wanted, path[:-1])[path[-1]]
    return _changed(text, form, wanted, "removed", path)


def renamed(text: str, form: Format, path: Path, key: str) -> str:
    """Rename the last key of this path."""
    wanted = read_value(text, form)
    holder = found_at(wanted, path[:-1])
    holder[key] = holder.pop(path[-1])
    return _changed(text, form, wanted, "renamed", path, key)


def joined(text: str, path: Path) -> str:
    """Join the lists or tables of a key that a JSON text has twice; of a table's members the last one counts."""
    from hookline.documents.json_edit import duplicates, without_duplicates  # noqa: PLC0415 only for a mistake

    *before, last = duplicates(text, path)
    wanted = read_value(text, "json")
    holder = found_at(wanted, path)
    for each in before:
        if isinstance(last, list) and isinstance(each, list):
            cast("list[Any]", holder).extend(cast("list[Any]", each))
        elif isinstance(last, dict) and isinstance(each, dict):
            holder.update(
                {key: value for key, value in cast("dict[str, Any]", each).items() if key not in holder}
            )
        else:
            raise EditError(f"{shown(path)} is there more than once, as a list and as something else")
    shorter = without_duplicates(text, path)
    return with_value(shorter, "json", path, holder)


def read_value(text: str, form: Format) -> Any:
    """Return the value of the text, an empty table if it is empty. JSON may have comments."""
    if not text.removeprefix(_MARK).strip():
        return dict[str, Any]()
    if form == "json":
        # Files of agents may be large, and each change reads them twice.
        with suppress(msgspec.MsgspecError, RecursionError):
            return msgspec.json.decode(text)
    document = read_document(text, form, "", comments=True)
    if document.value is None and document.diagnostics:
        raise EditError(document.diagnostics[0].message)
    return dict[str, Any]() if document.value is None else _copied(document.value)


def _copied(value: Any) -> Any:
    """Copy a value; a YAML alias, one value in two positions, becomes two in the copy."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in cast("dict[str, Any]", value).items()}
    return [_copied(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def found_at(value: Any, path: Path) -> Any:
    """Return the value at a path, or None."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _entered(value: Any, path: Path, last: Any) -> Any:
    """Return the value at a path; create tables on the way, and `last` at its end."""
    for at, step in enumerate(path, 1):
        if not isinstance(value, dict):
            raise EditError(f"{shown(path[: at - 1])} is not a table")
        table = cast("dict[str | int, Any]", value)
        if table.get(step) is None:
            table[step] = last if at == len(path) else {}
        value = table[step]
    return value


def _changed(text: str, form: Format, wanted: Any, how: str, *args: Any) -> str:
    """Change a text, keeping byte order marks, and read it again to check the result."""
    mark = _MARK if text.startswith(_MARK) else ""
    edit = getattr(import_module(f"hookline.documents.{form}_edit"), how)
    new: str = mark + edit(text.removeprefix(_MARK), *args)
    try:
        got = read_value(new, form)
    except EditError:  # as when a table is added to a list that is written as a value
        got = None
    if got != wanted and not (form == "toml" and _without_empty(got) == _without_empty(wanted)):
        raise EditError("it is written in a way that cannot be changed in place")
    return new


def _without_empty(value: Any) -> Any:
    """Remove empty tables: a TOML table need not be written for those inside it to exist, and is gone with
    the last of them."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(each) for key, each in cast("dict[str, Any]", value).items()}
    return {key: each for key, each in inner.items() if each not in ({}, [])}


def shown(path: Path) -> str:
    return ".".join(map(str, path)) or "the file"
