"""Keep jobs of other machines that this one has taken, in a separate file.

A job stays in the file until its result is reported and the machine that sent it has the result.
"""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from hookline.jobs.file import DurableFile
from hookline.jobs.port import Job, Lease, Settled, Wake
from hookline.journal.file import state_dir

if TYPE_CHECKING:
    from sqlite3 import Connection

#: For the wakes of a job, whose ids begin with its own and a dot: the length of that beginning, and the beginning.
_ITS_WAKES: Final = "substr(id, 1, ?) = ?"


class JobReport(Struct, frozen=True):
    """Result of a job that this machine has taken."""

    key: str
    state: Literal["settled", "dead"]
    why: str
    wakes: tuple[Wake, ...]


class RemoteJobs(DurableFile):
    """Jobs of the fleet that this machine has taken: a queue like any other, until their results are reported."""

    def __init__(
        self, env: Mapping[str, str], lease: float, changed: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(os.path.join(state_dir(env), "fleet.sqlite"), lease=lease)
        #: Called when a job is over.
        self.on_change = changed

    def prepare(self) -> str:
        """Create the tables and return this file's unique name."""

        def prepare(connection: "Connection") -> str:
            connection.execute("CREATE TABLE IF NOT EXISTS own (name TEXT)")
            # The keys of the ledger by the ids of jobs, and whether the ledger has the result.
            connection.execute(
                "CREATE TABLE IF NOT EXISTS ledger_key"
                " (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, delivered INTEGER NOT NULL DEFAULT 0)"
            )
            found = connection.execute("SELECT name FROM own").fetchone()
            if found is None:
                found = (secrets.token_hex(8),)
                connection.execute("INSERT INTO own VALUES (?)", found)
            return found[0]

        return self._write(prepare)

    def is_new_server(self, made: str) -> bool:
        """Return True if the server is a new one or has lost its data, judged by when its streams were made."""

        def compare(connection: "Connection") -> bool:
            connection.execute("CREATE TABLE IF NOT EXISTS server (made TEXT)")
            known = connection.execute("SELECT made FROM server").fetchone()
            connection.execute("DELETE FROM server")
            connection.execute("INSERT INTO server VALUES (?)", (made,))
            return known is not None and known != (made,)

        return self._write(compare)

    def take(self, job: Job, key: str, turn: int, tries: int) -> bool:
        """Store a job to run here. Returns False if it is here already; if it is over, its result is reported again."""

        def take(connection: "Connection") -> bool:
            if connection.execute("UPDATE ledger_key SET delivered = 0 WHERE key = ?", (key,)).rowcount:
                return False
            _forget(connection, job.id)  # an earlier turn
            connection.execute("INSERT INTO ledger_key (id, key) VALUES (?, ?)", (job.id, key))
            # Epochs distinguish wakes from those of earlier turns.
            return self._insert(connection, job, self.owner, turn * 1000, tries)

        return self._write(take)

    def keys(self, *, delivered: bool) -> Sequence[str]:
        """Return the keys of jobs whose results the ledger has, or of all others."""
        return [key for (key,) in self._rows("SELECT key FROM ledger_key WHERE delivered = ?", delivered)]

    def mark(self, key: str, *, delivered: bool) -> None:
        """Record that the ledger has the result, or has lost it. The result stays here until the sender has it."""
        self._change("UPDATE ledger_key SET delivered = ? WHERE key = ?", delivered, key)

    def report_all_again(self) -> None:
        """Report all results again, because the server has lost its data."""
        self._change("UPDATE ledger_key SET delivered = 0")

    def unsettled(self) -> int:
        return self._count("job WHERE settled IS NULL")

    def reports(self) -> Sequence[JobReport]:
        """Return the results that the ledger does not have."""

        rows = self._rows(
            "SELECT key, 'settled', d.why, d.id FROM ledger_key JOIN done AS d USING (id) WHERE delivered = 0"
            " UNION ALL SELECT key, state, why, j.id FROM ledger_key JOIN job AS j USING (id)"
            " WHERE state = 'dead' AND delivered = 0"
        )
        return [
            JobReport(key, state, why, tuple(self._wakes(_ITS_WAKES, len(job_id) + 1, f"{job_id}.")))
            for key, state, why, job_id in rows
        ]

    def forget(self, key: str) -> None:
        """Delete a job: the sender has its result, or another machine took it.

        If it still runs, its result is ignored.
        """

        def forget(connection: "Connection") -> None:
            for (job_id,) in connection.execute("SELECT id FROM ledger_key WHERE key = ?", (key,)).fetchall():
                _forget(connection, job_id)

        self._write(forget)

    def _finish(
        self, lease: Lease, state: Literal["settled", "dead"], wakes: Sequence[Wake], why: str
    ) -> Settled:
        settled = super()._finish(lease, state, wakes, why)
        if settled != "lost":
            self.on_change()
        return settled


def _forget(connection: "Connection", job_id: str) -> None:
    for table in ("job", "done", "ledger_key"):
        connection.execute(f"DELETE FROM {table} WHERE id = ?", (job_id,))
    connection.execute(f"DELETE FROM wake WHERE {_ITS_WAKES}", (len(job_id) + 1, f"{job_id}."))
