"""The fleet's side of the user's queue, and the file of jobs that this machine has taken from others.

Nothing that was accepted depends on the server: a job stays in the file of its machine until its result is there, and
what another machine has taken stays in that one's file until the result is reported.
"""

import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from hookline.config.engine import jobs_path
from hookline.durable.file import IN_TURN, DurableFile, insert_wakes, to_ledger
from hookline.durable.owner import now
from hookline.durable.port import FLEET, Job, Lease, Settled, Wake
from hookline.journal.file import state_dir

if TYPE_CHECKING:
    from sqlite3 import Connection

#: A later time is of a clock that has begun anew.
_LONGEST: Final = 3600.0
_SENDABLE: Final = (
    "SELECT id, session, body, ordered, epoch, attempts, sent FROM job WHERE lane = ? AND settled IS NULL"  # noqa: S608 our own words
    f" AND NOT (due BETWEEN ? AND ?) AND {IN_TURN} ORDER BY n LIMIT ?"
)


class Outgoing(Struct, frozen=True):
    """A job of this machine that the fleet is to run."""

    job: Job
    #: Counts how often the user has had it tried again.
    turn: int
    #: How often it was sent.
    sent: int
    #: Seconds since the epoch.
    accepted: float


class Outbox(DurableFile):
    """The user's queue: its jobs for the fleet, from the time they were accepted until their results are here."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(jobs_path(env))

    def join(self, machine: str) -> None:
        """From now on sessions of this user listen for other machines, too."""
        self._do(lambda connection: connection.execute("INSERT OR IGNORE INTO member VALUES (?)", (machine,)))

    def outgoing(self, most: int) -> Sequence[Outgoing]:
        """What is to be sent, or looked after: in its order, where one was asked for."""
        values = FLEET, now(), now() + _LONGEST, most
        rows = self._do(lambda connection: connection.execute(_SENDABLE, values).fetchall())
        return [
            Outgoing(
                Job(id=i, session=s, lane=FLEET, body=bytes(body), ordered=bool(o)), epoch, attempts, sent
            )
            for i, s, body, o, epoch, attempts, sent in rows
        ]

    def sent(self, jobs: Sequence[Outgoing], seconds: float, why: str = "") -> None:
        """They were sent, or found to be under way: look again then."""
        self._write(
            lambda connection: connection.executemany(
                "UPDATE job SET attempts = ?, due = ?, why = ? WHERE id = ? AND epoch = ? AND settled IS NULL",
                [(each.sent, now() + seconds, why, each.job.id, each.turn) for each in jobs],
            )
        )

    def ask_again(self) -> None:
        """The server has lost what it had: look after everything now."""
        self._do(lambda connection: connection.execute("UPDATE job SET due = 0 WHERE lane = ?", (FLEET,)))

    def waiting(self) -> int:
        query = "SELECT count(*) FROM job WHERE lane = ? AND settled IS NULL"
        return self._do(lambda connection: connection.execute(query, (FLEET,)).fetchone()[0])

    def away_count(self) -> int:
        """Wakes on their way to other machines."""
        return self._do(lambda connection: connection.execute("SELECT count(*) FROM away").fetchone()[0])

    def finish(
        self,
        job_id: str,
        turn: int,
        state: Literal["settled", "dead"],
        wakes: Sequence[Wake],
        why: str,
        tries: int,
    ) -> bool:
        """The result of a job, once. False: it was there before, or the user has dropped the job."""

        def finish(connection: "Connection") -> bool:
            found = connection.execute(
                "SELECT session FROM job WHERE id = ? AND epoch = ? AND lane = ? AND settled IS NULL",
                (job_id, turn, FLEET),
            ).fetchone()
            if found is None:
                return False
            (session,) = found
            connection.execute(
                "UPDATE job SET state = ?, settled = ?, why = ?, attempts = ? WHERE id = ?",
                (state, time.time(), why, tries, job_id),
            )
            if state == "settled":
                to_ledger(connection, job_id, why)
            # They are for the session that asked, whatever the other machine says.
            insert_wakes(connection, [Wake(id=each.id, session=session, body=each.body) for each in wakes])
            # If that is on another machine now, no process here may begin to tell it.
            connection.executemany(
                "INSERT OR IGNORE INTO away (id, session, machine) SELECT ?, session, elsewhere FROM listener"
                " WHERE session = ? AND elsewhere IS NOT NULL",
                [(each.id, session) for each in wakes],
            )
            return True

        return self._write(finish)

    def again(self, job_id: str) -> None:
        """Its result was here and is gone, with the end of a machine: it is another turn."""
        self._do(
            lambda connection: connection.execute(
                "UPDATE job SET epoch = epoch + 1, attempts = 0, due = 0 WHERE id = ? AND settled IS NULL",
                (job_id,),
            )
        )


class Report(Struct, frozen=True):
    """What came of a job that this machine has taken."""

    key: str
    state: Literal["settled", "dead"]
    why: str
    wakes: tuple[Wake, ...]


class Taken(DurableFile):
    """Jobs of the fleet that this machine has taken: a queue like any other, until their results are reported."""

    def __init__(
        self, env: Mapping[str, str], lease: float, changed: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(os.path.join(state_dir(env), "fleet.sqlite"), lease=lease)
        #: Called when a job is over.
        self.on_change = changed

    def prepare(self) -> str:
        """The name of this file, unlike that of any other."""

        def prepare(connection: "Connection") -> str:
            connection.execute("CREATE TABLE IF NOT EXISTS own (name TEXT)")
            # The keys of the ledger by the ids of jobs, and whether the ledger has the result.
            connection.execute(
                "CREATE TABLE IF NOT EXISTS key"
                " (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, told INTEGER NOT NULL DEFAULT 0)"
            )
            found = connection.execute("SELECT name FROM own").fetchone()
            if found is None:
                found = (secrets.token_hex(8),)
                connection.execute("INSERT INTO own VALUES (?)", found)
            return found[0]

        return self._write(prepare)

    def is_new_server(self, made: str) -> bool:
        """Whether the server is another one than last time, or has lost what it had, by when its streams were made."""

        def compare(connection: "Connection") -> bool:
            connection.execute("CREATE TABLE IF NOT EXISTS server (made TEXT)")
            known = connection.execute("SELECT made FROM server").fetchone()
            connection.execute("DELETE FROM server")
            connection.execute("INSERT INTO server VALUES (?)", (made,))
            return known is not None and known != (made,)

        return self._write(compare)

    def take(self, job: Job, key: str, turn: int, tries: int) -> bool:
        """Keep a job, to be run here. False: it is here already; if it is over, its result is to be told again."""

        def take(connection: "Connection") -> bool:
            if connection.execute("UPDATE key SET told = 0 WHERE key = ?", (key,)).rowcount:
                return False
            _forget(connection, job.id)  # an earlier turn
            connection.execute("INSERT INTO key (id, key) VALUES (?, ?)", (job.id, key))
            connection.execute(
                "INSERT INTO job (id, session, lane, ordered, state, lease_until, owner, sent, body, epoch, attempts)"
                " VALUES (?, ?, ?, 0, 'queued', ?, ?, ?, ?, ?, ?)",
                # Wakes are told from those of earlier turns by their epochs.
                (
                    job.id, job.session, job.lane, now() + self.lease, self.owner, time.time(), job.body, turn * 1000,
                    tries,
                ),
            )  # fmt: skip
            return True

        return self._write(take)

    def keys(self, *, told: bool) -> Sequence[str]:
        """Keys of what is here: of results that the ledger has, or of everything else."""
        query = "SELECT key FROM key WHERE told = ?"
        return [key for (key,) in self._do(lambda connection: connection.execute(query, (told,)).fetchall())]

    def tell(self, key: str, *, told: bool) -> None:
        """The ledger has the result; or has lost it. It stays here until the machine that asked has it."""
        self._do(lambda connection: connection.execute("UPDATE key SET told = ? WHERE key = ?", (told, key)))

    def tell_all_again(self) -> None:
        """The server has lost what it had."""
        self._do(lambda connection: connection.execute("UPDATE key SET told = 0"))

    def unsettled(self) -> int:
        query = "SELECT count(*) FROM job WHERE settled IS NULL"
        return self._do(lambda connection: connection.execute(query).fetchone()[0])

    def reports(self) -> Sequence[Report]:
        """Results that the ledger does not have."""

        def look(connection: "Connection") -> list[Report]:
            rows = connection.execute(
                "SELECT key, 'settled', d.why, d.id FROM key JOIN done AS d USING (id) WHERE told = 0"
                " UNION ALL SELECT key, state, why, j.id FROM key JOIN job AS j USING (id)"
                " WHERE state = 'dead' AND told = 0"
            ).fetchall()
            return [
                Report(key, state, why, _wakes_of(connection, job_id)) for key, state, why, job_id in rows
            ]

        return self._do(look)

    def forget(self, key: str) -> None:
        """Its result is where it was asked for, or it was taken away: whatever still runs of it does not count."""

        def forget(connection: "Connection") -> None:
            for (job_id,) in connection.execute("SELECT id FROM key WHERE key = ?", (key,)).fetchall():
                _forget(connection, job_id)

        self._write(forget)

    def settle(self, lease: Lease, wakes: Sequence[Wake], why: str = "") -> Settled:
        return self._after(super().settle(lease, wakes, why))

    def bury(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        return self._after(super().bury(lease, wakes, why))

    def retry(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        return self._after(super().retry(lease, wakes, why))

    def _after(self, settled: Settled) -> Settled:
        if settled in ("settled", "dead"):
            self.on_change()
        return settled


def _wakes_of(connection: "Connection", job_id: str) -> tuple[Wake, ...]:
    query = "SELECT id, session, body FROM wake WHERE substr(id, 1, ?) = ? ORDER BY n"
    rows = connection.execute(query, (len(job_id) + 1, f"{job_id}.")).fetchall()
    return tuple(Wake(id=wake_id, session=session, body=bytes(body)) for wake_id, session, body in rows)


def _forget(connection: "Connection", job_id: str) -> None:
    for table in ("job", "done", "key"):
        connection.execute(f"DELETE FROM {table} WHERE id = ?", (job_id,))  # noqa: S608 our own words
    connection.execute("DELETE FROM wake WHERE substr(id, 1, ?) = ?", (len(job_id) + 1, f"{job_id}."))
