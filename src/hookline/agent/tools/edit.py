"""Change files (Edit and Write) that the model has read and that have not changed since."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from hookline.agent.tools.base import Hunk, RecordTool, ToolOutput, Workplace
from hookline.agent.tools.files import (
    LARGEST_EDITED,
    FileContent,
    TooLargeError,
    missing,
    read_regular,
    refusal,
    replace_file,
    shown,
)
from hookline.agent.tools.off_loop import WorkLimit, off_loop
from hookline.agent.tools.read import not_text
from hookline.model.errors import ToolError

_CONTEXT: Final = 3
#: More changed lines than this become one hunk: finding the smallest change would cost too much.
_MOST_COMPARED: Final = 2000
#: Where old and new lines differ: from, to, from, to.
Change = tuple[int, int, int, int]
#: Hooks get the old text and the patch of files up to this size.
_LARGEST_PATCHED: Final = 1 << 20
#: The new bytes, given the old ones (None: no file) and the path for messages. Raises ToolError.
Make = Callable[[bytes | None, str], bytes]
#: Notes a change that was made: the file, what it was before (None: no file), and its new bytes.
Note = Callable[[str, FileContent | None, bytes], None]
_WRITE = """\
Writes a whole file, and creates its directories. A file that exists must have been read before; to change a part of \
one, use Edit."""
_EDIT = """\
Replaces old_string by new_string in a file that has been read. old_string must be exactly as in the file, without \
the line numbers of Read, and occur only once, unless replace_all is set."""


class Changed(Struct, frozen=True):
    """A change that was made. `path` is the file itself, even if it was reached by a link."""

    path: str
    created: bool
    #: The old text, if there was one and it is not too long.
    before: str | None = None
    patch: list[Hunk] = []


class EditQueue:
    """Changes of files, made one at a time, so that two edits of one file cannot lose each other."""

    def __init__(self, note: Note | None = None) -> None:
        self._one_at_a_time = threading.Lock()
        self._note = note

    async def make(self, given: str, workplace: Workplace, make: Make) -> Changed:
        """Change the file and notify hooks. Raises ToolError. If cancelled, the file is complete, old or new."""
        path = workplace.path(given)
        changed = await off_loop(lambda limit: self._make(path, workplace, make, limit))
        await workplace.wrote(changed.path, "add" if changed.created else "change")
        return changed

    async def preview(self, given: str, workplace: Workplace, make: Make) -> list[Hunk]:
        """Return the change that would be made; empty when it cannot be made, which the call itself will report."""
        path = workplace.path(given)
        try:
            return await off_loop(lambda _limit: self._would_change(path, make))
        except ToolError:
            return []

    def _would_change(self, path: str, make: Make) -> list[Hunk]:
        try:
            real = os.path.realpath(path)
            old = _old(real)
            content = make(None if old is None else old.content, shown(real))
        except (OSError, ValueError):
            return []
        before = b"" if old is None else old.content
        if max(len(before), len(content)) > _LARGEST_PATCHED:
            return []
        return structured_patch(_text(before), _text(content))

    def _make(self, path: str, workplace: Workplace, make: Make, limit: WorkLimit) -> Changed:
        try:
            real = os.path.realpath(path)
            with self._one_at_a_time:
                old = _old(real)
                if old is not None:
                    _refuse_unread(real, old, workplace)
                content = make(None if old is None else old.content, shown(real))
                self._put(real, content, old, workplace, limit)
        except (OSError, ValueError) as problem:
            raise _cannot_write(path, problem) from None
        if old is None or max(len(old.content), len(content)) > _LARGEST_PATCHED:
            return Changed(shown(real), created=old is None)
        before = _text(old.content)
        return Changed(
            shown(real), created=False, before=before, patch=structured_patch(before, _text(content))
        )

    def _put(
        self, real: str, content: bytes, old: FileContent | None, workplace: Workplace, limit: WorkLimit
    ) -> None:
        if len(content) > LARGEST_EDITED:
            raise ToolError(f"That would be {len(content)} bytes; Edit writes at most {LARGEST_EDITED}.")
        if old is None:
            os.makedirs(os.path.dirname(real), exist_ok=True)
        if limit.cancelled:
            raise ToolError("The call was cancelled, so the change was not made.", interrupted=True)
        facts = replace_file(real, content, None if old is None else old.facts)
        # Now, not later on the event loop: the next change of the file may be waiting already.
        workplace.read_files[real] = facts.st_mtime
        if self._note is not None:
            self._note(real, old, content)


def _old(real: str) -> FileContent | None:
    try:
        return read_regular(real, LARGEST_EDITED)
    except FileNotFoundError:
        return None
    except (OSError, TooLargeError) as problem:
        raise refusal(real, problem) from None


def _refuse_unread(real: str, old: FileContent, workplace: Workplace) -> None:
    seen = workplace.read_files.get(real)
    if seen is None:
        raise ToolError(f"{shown(real)} has not been read yet. Read it first, then change it.")
    if seen != old.facts.st_mtime:
        raise ToolError(f"{shown(real)} has changed since it was read. Read it again, then change it.")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _cannot_write(path: str, problem: OSError | ValueError) -> ToolError:
    reason = problem.strerror if isinstance(problem, OSError) else None
    return ToolError(f"{shown(path)} cannot be written: {reason or problem}.")


class EditArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[
        str, Meta(min_length=1, description="The file; absolute, or from the working directory.")
    ]
    old_string: Annotated[str, Meta(min_length=1, description="The text to replace, exactly as in the file.")]
    new_string: Annotated[str, Meta(description="The replacement.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False


class Edit:
    def __init__(self, changes: EditQueue) -> None:
        self._changes = changes

    def tool(self) -> RecordTool[EditArguments]:
        return RecordTool("Edit", _EDIT, "write", EditArguments, self._run, preview=self._show)

    async def _show(self, arguments: EditArguments, workplace: Workplace) -> list[Hunk]:
        return await self._changes.preview(
            arguments.file_path, workplace, lambda old, path: _edited(old, path, arguments)
        )

    async def _run(self, arguments: EditArguments, workplace: Workplace) -> ToolOutput:
        if arguments.old_string == arguments.new_string:
            raise ToolError("old_string and new_string are the same: there is nothing to change.")
        changed = await self._changes.make(
            arguments.file_path, workplace, lambda old, path: _edited(old, path, arguments)
        )
        return ToolOutput(
            text=f"The file {changed.path} has been updated successfully.",
            response=_edit_response(changed, arguments),
        )


def _edited(content: bytes | None, path: str, arguments: EditArguments) -> bytes:
    """Edit bytes, so that other parts of the file that are not UTF-8 stay as they are."""
    if content is None:
        raise ToolError(missing(path))
    kind = not_text(content)
    if kind is not None:
        raise ToolError(f"{path} is {kind}; Edit changes text only.")
    old, new = encoded(arguments.old_string), encoded(arguments.new_string)
    if b"\r" not in old + new and content.count(b"\r\n") * 2 > content.count(b"\n"):
        # Read shows lines without the carriage returns of such a file.
        old, new = old.replace(b"\n", b"\r\n"), new.replace(b"\n", b"\r\n")
    times = content.count(old)
    if not times:
        raise ToolError(
            f"old_string is not in {path}. It must be exactly as in the file, including spaces and line ends."
        )
    if times > 1 and not arguments.replace_all:
        raise ToolError(
            f"old_string occurs {times} times in {path}. Give more of the text around it, or set replace_all."
        )
    return content.replace(old, new)


def _edit_response(changed: Changed, arguments: EditArguments) -> dict[str, Any]:
    return {
        "filePath": changed.path,
        "oldString": arguments.old_string,
        "newString": arguments.new_string,
        "originalFile": changed.before,
        "structuredPatch": changed.patch,
        "userModified": False,
        "replaceAll": arguments.replace_all,
    }


class WriteArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[
        str, Meta(min_length=1, description="The file; absolute, or from the working directory.")
    ]
    content: Annotated[str, Meta(description="The whole content.")]


class Write:
    def __init__(self, changes: EditQueue) -> None:
        self._changes = changes

    def tool(self) -> RecordTool[WriteArguments]:
        return RecordTool("Write", _WRITE, "write", WriteArguments, self._run, preview=self._show)

    async def _show(self, arguments: WriteArguments, workplace: Workplace) -> list[Hunk]:
        content = encoded(arguments.content)
        return await self._changes.preview(arguments.file_path, workplace, lambda _old, _path: content)

    async def _run(self, arguments: WriteArguments, workplace: Workplace) -> ToolOutput:
        content = encoded(arguments.content)
        changed = await self._changes.make(arguments.file_path, workplace, lambda _old, _path: content)
        if changed.created:
            text = f"File created successfully at: {changed.path}"
        else:
            text = f"The file {changed.path} has been updated successfully."
        return ToolOutput(text=text, response=_write_response(changed, arguments.content))


def _write_response(changed: Changed, content: str) -> dict[str, Any]:
    return {
        "type": "create" if changed.created else "update",
        "filePath": changed.path,
        "content": content,
        "structuredPatch": changed.patch,
        "originalFile": changed.before,
        "userModified": False,
    }


def encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as problem:
        raise ToolError(f"The text cannot be written as UTF-8: {problem.reason}.") from None


def structured_patch(old: str, new: str) -> list[Hunk]:
    """Return the change as hunks with three lines of context; empty when nothing changed."""
    before, after = _lines(old), _lines(new)
    return [_hunk(before, after, group) for group in _grouped(_changes(before, after))]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _changes(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """Find the differences. Equal lines at both ends, usually nearly all, are skipped first."""
    same = 0
    shortest = min(len(before), len(after))
    while same < shortest and before[same] == after[same]:
        same += 1
    same_end = 0
    while same_end < shortest - same and before[-1 - same_end] == after[-1 - same_end]:
        same_end += 1
    end_before, end_after = len(before) - same_end, len(after) - same_end
    if same == end_before and same == end_after:
        return []
    whole = (same, end_before, same, end_after)
    if same in (end_before, end_after) or end_before + end_after - 2 * same > _MOST_COMPARED:
        return [whole]
    # Only for changes in several places: it takes 4 ms to load.
    from difflib import SequenceMatcher  # noqa: PLC0415 - see above

    matcher = SequenceMatcher(None, before[same:end_before], after[same:end_after])
    return [
        (same + a, same + b, same + c, same + d)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _grouped(changes: Sequence[Change]) -> list[list[Change]]:
    """Group changes: those whose context overlaps are one hunk."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[Change]) -> Hunk:
    start = max(group[0][0] - _CONTEXT, 0)
    end = min(group[-1][1] + _CONTEXT, len(before))
    lines: list[str] = []
    at = start
    for a, b, c, d in group:
        lines += [f" {line}" for line in before[at:a]]
        lines += [f"-{line}" for line in before[a:b]]
        lines += [f"+{line}" for line in after[c:d]]
        at = b
    lines += [f" {line}" for line in before[at:end]]
    new_start = group[0][2] - (group[0][0] - start)
    new_end = group[-1][3] + (end - group[-1][1])
    return {
        "oldStart": start + 1,
        "oldLines": end - start,
        "newStart": new_start + 1,
        "newLines": new_end - new_start,
        "lines": lines,
    }
