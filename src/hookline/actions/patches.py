"""Read patches: the files they add, change, delete and move. Two formats: `*** Begin Patch` and the unified
diff."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
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
#: Marks before the names of files, in either format.
_NAMING = (_ADD, _UPDATE, _DELETE, _MOVE, "+++ ", "--- ", "rename to ", "rename from ", "copy to ")
#: The number of lines that a hunk has of the old and of the new file.
_HUNK = re.compile(r"@@+ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))?")
#: First characters of lines in a hunk.
_IN_HUNK = frozenset(("", " ", "+", "-", "\\"))
#: In a name in quotes: a byte in octal digits, or a literal character.
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)")
#: No model writes a longer one.
_LONGEST = 4_000_000
_MOST_LINES = 20_000
#: No file has a longer one.
_LONGEST_NAME = 10_000
#: More than one call may make, so it is treated as too many.
_MOST_CHANGES = 250


class PatchError(ValueError):
    """The text is not a patch that can be read."""


class Change(Struct):
    """The change of a patch to one file."""

    does: Literal["write", "edit", "delete"]
    path: str
    #: The file it becomes, where it is moved.
    moved_to: str = ""
    removed: list[str] = []
    added: list[str] = []


def is_patch(text: str) -> bool:
    """Return True if it looks like a patch."""
    return _BEGIN in text or ("+++ " in text and "@@" in text)


def read_patch(text: str, *, unified: bool = False) -> list[Change]:
    """Return every change, in order. `unified`: the program that applies it knows no marks. Raises `PatchError`."""
    if len(text) > _LONGEST or text.count("\n") > _MOST_LINES:
        raise PatchError("the patch is too long to be read")
    lines = text.replace("\r\n", "\n").split("\n")
    marked = not unified and any(_named(line) is not None for line in lines)
    changes = list(islice(_marked(lines) if marked else _unified(lines), _MOST_CHANGES))
    if unified and not changes:
        changes = list(islice(_marked(lines), _MOST_CHANGES))
    if not changes:
        raise PatchError("the patch names no file")
    return changes


def files_named(text: str) -> list[str]:
    """Return every file that a text names as a patch may, in either format, also where it cannot be read as one."""
    found: dict[str, None] = {}
    marks = (*_NAMING, "diff --git ")
    if not any(mark in text for mark in marks):
        return []
    # Most lines of a long text name no file, and looking at each of them takes a while.
    names = rf"(?m)^[^\S\n]*(?:{'|'.join(map(re.escape, marks))})[^\n]*"
    for line in re.findall(names, text):
        bare = line.lstrip()
        for mark in _NAMING:
            if bare.startswith(mark):
                found |= dict.fromkeys((bare[len(mark) :].strip(), _file(bare[len(mark) :])))
        if bare.startswith("diff --git "):
            found[_named_twice(bare)] = None
    return [name for name in found if name]


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
    """Return the file that a line names. Programs that apply patches ignore blanks before it."""
    if "*** " not in line or line[0] in "+-":
        return None
    bare = line.strip()
    for mark, does in _MARKS:
        if bare.startswith(mark):
            return Change(does, bare[len(mark) :].strip(), removed=[], added=[])
    return None


def _add_line(change: Change, line: str) -> int:
    """Add a line; return the number of the two files that it belongs to, at least one."""
    mark, rest = line[:1], line[1:]
    if mark in {"-", " "}:
        change.removed.append(rest)
    if mark in {"+", " "}:
        change.added.append(rest)
    return 2 if mark in {" ", ""} else 1


def _unified(lines: list[str]) -> Iterator[Change]:
    """Yield changes of a unified diff, also of files that it names without a change."""
    change: Change | None = None
    before = named = moved_from = ""
    left = 0  # lines that the hunk still has, of both files together
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        # No program ends a hunk earlier than this does: a line too many is taken for a header.
        left = left if line[:1] in _IN_HUNK else 0
        if change is not None and left > 0 and line[1:3] not in ("++", "--"):
            left -= _add_line(change, line)
        elif line.startswith("diff --git "):
            yield from _finished(change, named)
            change, named, before = None, _named_twice(line), ""
        elif line.startswith("@@"):
            left = _lines_of_hunk(line)
        elif line.startswith("--- ") and (left <= 0 or after.startswith("+++ ")):
            before = _file(line[4:])
        elif line.startswith("+++ ") and (before or left <= 0):
            name = _file(line[4:])
            yield from _finished(change, "" if named in (name, before) else named)
            change, before, named, left = _diffed(before or name, name), "", "", 0
        elif line.startswith(("rename from ", "copy from ")):
            moved_from = _unquoted(line.partition(" from ")[2].strip())
        elif line.startswith(("rename to ", "copy to ")) and moved_from:
            yield Change("edit", moved_from, _unquoted(line.partition(" to ")[2].strip()), [], [])
            moved_from = named = ""
        elif change is not None and not line.startswith("index "):
            left -= _add_line(change, line)
    yield from _finished(change, named)


def _lines_of_hunk(line: str) -> int:
    """Return the number of lines; 0 if the hunk does not give it: then any line may name the next file."""
    found = _HUNK.match(line)
    return int(found[1] or 1) + int(found[2] or 1) if found is not None else 0


def _finished(change: Change | None, named: str) -> Iterator[Change]:
    if change is not None:
        yield change
    if named:
        # Its mode changes, or its bytes do.
        yield Change("edit", named, removed=[], added=[])


def _file(text: str) -> str:
    """Return a name in a diff. Some programs remove `a/` and `b/` wherever they are."""
    name = _unquoted(text.strip().split("\t", 1)[0].rstrip())
    if name in (_NOWHERE, _NOWHERE[1:]):
        return _NOWHERE
    return name[2:] if name.startswith(("a/", "b/")) else name


def _unquoted(name: str) -> str:
    bare = name.strip('"')
    if bare == name or "\\" not in bare or len(bare) > _LONGEST_NAME:
        return bare
    return _ESCAPED.sub(_unescaped, bare.encode("utf-8", "replace")).decode("utf-8", "replace")


def _unescaped(found: re.Match[bytes]) -> bytes:
    return bytes((int(found[1], 8) % 256,)) if len(found[1]) == 3 else found[1]


def _named_twice(line: str) -> str:
    """Return the file of `diff --git a/file b/file`, whose name may have blanks."""
    names = line.removeprefix("diff --git ").strip()
    half = len(names) // 2
    return _file(names[half + 1 :] if names[2:half] == names[half + 3 :] else names.rpartition(" ")[2])


def _diffed(before: str, after: str) -> Change:
    if after == _NOWHERE:
        return Change("delete", before, removed=[], added=[])
    if before == _NOWHERE:
        return Change("write", after, removed=[], added=[])
    return Change("edit", before, "" if before == after else after, [], [])


def patch_in_line(line: str) -> str | None:
    """Return the patches that a shell line gives to `apply_patch`, in here-documents or as arguments; None
    without one."""
    if "apply_patch" not in line or _BEGIN not in line:
        return None
    start, end = line.index(_BEGIN), line.rfind(_END)
    return line[start:] if end < start else line[start : end + len(_END)]


def write_patch(kind: str, arguments: Mapping[str, Any], *, unified: bool = False) -> str:
    """Write one action as a patch, for hooks of agents that change files by patches alone."""
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
