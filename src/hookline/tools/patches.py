"""Patches: which files they add, change, delete and move. Two formats: `*** Begin Patch` and the unified diff."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

_ADD, _UPDATE, _DELETE, _MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_MARKS: tuple[tuple[str, Literal["write", "edit", "delete"]], ...] = (
    (_ADD, "write"),
    (_UPDATE, "edit"),
    (_DELETE, "delete"),
)
_NOWHERE = "/dev/null"
#: No model writes a longer one.
_LONGEST = 4_000_000
_MOST_LINES = 100_000


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
    if len(text) > _LONGEST or text.count("\n") > _MOST_LINES:
        raise PatchError("the patch is too long to be read")
    lines = text.replace("\r\n", "\n").split("\n")
    marked = any(_named(line) is not None for line in lines)
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
        elif line.lstrip().startswith(_MOVE):
            if change is None:
                raise PatchError("a move before any file")
            change.moved_to = line.strip()[len(_MOVE) :].strip()
        elif change is not None and not line.startswith(("*** ", "@@")):
            _add_line(change, line)
    if change is not None:
        yield change


def _named(line: str) -> Change | None:
    """The file that a line names. Blanks before it do not matter to those who apply patches."""
    if "*** " not in line[:40] or line[:1] in {"+", "-"}:
        return None
    bare = line.strip()
    for mark, does in _MARKS:
        if bare.startswith(mark):
            return Change(does, bare[len(mark) :].strip(), removed=[], added=[])
    return None


def _add_line(change: Change, line: str) -> None:
    mark, rest = line[:1], line[1:]
    if mark in {"-", " "}:
        change.removed.append(rest)
    if mark in {"+", " "}:
        change.added.append(rest)


def _unified(lines: list[str]) -> Iterator[Change]:
    """Changes of a unified diff, also of files that it names without saying what changes in them."""
    change: Change | None = None
    before = named = moved_from = ""
    in_hunk = False
    for at, line in enumerate(lines):
        after = lines[at + 1] if at + 1 < len(lines) else ""
        if line.startswith("diff --git "):
            yield from _finished(change, named)
            change, named, in_hunk = None, _file(line.rpartition(" ")[2], "b/"), False
        elif line.startswith("--- ") and after.startswith("+++ "):
            before = _file(line[4:], "a/")
        elif line.startswith("+++ ") and (before or not in_hunk):
            name = _file(line[4:], "b/")
            yield from _finished(change, "" if named in (name, before) else named)
            change, before, named, in_hunk = _diffed(before or name, name), "", "", False
        elif line.startswith(("rename from ", "copy from ")):
            moved_from = line.partition(" from ")[2].strip()
        elif line.startswith(("rename to ", "copy to ")) and moved_from:
            yield Change("edit", moved_from, line.partition(" to ")[2].strip(), [], [])
            moved_from = named = ""
        elif line.startswith("@@"):
            in_hunk = True
        elif change is not None and not line.startswith("index "):
            _add_line(change, line)
    yield from _finished(change, named)


def _finished(change: Change | None, named: str) -> Iterator[Change]:
    if change is not None:
        yield change
    if named:
        # Its mode changes, or its bytes do.
        yield Change("edit", named, removed=[], added=[])


def _file(text: str, prefix: str) -> str:
    name = text.split("\t", 1)[0].strip().strip('"')
    return name.removeprefix(prefix)


def _diffed(before: str, after: str) -> Change:
    if after == _NOWHERE:
        return Change("delete", before, removed=[], added=[])
    if before == _NOWHERE:
        return Change("write", after, removed=[], added=[])
    return Change("edit", before, "" if before == after else after, [], [])


def patch_in_line(line: str) -> str | None:
    """The patches that a shell line gives to `apply_patch`, in here-documents or as arguments; None without one."""
    if "apply_patch" not in line or _BEGIN not in line:
        return None
    start, end = line.index(_BEGIN), line.rfind(_END)
    return line[start:] if end < start else line[start : end + len(_END)]


def write_patch(kind: str, arguments: Mapping[str, Any], *, unified: bool = False) -> str:
    """One act as a patch, for hooks of agents that change files by patches alone."""
    path = str(arguments.get("file_path") or arguments.get("source"))
    to = str(arguments.get("destination"))
    old = _lines(arguments.get("old_string"))
    new = _lines(arguments.get("content") if kind == "write" else arguments.get("new_string"))
    changed = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    if unified:
        before, after = (_NOWHERE if kind == "write" else path), (_NOWHERE if kind == "delete" else path)
        hunk = [f"@@ -{min(len(old), 1)},{len(old)} +{min(len(new), 1)},{len(new)} @@", *changed]
        moved = [f"rename from {path}", f"rename to {to}"]
        return "\n".join(moved if kind == "move" else [f"--- {before}", f"+++ {after}", *hunk]) + "\n"
    body = {
        "write": [f"{_ADD}{path}", *changed],
        "delete": [f"{_DELETE}{path}"],
        "move": [f"{_UPDATE}{path}", f"{_MOVE}{to}"],
    }.get(kind, [f"{_UPDATE}{path}", "@@", *changed])
    return "\n".join((_BEGIN, *body, _END)) + "\n"


def _lines(text: Any) -> list[str]:
    return text.split("\n") if isinstance(text, str) and text else []
