"""Write the journal of the daemon's calls: runs without effects are written after the answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from hookline.journal.file import JournalFile
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.run import Run, Status

if TYPE_CHECKING:
    from hookline.journal.payloads import PayloadFile

T = TypeVar("T")


class CallJournal(Journal):
    """The journal of one call. Until `write` it keeps runs in memory; from then on each run is written at
    once."""

    def __init__(
        self,
        redactor: Redactor,
        file: JournalFile,
        caller: str,
        *,
        at_once: bool = False,
        shared: bool = True,
        payloads: "PayloadFile | None" = None,
    ) -> None:
        super().__init__(redactor, file=file, caller=caller, payloads=payloads)
        self._own_payloads = payloads
        self._own_file = file
        self._shared = shared
        self._waiting: list[Callable[[], None]] | None = None if at_once else []

    def record(self, run: Run) -> None:
        if self._waiting is None:
            super().record(run)
        else:
            self._waiting.append(lambda: Journal.record(self, run))

    def record_later(self, status: Status, make: Callable[[T], Run], noted: T) -> None:
        if self._waiting is None:
            super().record_later(status, make, noted)
        else:
            self._waiting.append(lambda: Journal.record(self, make(noted)))

    def subscribe(self, callback: Callable[[Run], None]) -> Callable[[], None]:
        """Notify watchers of each run when it ends, so from now on nothing waits."""
        self.write()
        return super().subscribe(callback)

    def check(self) -> None:
        """Check that waiting runs can be written: if not, the answer reports it."""
        if self._waiting:
            self._own_file.check()

    def write(self) -> None:
        """Write waiting runs, and wait no longer."""
        waiting, self._waiting = self._waiting, None
        for each in waiting or ():
            each()

    def close(self) -> None:
        """Close the file if it belongs to this call alone, or must not be used again; else it stays open for
        other calls."""
        self.write()
        if not self._shared or self._own_file.problems:
            self._own_file.close()
        if self._own_payloads is not None:
            self._own_payloads.close()


class JournalFiles:
    """The journal of this user, kept open between calls. A call with another one opens it separately."""

    def __init__(self) -> None:
        self._file: JournalFile | None = None

    def of_call(
        self, redactor: Redactor, path: str, caller: str, payloads: "PayloadFile | None" = None
    ) -> CallJournal:
        last = self._file or JournalFile(path)
        if last.path != path:
            return CallJournal(redactor, JournalFile(path), caller, shared=False, payloads=payloads)
        # If the last run could not be written, this call checks again before it is answered.
        failed = bool(last.problems)
        self._file = JournalFile(path) if failed else last
        return CallJournal(redactor, self._file, caller, at_once=failed, payloads=payloads)
