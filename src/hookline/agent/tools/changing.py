"""Changing a file the model knows: what it has not read, or what changed since, is not overwritten."""

import os
import threading
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from hookline.agent.tooling import ToolError, Workplace
from hookline.agent.tools.files import (
    LARGEST_EDITED,
    FileContent,
    TooLargeError,
    read_regular,
    refusal,
    replace_file,
    shown,
)
from hookline.agent.tools.off_loop import Patience, off_loop
from hookline.agent.tools.patching import Hunk, structured_patch

#: Hooks are told the old text and the patch of a file up to this size.
_MOST_TOLD: Final = 1 << 20


class Changed(Struct, frozen=True):
    """A change that was made. `path` is the file itself, also when it was reached by a link."""

    path: str
    created: bool
    #: The old text, where there was one and it is not too long to be told.
    before: str | None = None
    patch: list[Hunk] = []


#: Given what is there (None: nothing), the new bytes. Raises ToolError when they cannot be made.
Make = Callable[[bytes | None, str], bytes]


class Changes:
    """Makes changes one after another: two edits of one file at the same time must not lose each other."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    async def make(self, given: str, place: Workplace, make: Make) -> Changed:
        """Change the file and tell hooks. Raises ToolError; cancelled, the file is whole, old or new."""
        path = place.path(given)
        changed = await off_loop(lambda patience: self._make(path, place, make, patience))
        await place.wrote(changed.path, "add" if changed.created else "change")
        return changed

    def _make(self, path: str, place: Workplace, make: Make, patience: Patience) -> Changed:
        try:
            real = os.path.realpath(path)
            with self._one_at_a_time:
                old = _old(real)
                if old is not None:
                    _refuse_unknown(real, old, place)
                content = make(None if old is None else old.content, shown(real))
                self._put(real, content, old, place, patience)
        except (OSError, ValueError) as problem:
            raise _cannot_write(path, problem) from None
        if old is None or max(len(old.content), len(content)) > _MOST_TOLD:
            return Changed(shown(real), created=old is None)
        before = _text(old.content)
        return Changed(
            shown(real), created=False, before=before, patch=structured_patch(before, _text(content))
        )

    def _put(
        self, real: str, content: bytes, old: FileContent | None, place: Workplace, patience: Patience
    ) -> None:
        if len(content) > LARGEST_EDITED:
            raise ToolError(f"That would be {len(content)} bytes; at most {LARGEST_EDITED} are written.")
        if old is None:
            os.makedirs(os.path.dirname(real), exist_ok=True)
        if patience.given_up:
            raise ToolError("Nobody waits for the change any more, so it was not made.", interrupted=True)
        facts = replace_file(real, content, None if old is None else old.facts)
        # Here, and not when the loop hears of it: the next change of the file may be in line already.
        place.read_files[real] = facts.st_mtime


def _old(real: str) -> FileContent | None:
    try:
        return read_regular(real, LARGEST_EDITED)
    except FileNotFoundError:
        return None
    except (OSError, TooLargeError) as problem:
        raise refusal(real, problem) from None


def _refuse_unknown(real: str, old: FileContent, place: Workplace) -> None:
    seen = place.read_files.get(real)
    if seen is None:
        raise ToolError(f"{shown(real)} has not been read yet. Read it first, then change it.")
    if seen != old.facts.st_mtime:
        raise ToolError(f"{shown(real)} has changed since it was read. Read it again, then change it.")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _cannot_write(path: str, problem: OSError | ValueError) -> ToolError:
    reason = problem.strerror if isinstance(problem, OSError) else None
    return ToolError(f"{shown(path)} cannot be written: {reason or problem}.")
