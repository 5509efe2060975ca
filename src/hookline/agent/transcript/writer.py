"""Write a transcript as the conversation happens: a killed agent loses at most the line it was writing."""

import errno
import os
import re
import time
from collections import deque
from collections.abc import Callable, Sequence

from msgspec.structs import asdict, replace

from hookline.agent.safe_files import FileTakenError, opened_for_appending
from hookline.agent.tools.base import MAIN
from hookline.agent.transcript.reader import EarlierSession, earlier_session, read_transcript
from hookline.agent.transcript.records import (
    ClearRecord,
    CompactionRecord,
    MessageRecord,
    Record,
    SessionFacts,
    SessionRecord,
    TurnRecord,
    encoded,
)
from hookline.model.errors import HooklineError
from hookline.model.messages import Message, Usage
from hookline.model.safe_text import one_line

#: Bytes kept while the disk is full. Beyond it the oldest records are dropped.
_MOST_WAITING = 32 * 1024 * 1024
_PROBLEMS_KEPT = 20
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,127}", re.ASCII)


class TranscriptError(HooklineError):
    """An error: the session cannot be started or resumed; the message says why."""


def _ignore(problem: str) -> None:
    del problem


class TranscriptWriter:
    """Writer of records to one file. If a write fails, the records are kept for later and the session continues."""

    def __init__(
        self,
        path: str,
        *,
        past: EarlierSession | None = None,
        report: Callable[[str], None] = _ignore,
        clock: Callable[[], float] = time.time,
        most_waiting: int = _MOST_WAITING,
    ) -> None:
        self.path = path
        #: The earlier session, if this one resumes it.
        self.past = past if past is not None else EarlierSession()
        self._report = report
        self._clock = clock
        self._most_waiting = most_waiting
        self._fd: int | None = None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        #: Bytes of the first waiting line that are written already.
        self._begun = 0
        self._problems: list[str] = []

    @classmethod
    def create(
        cls,
        directory: str,
        session_id: str,
        facts: SessionFacts,
        *,
        report: Callable[[str], None] = _ignore,
        clock: Callable[[], float] = time.time,
    ) -> "TranscriptWriter":
        """Create a new file. Raises TranscriptError for a bad or taken id; a bad disk is only reported."""
        if _ID.fullmatch(session_id) is None:
            raise TranscriptError(f"{one_line(session_id, 80)!r} cannot be the id of a session")
        transcript = cls(os.path.join(directory, f"{session_id}.jsonl"), report=report, clock=clock)
        transcript._begin()
        known = replace(facts, started=facts.started or clock())
        transcript.append(SessionRecord(id=session_id, **asdict(known)))
        return transcript

    @classmethod
    def resume(
        cls,
        path: str,
        *,
        report: Callable[[str], None] = _ignore,
        clock: Callable[[], float] = time.time,
    ) -> "TranscriptWriter":
        """Continue a file; `past` is its content. Raises TranscriptError when it is missing or in use."""
        transcript = cls(path, report=report, clock=clock)
        try:
            transcript._fd = opened_for_appending(path, 0)
        except (OSError, ValueError, FileTakenError) as error:
            raise TranscriptError(one_line(f"the session cannot be resumed: {error}", 500)) from None
        read = read_transcript(path)
        if not read.records:
            # Not a transcript: leave it as it is.
            transcript.close()
            why = "; ".join(read.problems) or "it is empty"
            raise TranscriptError(one_line(f"{path} is not a transcript: {why}", 500))
        transcript._repair(read.torn_at, unended=read.unended)
        transcript.past = earlier_session(read)
        for problem in read.problems:
            transcript._tell(problem)
        return transcript

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self._problems)

    def append(self, record: Record) -> None:
        """Append a record. It is in the file when this returns, unless the disk fails."""
        if not isinstance(record, SessionRecord) and not record.at:
            record = replace(record, at=self._clock())
        try:
            line = encoded(record)
        except ValueError as error:
            self._tell(f"a record cannot be written: {error}")
            return
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        try:
            self._write()
        except (OSError, ValueError, FileTakenError) as error:
            self._tell(_unwritable(error, self.path))
            self._drop_oldest()

    def message(self, message: Message, who: str = MAIN) -> None:
        self.append(MessageRecord(message=message, who=who))

    def turn(self, number: int, status: str, usage: Usage, totals: Usage) -> None:
        self.append(TurnRecord(turn=number, status=status, usage=usage, totals=totals))

    def cleared(self) -> None:
        self.append(ClearRecord())

    def compacted(self, summary: str, kept: Sequence[Message]) -> None:
        """Record a compaction; `kept` is the whole conversation from now on."""
        self.append(CompactionRecord(summary=summary, kept=tuple(kept)))

    def close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def _begin(self) -> None:
        try:
            self._fd = opened_for_appending(self.path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            said = one_line(f"a session with this id exists: {self.path}", 500)
            raise TranscriptError(said) from None
        except (OSError, ValueError, FileTakenError) as error:
            self._tell(_unwritable(error, self.path))

    def _repair(self, torn_at: int | None, *, unended: bool) -> None:
        """Make sure that the next record begins a new line."""
        if self._fd is None:
            return
        try:
            if torn_at is not None:
                os.ftruncate(self._fd, torn_at)
            elif unended:
                os.write(self._fd, b"\n")
        except OSError as error:
            self._tell(_unwritable(error, self.path))

    def _write(self) -> None:
        if self._fd is None:
            self._fd = opened_for_appending(self.path, os.O_CREAT)
        while self._waiting:
            line = self._waiting[0]
            # A disk that fills up takes part of a line; the rest follows when there is room.
            written = os.write(self._fd, memoryview(line)[self._begun :])
            if written == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._begun += written
            if self._begun == len(line):
                self._waiting.popleft()
                self._waiting_bytes -= len(line)
                self._begun = 0

    def _drop_oldest(self) -> None:
        # Part of the first may be in the file already, so its rest has to follow.
        while self._waiting_bytes > self._most_waiting and len(self._waiting) > 1:
            self._waiting_bytes -= len(self._waiting[1])
            del self._waiting[1]
            self._tell(f"records of the transcript were dropped: too many could not be written ({self.path})")

    def _tell(self, problem: str) -> None:
        said = one_line(problem, 500)
        if said not in self._problems and len(self._problems) < _PROBLEMS_KEPT:
            self._problems.append(said)
            self._report(said)


def _unwritable(error: Exception, path: str) -> str:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"the transcript cannot be written: {why} ({path})"
