"""Move the user's jobs to other machines, and wakes of sessions between machines.

A job stays in this file until its result is here, so no accepted job depends on the server. Sessions see a
wake on one machine at a time: a wake for another machine is marked first, and no session here sees it from
then on; it is removed when the other machine has confirmed it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from hookline.jobs.file import IN_TURN, DurableFile, end_job, insert_wakes
from hookline.jobs.owner import is_gone, now
from hookline.jobs.port import FLEET, Job, Wake
from hookline.journal.file import jobs_path

if TYPE_CHECKING:
    from sqlite3 import Connection

#: For the values of `_later`.
_DUE: Final = "NOT (due BETWEEN ? AND ?)"
_SENDABLE: Final = (
    "SELECT id, session, body, ordered, epoch, attempts, sent FROM job WHERE lane = ? AND settled IS NULL"
    f" AND {_DUE} AND {IN_TURN} ORDER BY n LIMIT ?"
)
#: Listeners whose process is gone, and that nothing waits for.
_IDLE: Final = (
    "NOT EXISTS (SELECT 1 FROM wake WHERE wake.session = listener.session AND seen IS NULL)"
    " AND NOT EXISTS (SELECT 1 FROM job WHERE job.session = listener.session AND settled IS NULL)"
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


class LocalSession(Struct, frozen=True):
    """A session that a process of this machine delivers wakes to."""

    session: str
    owner: str
    #: The revision by which this machine has the session; None: it is yet to be claimed.
    claimed: int | None
    #: The machine that has taken it over.
    elsewhere: str | None

    @property
    def alive(self) -> bool:
        return not is_gone(self.owner)


class Leaving(Struct, frozen=True):
    """A wake on its way to another machine."""

    wake: Wake
    machine: str


class Outbox(DurableFile):
    """The user's queue: its jobs for the fleet, from the time they were accepted until their results are here."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(jobs_path(env))

    def join(self, machine: str) -> None:
        """Let sessions of this user listen for wakes from other machines, too."""
        self._change("INSERT OR IGNORE INTO member VALUES (?)", machine)

    def outgoing(self, most: int) -> Sequence[Outgoing]:
        """Return the jobs to send or to ask about: in their order, for jobs that are ordered."""
        return [
            Outgoing(
                Job(id=i, session=s, queue=FLEET, body=bytes(body), ordered=bool(o)), epoch, attempts, sent
            )
            for i, s, body, o, epoch, attempts, sent in self._rows(_SENDABLE, FLEET, *_later(), most)
        ]

    def sent(self, jobs: Sequence[Outgoing], seconds: float, why: str = "") -> None:
        """Record that jobs were sent or are in progress, and when to check again."""
        self._write(
            lambda connection: connection.executemany(
                "UPDATE job SET attempts = ?, due = ?, why = ? WHERE id = ? AND epoch = ? AND settled IS NULL",
                [(each.sent, now() + seconds, why, each.job.id, each.turn) for each in jobs],
            )
        )

    def ask_again(self) -> None:
        """Check on all jobs now, because the server has lost its data."""
        self._change("UPDATE job SET due = 0 WHERE lane = ?", FLEET)

    def waiting(self) -> int:
        return self._count("job WHERE lane = ? AND settled IS NULL", FLEET)

    def dead_letters(self) -> int:
        return self._count("job WHERE state = 'dead'")

    def away_count(self) -> int:
        """Count the wakes on their way to other machines."""
        return self._count("away")

    def finish(
        self,
        job_id: str,
        turn: int,
        state: Literal["settled", "dead"],
        wakes: Sequence[Wake],
        why: str,
        tries: int,
    ) -> bool:
        """Store the result of a job, once. Returns False if it is stored already or the user has dropped the job."""

        def finish(connection: "Connection") -> bool:
            query = "SELECT session FROM job WHERE id = ? AND epoch = ? AND lane = ? AND settled IS NULL"
            found = connection.execute(query, (job_id, turn, FLEET)).fetchone()
            if found is None:
                return False
            (session,) = found
            connection.execute("UPDATE job SET attempts = ? WHERE id = ?", (tries, job_id))
            # They are for the session that asked, whatever the other machine says.
            own = [Wake(id=each.id, session=session, body=each.body) for each in wakes]
            end_job(connection, job_id, state, own, why)
            # If that session is on another machine now, no process here may deliver them.
            connection.executemany(
                "INSERT OR IGNORE INTO away (id, session, machine) SELECT ?, session, elsewhere FROM listener"
                " WHERE session = ? AND elsewhere IS NOT NULL",
                [(each.id, session) for each in wakes],
            )
            return True

        return self._write(finish)

    def again(self, job_id: str) -> None:
        """Start another turn of a job whose result was lost with a machine."""
        self._change(
            "UPDATE job SET epoch = epoch + 1, attempts = 0, due = 0 WHERE id = ? AND settled IS NULL", job_id
        )

    # -- sessions, and wakes on their way

    def listeners(self) -> Sequence[LocalSession]:
        """Return the sessions that are open here or have pending messages; delete the others."""
        found: list[LocalSession] = []
        for *values, idle in self._rows(f"SELECT session, owner, claimed, elsewhere, {_IDLE} FROM listener"):
            each = LocalSession(*values)
            if idle and not each.alive:
                forget = f"DELETE FROM listener WHERE session = ? AND owner = ? AND {_IDLE}"
                self._change(forget, each.session, each.owner)
            else:
                found.append(each)
        return found

    def claimed(self, listener: LocalSession, revision: int) -> None:
        """Record that this machine owns the session, at that revision."""
        self._listener(listener, "claimed = ?, elsewhere = NULL", revision)

    def moved(self, listener: LocalSession, machine: str) -> None:
        """Record that another machine owns the session now. A process here that listens again takes it back."""
        self._listener(listener, "elsewhere = ?", machine)

    def _listener(self, listener: LocalSession, change: str, value: object) -> None:
        change = f"UPDATE listener SET {change} WHERE session = ? AND owner = ?"
        self._change(change, value, listener.session, listener.owner)

    def send_away(self, listener: LocalSession) -> None:
        """Mark the session's unseen wakes for the machine that owns it. No process here may be delivering them."""
        self._change(
            "INSERT OR IGNORE INTO away (id, session, machine) SELECT id, session, ? FROM wake"
            " WHERE session = ? AND seen IS NULL",
            listener.elsewhere,
            listener.session,
        )

    def leaving(self) -> Sequence[Leaving]:
        """Return the wakes to send or to ask about."""
        rows = self._rows(
            "SELECT away.id, away.session, body, machine FROM away JOIN wake USING (id)"
            f" WHERE {_DUE} ORDER BY n LIMIT 64",
            *_later(),
        )
        return [Leaving(Wake(id=i, session=s, body=bytes(body)), machine) for i, s, body, machine in rows]

    def look_again(self, wake_id: str, seconds: float) -> None:
        self._change("UPDATE away SET due = ? WHERE id = ?", now() + seconds, wake_id)

    def left(self, wake_id: str) -> None:
        """Delete a wake that the other machine has confirmed."""

        def left(connection: "Connection") -> None:
            for table in ("wake", "away"):
                connection.execute(f"DELETE FROM {table} WHERE id = ?", (wake_id,))

        self._write(left)

    def stays(self, wake_id: str) -> None:
        """Keep a wake: its session is on this machine after all."""
        self._change("DELETE FROM away WHERE id = ?", wake_id)

    def arrived(self, wake: Wake) -> None:
        """Store a wake from another machine.

        It is on disk when this returns, and delivered once, however often it arrives.
        """
        self._write(lambda connection: insert_wakes(connection, [wake]))


def _later() -> tuple[float, float]:
    """Return the range of times that are not due yet. A later one comes from a clock that has restarted."""
    return now(), now() + 3600.0
