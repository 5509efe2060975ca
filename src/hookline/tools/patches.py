"""Patches: which files they add, change, delete and move. Two formats: `*** Begin Patch` and the unified diff."""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

_ADD, _UPDATE, _DELETE, _MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_NOWHERE = "/dev/null"


class PatchError(ValueError):
    """The text is not a patch that can be read."""


class Change(Struct):
    """What a patch does to one file."""

    does: Literal["write", "edit", "delete"]
    path: str
    #: The file it becomes, where it is moved.
    moved_to: str = ""
    removed: list[str] = []
    added: list[str] = []


def read_patch(text: str) -> list[Change]:
    """Every change, in order. Raises `PatchError`."""
    lines = text.replace("\r\n", "\n").split("\n")
    marked = any(line.startswith((_ADD, _UPDATE, _DELETE)) for line in lines)
    changes = list(_marked(lines) if marked else _unified(lines))
    if not changes:
        raise PatchError("the patch names no file")
    return changes


def _marked(lines: list[str]) -> Iterator[Change]:
    change: Change | None = None
    for line in lines:
        named = _named(line)
        if named is not None:
            if change is not None:
                yield change
            change = named
        elif line.startswith(_MOVE):
            if change is None:
                raise PatchError("a move before any file")
            change.moved_to = line[len(_MOVE) :].strip()
        elif change is not None and not line.startswith(("*** ", "@@")):
            _add_line(change, line)
    if change is not None:
        yield change


def _named(line: str) -> Change | None:
    if line.startswith(_ADD):
        return Change("write", line[len(_ADD) :].strip(), removed=[], added=[])
    if line.startswith(_UPDATE):
        return Change("edit", line[len(_UPDATE) :].strip(), removed=[], added=[])
    if line.startswith(_DELETE):
        return Change("delete", line[len(_DELETE) :].strip(), removed=[], added=[])
    return None


def _add_line(change: Change, line: str) -> None:
    mark, rest = line[:1], line[1:]
    if mark in {"-", " "}:
        change.removed.append(rest)
    if mark in {"+", " "}:
        change.added.append(rest)


def _unified(lines: list[str]) -> Iterator[Change]:
    change: Change | None = None
    before = ""
    moved_from = ""
    for at, line in enumerate(lines):
        if line.startswith("--- ") and lines[at + 1 : at + 2] and lines[at + 1].startswith("+++ "):
            before = _file(line[4:], "a/")
        elif line.startswith("+++ ") and before:
            if change is not None:
                yield change
            change = _diffed(before, _file(line[4:], "b/"))
            before = ""
        elif line.startswith(("rename from ", "copy from ")):
            moved_from = line.partition(" from ")[2].strip()
        elif line.startswith(("rename to ", "copy to ")) and moved_from:
            yield Change("edit", moved_from, line.partition(" to ")[2].strip(), [], [])
            moved_from = ""
        elif change is not None and not line.startswith(("@@", "diff ", "index ")):
            _add_line(change, line)
    if change is not None:
        yield change


def _file(text: str, prefix: str) -> str:
    name = text.split("\t", 1)[0].strip()
    return name.removeprefix(prefix)


def _diffed(before: str, after: str) -> Change:
    if after == _NOWHERE:
        return Change("delete", before, removed=[], added=[])
    if before == _NOWHERE:
        return Change("write", after, removed=[], added=[])
    return Change("edit", before, "" if before == after else after, [], [])


def patch_in_line(line: str) -> str | None:
    """The patch that a shell line gives to `apply_patch` as a here-document or an argument; None without one."""
    if "apply_patch" not in line or _BEGIN not in line:
        return None
    return (
        line[line.index(_BEGIN) : line.index(_END) + len(_END)]
        if _END in line
        else line[line.index(_BEGIN) :]
    )


def write_patch(kind: str, arguments: dict[str, Any]) -> str:
    """One act as a patch, for hooks of agents that change files by patches alone."""
    path = arguments.get("file_path") or arguments.get("notebook_path") or arguments.get("source")
    if kind == "write":
        body = [f"{_ADD}{path}", *(f"+{line}" for line in _lines(arguments.get("content")))]
    elif kind == "delete":
        body = [f"{_DELETE}{path}"]
    elif kind == "move":
        body = [f"{_UPDATE}{path}", f"{_MOVE}{arguments.get('destination')}"]
    else:
        old, new = arguments.get("old_string"), arguments.get("new_string") or arguments.get("new_source")
        removed, added = [f"-{line}" for line in _lines(old)], [f"+{line}" for line in _lines(new)]
        body = [f"{_UPDATE}{path}", "@@", *removed, *added]
    return "\n".join((_BEGIN, *body, _END)) + "\n"


def _lines(text: Any) -> list[str]:
    return text.split("\n") if isinstance(text, str) and text else []
