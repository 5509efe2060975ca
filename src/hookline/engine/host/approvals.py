"""Keep questions that no user at the machine can answer, until a person does: `hookline approvals`.

One file for each question, with the *pending* record of the call, and one for its answer, which can be made
only once: the second one, also the process that gives up waiting, finds it there. Both belong to the user
whose agent asks, and no other user can write them.

::

    STATE/approvals/ID.json      the question: who asks, the exact call, since when, until when
    STATE/approvals/ID.answer    the answer, once and for all
"""

import asyncio
import os
import re
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Protocol, TypeVar

import msgspec
from msgspec import Struct

from hookline.engine.host.pending import PendingCall
from hookline.journal.file import state_dir

#: Seconds for which a question can wait: less than agents give the entries that Hookline writes.
LONGEST: Final = 600.0
#: Poll interval of an answer, in seconds.
_LOOK: Final = 0.2
#: Seconds after which a question that is over is removed.
_KEPT: Final = 86_400.0
_ID: Final = re.compile(r"[0-9a-f]{32}")
_LARGEST: Final = 4 << 20
_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class QueuedCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that waits for an answer, and who asks."""

    pending: PendingCall
    #: The agent, in its own words, and the project in which it works.
    agent: str = ""
    project: str = ""
    user: str = ""
    machine: str = ""
    #: Seconds since the epoch: then it is denied.
    until: float = 0.0


class ApprovalAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to a call that waited."""

    allow: bool
    #: Who answered; empty if nobody did.
    by: str = ""
    #: For the model.
    message: str = ""
    #: Seconds since the epoch.
    at: float = 0.0


_S = TypeVar("_S", QueuedCall, ApprovalAnswer)


class ApprovalQueue:
    """The questions of one user."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.directory = os.path.join(state_dir(env), "approvals")

    # -- who asks

    async def ask(self, call: QueuedCall) -> ApprovalAnswer:
        """Keep a call until it is answered, or its time is over, and return the answer. Raises OSError.

        A caller that cancels it has given up: a later answer has no effect.
        """
        name = call.pending.id
        self.add(call)
        why = "its agent has given up"
        try:
            while (answer := self.answer_of(name)) is None:
                if time.time() >= call.until:
                    why = "no one answered in time"
                    break
                await asyncio.sleep(_LOOK)
        finally:
            self.answer(name, ApprovalAnswer(allow=False, message=why, at=time.time()))
        return answer or self.answer_of(name) or ApprovalAnswer(allow=False, message=why)

    def add(self, call: QueuedCall) -> None:
        os.makedirs(self.directory, 0o700, exist_ok=True)
        self._sweep()
        self._write(f"{call.pending.id}.json", msgspec.json.encode(call))

    # -- who answers

    def waiting(self) -> list[QueuedCall]:
        """Return the calls that wait for an answer, the longest first."""
        now = time.time()
        found = [call for name in self._names() if (call := self.read(name)) is not None]
        waiting = [each for each in found if each.until > now and not self._is_answered(each.pending.id)]
        return sorted(waiting, key=lambda each: each.pending.asked_at)

    def read(self, name: str) -> QueuedCall | None:
        found = self._record(f"{name}.json", QueuedCall)
        return found if found is not None and found.pending.id == name else None

    def answer(self, name: str, answer: ApprovalAnswer) -> bool:
        """Answer a call. Returns False if it has an answer already, or does not exist any more."""
        if self.read(name) is None:
            return False
        draft = f"{name}.{os.getpid()}.{time.time_ns()}.new"
        try:
            self._write(draft, msgspec.json.encode(answer))
            # A link, unlike a rename, never replaces another answer.
            os.link(os.path.join(self.directory, draft), os.path.join(self.directory, f"{name}.answer"))
        except FileExistsError:
            return False
        finally:
            with suppress(OSError):
                os.unlink(os.path.join(self.directory, draft))
        return True

    def answer_of(self, name: str) -> ApprovalAnswer | None:
        return self._record(f"{name}.answer", ApprovalAnswer)

    def _is_answered(self, name: str) -> bool:
        return os.path.lexists(os.path.join(self.directory, f"{name}.answer"))

    # -- files

    def _names(self) -> list[str]:
        try:
            found = os.listdir(self.directory)
        except FileNotFoundError:
            return []
        return [name[:-5] for name in found if name.endswith(".json") and _ID.fullmatch(name[:-5])]

    def _record(self, file: str, kind: type[_S]) -> _S | None:
        """Read a file of this user; None if it is missing, damaged, or another user can write it."""
        try:
            descriptor = os.open(os.path.join(self.directory, file), _READ)
            with os.fdopen(descriptor, "rb") as stream:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
                    return None
                return msgspec.json.decode(stream.read(_LARGEST), type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _write(self, file: str, content: bytes) -> None:
        descriptor = os.open(os.path.join(self.directory, file), _NEW, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)

    def _sweep(self) -> None:
        """Remove what is over for long."""
        for entry in os.scandir(self.directory):
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > _KEPT:
                    os.unlink(entry.path)


class Approvals(Protocol):
    """Questions that wait for an answer, on this machine or on all machines of a fleet."""

    async def waiting(self) -> list[QueuedCall]:
        """Return the calls that wait, the longest first."""
        ...

    async def answer(self, call: QueuedCall, answer: ApprovalAnswer) -> bool:
        """Answer a call. Returns False if it has an answer already, or does not wait any more."""
        ...


class OwnApprovals:
    """The questions of this user on this machine."""

    def __init__(self, queue: ApprovalQueue) -> None:
        self._queue = queue

    async def waiting(self) -> list[QueuedCall]:
        return self._queue.waiting()

    async def answer(self, call: QueuedCall, answer: ApprovalAnswer) -> bool:
        return self._queue.answer(call.pending.id, answer)
