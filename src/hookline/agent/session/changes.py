"""Keep what files were before tools changed them, by turn, so that the user can undo a turn."""

import hashlib
import os
from collections import deque

from msgspec import Struct, field

from hookline.agent.tools.files import LARGEST_EDITED, FileContent, TooLargeError, read_regular, replace_file
from hookline.agent.tools.off_loop import WorkLimit
from hookline.agent.tools.walk import DirectoryWalk

#: Bytes of old files that are kept; those of the oldest turns go first.
_MOST_BYTES = 32 << 20
_MOST_TURNS = 100
#: Files that are looked at for changes by others.
_MOST_VISITED = 20_000
_MOST_NAMED = 10


class FileChange(Struct):
    """A file before and after the changes of one turn. `before` is None for a new file."""

    before: FileContent | None
    after: bytes


class TurnChanges(Struct, eq=False):
    """Changes of one turn."""

    turn: int
    #: Seconds since 1970.
    began: float
    files: dict[str, FileChange] = field(default_factory=dict[str, FileChange])

    @property
    def size(self) -> int:
        return sum(len(one.before.content) for one in self.files.values() if one.before is not None)


class Undone(Struct, frozen=True):
    """Result of an undo: files by what happened to them."""

    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    #: Changed by something else since: they stay as they are.
    kept: tuple[str, ...] = ()


class ChangeLog:
    """Changes of a session's turns, the newest last, bounded. Tools note them on their threads, one at a time."""

    def __init__(self) -> None:
        self._turns: deque[TurnChanges] = deque(maxlen=_MOST_TURNS)

    def begin(self, turn: int, now: float) -> None:
        self._turns.append(TurnChanges(turn, now))

    def note(self, path: str, before: FileContent | None, after: bytes) -> None:
        """Note a change that was made."""
        if not self._turns:
            return
        files = self._turns[-1].files
        known = files.get(path)
        files[path] = FileChange(before if known is None else known.before, _digest(after))
        while len(self._turns) > 1 and sum(one.size for one in self._turns) > _MOST_BYTES:
            self._turns.popleft()

    @property
    def originals(self) -> dict[str, FileContent | None]:
        """Contents of each changed file before its first change that is still known."""
        found: dict[str, FileContent | None] = {}
        for turn in tuple(self._turns):
            for path, change in tuple(turn.files.items()):
                found.setdefault(path, change.before)
        return found

    @property
    def last(self) -> TurnChanges | None:
        return self._turns[-1] if self._turns else None

    def forget(self, changes: TurnChanges) -> None:
        """Forget a turn that was undone."""
        if changes in self._turns:
            self._turns.remove(changes)


def undo(changes: TurnChanges) -> Undone:
    """Make the files of a turn what they were before it. Reads and writes files."""
    restored: list[str] = []
    removed: list[str] = []
    kept: list[str] = []
    for path, change in changes.files.items():
        try:
            if _digest(read_regular(path, LARGEST_EDITED, follow=False).content) != change.after:
                kept.append(path)
            elif change.before is None:
                os.unlink(path)
                removed.append(path)
            else:
                replace_file(path, change.before.content, change.before.facts)
                restored.append(path)
        except (OSError, TooLargeError):
            kept.append(path)
    return Undone(tuple(restored), tuple(removed), tuple(kept))


def changed_by_others(changes: TurnChanges, root: str, limit: WorkLimit) -> list[str]:
    """Name files below the root that are newer than the turn and that no tool for files changed."""
    found: list[str] = []
    for relative, entry in DirectoryWalk(root, limit, _MOST_VISITED).files():
        path = os.path.join(root, relative)
        try:
            newer = entry.stat(follow_symlinks=False).st_mtime > changes.began
        except OSError:
            continue
        if newer and path not in changes.files:
            found.append(relative)
            if len(found) > _MOST_NAMED:
                return [*found[:_MOST_NAMED], "…"]
    return found


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
