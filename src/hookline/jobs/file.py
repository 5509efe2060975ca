"""Keep the durable queue in one SQLite file of the user, shared by all their processes.

A commit survives the death of any process at any time (WAL; only a power loss may cost the last ones). A job
has an owner, the process that accepted or claimed it. Any process may take it once that process is gone or
has not renewed its lease. Each lease has a number, without which nothing can be settled: a process that was
stopped for too long learns then that it lost the job.
"""

import errno
import os
import random
import stat
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from hookline.jobs.owner import is_gone, now, owner_name
from hookline.jobs.port import (
    FLEET,
    LOST,
    MAX_ATTEMPTS,
    DurableError,
    Job,
    JobInfo,
    JobSettings,
    Lease,
    Settled,
    Wake,
)
from hookline.journal.file import jobs_path

if TYPE_CHECKING:
    from sqlite3 import Connection

T = TypeVar("T")

#: Seconds that a process may be silent before others take its jobs.
LEASE: Final = 30.0
#: Seconds until the next attempt, by the number of those made; a fifth more or less.
_BACK_OFF: Final = (1.0, 4.0, 16.0)
#: Seconds before the job of a process that died is begun again: its hook is being killed meanwhile.
GRACE: Final = 1.0
#: Seconds to wait for a lock, which others hold briefly.
_LOCKED: Final = 0.5
#: Seconds between checks that the file still exists: many jobs may come at once.
_CHECKED: Final = 0.01
#: Poll interval for jobs whose owner is gone, in seconds.
_LOOK: Final = 0.25
#: Seconds for which finished jobs are remembered, so that the same id is not accepted again.
_REMEMBERED: Final = 7 * 86_400.0
#: Seconds for which wakes of a session that does not come back are kept; and how many of the newest are always kept,
#: because the time of day may be wrong.
_UNSEEN: Final = 90 * 86_400.0
_UNSEEN_KEPT: Final = 10_000
#: One in this many processes deletes older records.
_RARELY: Final = 32
#: Of 4096 bytes: about a gigabyte. More is refused with an error.
_MOST_PAGES: Final = 262_144

_NEW_ONE: Final = "move it away, and a new one is made"
#: The remedy, by the system's error number and by SQLite's error text.
_SYSTEM_REASONS: Final = {
    errno.EISDIR: f"it is a directory: {_NEW_ONE}",
    errno.ELOOP: f"it is a symbolic link, which is not followed: {_NEW_ONE}",
    errno.EEXIST: "a part of its path is not a directory: move that away",
    errno.ENOTDIR: "a part of its path is not a directory: move that away",
    errno.EACCES: "you may not read and write it: make it and its directory yours (chown, chmod u+rwX)",
    errno.EROFS: "its file system is read-only: make its directory a link to one that can be written",
    errno.ENOSPC: "no space is left on its disk: free some space",
}
_SQLITE_REASONS: Final = {
    "malformed": _NEW_ONE,
    "not a database": _NEW_ONE,
    "disk is full": "free some space on its disk; else the queue has reached a gigabyte: see `hookline jobs`",
    "disk I/O error": "check the disk and the files beside it (-wal, -shm)",
    "unable to open": "make its directory and the files beside it (-wal, -shm) yours",
    "readonly": "make it, its directory and the files beside it (-wal, -shm) writable",
    "locked": "another process uses it; try again",
}

#: Of the tables below.
_VERSION: Final = 3

# Finished jobs leave the queue and stay in the ledger, where their ids are refused. Accepting a job thus touches as few
# pages as it can: the row, and its id.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS job (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, lane TEXT NOT NULL, ordered INTEGER NOT NULL,
  state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, lease_until REAL NOT NULL,
  owner TEXT, epoch INTEGER NOT NULL DEFAULT 0, sent REAL NOT NULL, settled REAL, why TEXT NOT NULL DEFAULT '',
  body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS job_order ON job (session) WHERE settled IS NULL AND ordered = 1;
CREATE TABLE IF NOT EXISTS done (
  id TEXT PRIMARY KEY, session TEXT NOT NULL, lane TEXT NOT NULL, attempts INTEGER NOT NULL, sent REAL NOT NULL,
  settled REAL NOT NULL, why TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS wake (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, body BLOB NOT NULL, at REAL NOT NULL,
  seen REAL);
CREATE INDEX IF NOT EXISTS wake_unseen ON wake (session) WHERE seen IS NULL;
CREATE TABLE IF NOT EXISTS listener (
  session TEXT PRIMARY KEY, owner TEXT NOT NULL, claimed INTEGER, elsewhere TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS away (
  id TEXT PRIMARY KEY, session TEXT NOT NULL, machine TEXT NOT NULL, due REAL NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS member (machine TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_INSERT: Final = (
    "INSERT OR IGNORE INTO job (id, session, lane, ordered, body, state, sent, lease_until, owner, epoch, attempts)"
    " SELECT ?1, ?2, ?3, ?4, ?5, 'queued', ?6, ?7, ?8, ?9, ?10 WHERE NOT EXISTS (SELECT 1 FROM done WHERE id = ?1)"
)
_INTO_LEDGER: Final = (
    "INSERT OR REPLACE INTO done SELECT id, session, lane, attempts, sent, ?, ? FROM job WHERE id = ?"
)
#: Those of the queue, and with them those of the ledger. SQLite keeps any type in any column, so a damaged file may
#: have a text instead of a number: the query converts it.
_JOBS: Final = (
    "SELECT n, CAST(id AS TEXT) AS id, CAST(session AS TEXT), CAST(lane AS TEXT), CAST(state AS TEXT),"
    " CAST(attempts AS INTEGER), CAST(sent AS REAL) AS sent, CAST(settled AS REAL), CAST(owner AS TEXT),"
    " CAST(due AS REAL), CAST(why AS TEXT), CAST(body AS BLOB) FROM job"
)
_OVER: Final = "SELECT 0, id, session, lane, 'settled', attempts, sent, settled, NULL, 0, why, x'' FROM done"
_ALL: Final = f"{_JOBS} UNION ALL {_OVER}"
_CLAIMED: Final = (
    "SELECT id, session, lane, CAST(body AS BLOB), ordered, CAST(attempts AS INTEGER), CAST(epoch AS INTEGER)"
)
_BURY: Final = "UPDATE job SET state = 'dead', settled = ?, why = ?, owner = NULL WHERE id = ?"
_FIND: Final = f"SELECT * FROM ({_ALL}) WHERE substr(id, 1, ?) = ?"
_AT_WORK: Final = "SELECT count(*), total(why = ?) FROM job WHERE owner = ? AND state = 'running'"
_HELD: Final = " WHERE id = ? AND epoch = ? AND owner = ? AND state = 'running'"
#: Not before earlier ordered jobs of the same session.
IN_TURN: Final = (
    "(ordered = 0 OR NOT EXISTS (SELECT 1 FROM job AS e WHERE e.session = job.session AND e.ordered = 1"
    " AND e.settled IS NULL AND e.n < job.n))"
)
_TAKE_BACK: Final = (
    "UPDATE job SET due = CASE state WHEN 'running' THEN ? ELSE due END, state = 'queued', owner = NULL,"
    " epoch = epoch + 1, why = CASE state WHEN 'running' THEN ? ELSE why END WHERE owner = ? AND settled IS NULL"
)
#: A process that listens anew takes the session over from wherever it was.
_LISTEN: Final = (
    "INSERT INTO listener (session, owner) VALUES (?, ?) ON CONFLICT (session) DO UPDATE"
    " SET owner = excluded.owner, claimed = NULL, elsewhere = NULL WHERE owner <> excluded.owner"
)
_SILENT: Final = " AND NOT (lease_until BETWEEN ? AND ?)"


class DurableFile:
    """An open queue. The file is opened when first needed."""

    def __init__(
        self, path: str, *, lease: float = LEASE, back_off: Sequence[float] = _BACK_OFF, grace: float = GRACE,
        attempts: int = MAX_ATTEMPTS, synchronous: str = "normal",
    ) -> None:  # fmt: skip
        self.path = path
        self.lease = lease
        self.attempts = attempts
        self._synchronous = synchronous
        #: The name under which this process has jobs.
        self.owner = owner_name()
        self._back_off = back_off
        self._grace = grace
        self._connection: Connection | None = None
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._identity = (0, 0)
        self._checked = float("-inf")
        self._looked = float("-inf")
        self._version = 0

    @property
    def exists(self) -> bool:
        """True if the file exists or cannot be checked: opening it then reports the error."""
        try:
            os.lstat(self.path)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    # -- jobs

    def submit(self, job: Job) -> bool:
        owner = None if job.queue == FLEET else self.owner
        return self._do(lambda connection: self._insert(connection, job, owner))

    def _insert(
        self, connection: "Connection", job: Job, owner: str | None, epoch: int = 0, attempts: int = 0
    ) -> bool:
        """Insert a job. Returns False if its id is in the queue or the ledger already."""
        values = job.id, job.session, job.queue, job.ordered, job.body, time.time(), now() + self.lease
        return connection.execute(_INSERT, (*values, owner, epoch, attempts)).rowcount == 1

    def claim(self, queues: Sequence[str], most: int) -> Sequence[Lease]:
        """Claim jobs that are ready.

        One whose process ended may have caused that: it runs alone, when nothing else runs.
        """

        def claim(connection: "Connection") -> Sequence[Lease]:
            self._take_back(connection)
            busy, suspects = connection.execute(_AT_WORK, (LOST, self.owner)).fetchone()
            if suspects:
                return ()  # that one runs alone
            ready = f"{_CLAIMED} {_ready(queues)}"
            values = self.owner, *queues, now(), LOST
            rows = connection.execute(f"{ready} AND why <> ? ORDER BY n LIMIT ?", (*values, most)).fetchall()
            if not rows and not busy:
                rows = connection.execute(f"{ready} AND why = ? ORDER BY n LIMIT 1", values).fetchall()
            return [self._leased(connection, row) for row in rows]

        # Most looks find nothing: they take no lock.
        return self._write(claim) if self.next_due(queues) == 0 else ()

    def _leased(self, connection: "Connection", row: Any) -> Lease:
        job_id, session, queue, body, ordered, attempts, epoch = row
        connection.execute(
            "UPDATE job SET state = 'running', owner = ?, attempts = ?, epoch = ?, lease_until = ? WHERE id = ?",
            (self.owner, attempts + 1, epoch + 1, now() + self.lease, job_id),
        )
        job = Job(id=job_id, session=session, queue=queue, body=bytes(body), ordered=bool(ordered))
        return Lease(job=job, attempt=attempts + 1, epoch=epoch + 1)

    def _take_back(self, connection: "Connection") -> None:
        """Release the jobs of owners that are gone or silent. Jobs that were running start again a little later."""
        for owner, silent in self._lost(connection):
            values: tuple[object, ...] = (now() + self._grace, LOST, owner)
            connection.execute(
                _TAKE_BACK + (_SILENT if silent else ""), (*values, *self._valid()) if silent else values
            )

    def _lost(self, connection: "Connection") -> list[tuple[str, bool]]:
        """Return owners that are gone, and owners that did not renew a lease: the latter lose only those jobs."""
        rows = connection.execute(
            "SELECT owner, max(NOT (lease_until BETWEEN ? AND ?)) FROM job"
            " WHERE settled IS NULL AND owner IS NOT NULL AND owner <> ? GROUP BY owner",
            (*self._valid(), self.owner),
        ).fetchall()
        found: list[tuple[str, bool]] = []
        for owner, silent in rows:
            if is_gone(owner):
                found.append((owner, False))
            elif silent:
                found.append((owner, True))
        return found

    def _valid(self) -> tuple[float, float]:
        """Return the range in which valid leases end. A later end comes from a clock that has restarted."""
        return now(), now() + 100 * max(self.lease, LEASE)

    def extend(self, lease: Lease) -> bool:
        return self._held(lease, "UPDATE job SET lease_until = ?", now() + self.lease)

    def keep(self) -> None:
        """Renew the leases of this process."""
        self._change(
            "UPDATE job SET lease_until = ? WHERE owner = ? AND settled IS NULL",
            now() + self.lease,
            self.owner,
        )

    def holds(self) -> bool:
        query = "SELECT 1 FROM job WHERE owner = ? AND settled IS NULL LIMIT 1"
        # Opens the file in any case: one that cannot be opened may hold jobs of this process.
        return self._do(lambda connection: connection.execute(query, (self.owner,)).fetchone() is not None)

    def settle(self, lease: Lease, wakes: Sequence[Wake], why: str = "") -> Settled:
        return self._finish(lease, "settled", wakes, why)

    def bury(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        return self._finish(lease, "dead", wakes, why)

    def retry(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        if lease.attempt >= self.attempts:
            return self._finish(lease, "dead", wakes, why)
        pause = self._back_off[min(lease.attempt, len(self._back_off)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311 no secret
        put_off = "UPDATE job SET state = 'queued', due = ?, why = ?"
        return "queued" if self._held(lease, put_off, now() + pause, why) else "lost"

    def release(self, lease: Lease) -> None:
        self._held(lease, "UPDATE job SET state = 'queued', owner = NULL, attempts = attempts - 1")

    def _held(self, lease: Lease, change: str, *values: object) -> bool:
        """Make a change that only the holder of the lease may make."""
        return self._change(change + _HELD, *values, lease.job.id, lease.epoch, self.owner) == 1

    def _finish(
        self, lease: Lease, state: Literal["settled", "dead"], wakes: Sequence[Wake], why: str
    ) -> Settled:
        def finish(connection: "Connection") -> Settled:
            held = lease.job.id, lease.epoch, self.owner
            if connection.execute("SELECT 1 FROM job" + _HELD, held).fetchone() is None:
                return "lost"
            end_job(connection, lease.job.id, state, wakes, why)
            return state

        return self._write(finish)

    def next_due(self, queues: Sequence[str]) -> float | None:
        def look(connection: "Connection") -> float | None:
            if now() - self._looked > _LOOK:
                if self._lost(connection):
                    return 0.0  # until a process claims it
                self._looked = now()
            ready, values = _ready(queues), (self.owner, *queues)
            if connection.execute(f"SELECT 1 {ready} LIMIT 1", (*values, now())).fetchone():
                return 0.0
            (due,) = connection.execute(f"SELECT min(due) {ready}", (*values, float("inf"))).fetchone()
            return None if due is None else max(0.001, due - now())

        return self._do(look) if self.exists else None

    # -- wakes

    def wakes(self, session: str) -> Sequence[Wake]:
        return self._wakes("session = ? AND seen IS NULL AND id NOT IN (SELECT id FROM away)", session)

    def _wakes(self, which: str, *values: object) -> list[Wake]:
        rows = self._rows(f"SELECT id, session, body FROM wake WHERE {which} ORDER BY n", *values)
        return [Wake(id=wake_id, session=whose, body=bytes(body)) for wake_id, whose, body in rows]

    def seen(self, wake_id: str) -> None:
        if self.exists:
            self._change(
                "UPDATE wake SET seen = ?, body = x'' WHERE id = ? AND seen IS NULL", time.time(), wake_id
            )

    def listen(self, session: str) -> bool:
        if not self._rows("SELECT 1 FROM member"):
            return False
        self._change(_LISTEN, session, self.owner)
        return True

    # -- reading, and changes by the user

    def open_jobs(self, session: str) -> Sequence[JobInfo]:
        return self._known(f"{_JOBS} WHERE settled IS NULL AND session = ? ORDER BY n", session)

    def jobs(self, *, settled: bool = False) -> Sequence[JobInfo]:
        """Return unfinished jobs and dead letters, oldest first; with `settled`, all that are remembered."""
        return self._known(f"{_ALL} ORDER BY sent" if settled else f"{_JOBS} ORDER BY n")

    def find(self, beginning: str) -> Sequence[JobInfo]:
        """Return the jobs whose id begins with this text."""
        return self._known(_FIND, len(beginning), beginning)

    def requeue(self, job_id: str) -> bool:
        """Retry a dead letter, or at once a job that waits for its next attempt. Returns False if it is neither."""
        change = (
            "UPDATE job SET state = 'queued', attempts = 0, due = 0, settled = NULL, owner = NULL, why = '',"
            " epoch = epoch + 1 WHERE id = ? AND state IN ('dead', 'queued')"
        )
        return self._change(change, job_id) == 1

    def drop(self, job_id: str) -> bool:
        """Delete a dead letter, or a job that has not begun. Returns False if it is running or finished."""

        def drop(connection: "Connection") -> bool:
            query = "SELECT 1 FROM job WHERE id = ? AND state IN ('dead', 'queued')"
            found = connection.execute(query, (job_id,)).fetchone() is not None
            if found:
                to_ledger(connection, job_id, "dropped by the user")
            return found

        return self._write(drop) if self.exists else False

    def _known(self, query: str, *values: object) -> Sequence[JobInfo]:
        return [
            JobInfo(
                id=job_id, session=session, queue=queue, state=state, attempts=attempts, sent=sent, settled=settled,
                owner=owner, why=why,
                wait=round(max(0.0, due - now()), 3) if state == "queued" and queue != FLEET else 0.0,
                body=bytes(body),
            )
            for _n, job_id, session, queue, state, attempts, sent, settled, owner, due, why, body
            in self._rows(query, *values)
        ]  # fmt: skip

    def changed(self) -> bool:
        before, version = self._version, self._rows("PRAGMA data_version")
        if version:
            self._version = version[0][0]
        return self._version != before

    # -- the file

    def close(self) -> None:
        """Release the jobs that this process has not begun, and close the file."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None or self._pid != os.getpid():
                return
            import sqlite3  # noqa: PLC0415 it is loaded already

            try:
                connection.execute(
                    "UPDATE job SET owner = NULL WHERE owner = ? AND settled IS NULL AND state = 'queued'",
                    (self.owner,),
                )
            except sqlite3.Error:
                pass  # they are found by their lease
            finally:
                connection.close()

    def _rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query. Reading creates no file: without one, nothing is found."""
        return (
            self._do(lambda connection: connection.execute(query, values).fetchall()) if self.exists else []
        )

    def _count(self, which: str, *values: object) -> int:
        return sum(number for (number,) in self._rows(f"SELECT count(*) FROM {which}", *values))

    def _change(self, change: str, *values: object) -> int:
        """Make one change. Return the number of changed rows."""
        return self._do(lambda connection: connection.execute(change, values).rowcount)

    def _write(self, change: "Callable[[Connection], T]") -> T:
        """Make a change in one transaction."""

        def write(connection: "Connection") -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = change(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return result

        return self._do(write)

    def _do(self, work: "Callable[[Connection], T]") -> T:
        with self._lock:
            try:
                if self._connection is None or self._pid != os.getpid() or not self._is_there():
                    self._connection = self._open()
                return work(self._connection)
            except Exception as problem:
                import sqlite3  # noqa: PLC0415 it is loaded already

                if not isinstance(problem, sqlite3.Error | OSError | ValueError):
                    raise
                self._abandon(problem)
                raise DurableError(f"the queue {self.path} cannot be used: {_reason(problem)}") from problem

    def _abandon(self, problem: Exception) -> None:
        """Drop the connection to a damaged or vanished file; after a lock, the connection can be kept."""
        if "locked" in str(problem) or self._connection is None:
            return
        connection, self._connection = self._connection, None
        if self._pid == os.getpid():
            connection.close()

    def _is_there(self) -> bool:
        """Return True if the open file is still the one at its path: data written to a removed file is lost."""
        if now() - self._checked < _CHECKED:
            return True
        self._checked = now()
        try:
            found = os.stat(self.path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def _open(self) -> "Connection":
        import sqlite3  # noqa: PLC0415 as above

        if not os.path.isabs(self.path):
            raise ValueError("its path is not absolute")
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        found = _made(self.path)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"it is not a regular file: {_NEW_ONE}")
        if found.st_uid != os.getuid() or found.st_mode & 0o022:
            raise ValueError("it is not a file of yours alone: move it away, or make it yours (chmod 600)")
        if not os.access(self.path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            number = errno.EROFS if os.statvfs(self.path).f_flag & os.ST_RDONLY else errno.EACCES
            raise OSError(number, os.strerror(number), self.path)
        self._identity = found.st_dev, found.st_ino
        if self._pid != os.getpid():  # a fork: the other process keeps the old name
            self._pid, self.owner = os.getpid(), owner_name()
        connection = sqlite3.connect(
            self.path, timeout=_LOCKED, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._synchronous == 'full' else 'NORMAL'}")
            connection.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
            _make_tables(connection)
            if random.randrange(_RARELY) == 0:  # noqa: S311 no secret
                old = time.time() - _REMEMBERED
                connection.execute("DELETE FROM done WHERE settled < ?", (old,))
                connection.execute("DELETE FROM wake WHERE seen < ?", (old,))
                connection.execute(
                    "DELETE FROM wake WHERE at < ? AND n < (SELECT max(n) FROM wake) - ?",
                    (time.time() - _UNSEEN, _UNSEEN_KEPT),
                )
        except BaseException:
            connection.close()
            raise
        return connection


def user_queue(env: Mapping[str, str], settings: JobSettings | None = None) -> DurableFile:
    """Return this user's queue, which is opened when first needed."""
    settings = settings or JobSettings()
    return DurableFile(
        jobs_path(env), back_off=settings.delays or (0.0,), attempts=len(settings.delays) + 1,
        synchronous=settings.synchronous,
    )  # fmt: skip


def _made(path: str) -> os.stat_result:
    """Return what is at the path, after making an empty file of the user if nothing was. Raises OSError.

    A file that exists is never opened here: closing it would drop the locks that SQLite holds on it for other queues of
    this process. Another process would then remove the log into which they still write, and with it accepted jobs.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600))
    except FileExistsError:
        pass
    found = os.lstat(path)
    for is_one, number in ((stat.S_ISLNK, errno.ELOOP), (stat.S_ISDIR, errno.EISDIR)):
        if is_one(found.st_mode):
            raise OSError(number, os.strerror(number), path)
    return found


def _make_tables(connection: "Connection") -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > _VERSION:
        raise ValueError("a newer Hookline made it: update this one")
    if 0 < version < _VERSION:
        raise ValueError(f"an earlier Hookline made it, whose jobs this one cannot read: {_NEW_ONE}")
    if version != _VERSION:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")


def _reason(problem: Exception) -> str:
    """Explain what is wrong with the file, and what to do."""
    text = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    code = problem.errno if isinstance(problem, OSError) else None
    if code in _SYSTEM_REASONS:
        return _SYSTEM_REASONS[code]
    if "Could not decode" in text:
        return f"a text in it is damaged: {_NEW_ONE}"
    return next((f"{text}: {what}" for part, what in _SQLITE_REASONS.items() if part in text), text)


def _ready(queues: Sequence[str]) -> str:
    """Return SQL for jobs that may begin: due, and either this owner's or unowned in one of these queues."""
    places = ",".join("?" * len(queues))
    whose = f"(owner = ? OR (owner IS NULL AND lane IN ({places})))"
    return f"FROM job WHERE settled IS NULL AND state = 'queued' AND {whose} AND due <= ? AND {IN_TURN}"


def insert_wakes(connection: "Connection", wakes: Sequence[Wake]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO wake (id, session, body, at) VALUES (?, ?, ?, ?)",
        [(wake.id, wake.session, wake.body, time.time()) for wake in wakes],
    )


def end_job(
    connection: "Connection", job_id: str, state: Literal["settled", "dead"], wakes: Sequence[Wake], why: str
) -> None:
    """Record that a job is over, and its wakes. A dead letter stays in the queue: it can be retried."""
    if state == "settled":
        to_ledger(connection, job_id, why)
    else:
        connection.execute(_BURY, (time.time(), why, job_id))
    insert_wakes(connection, wakes)


def to_ledger(connection: "Connection", job_id: str, why: str) -> None:
    connection.execute(_INTO_LEDGER, (time.time(), why, job_id))
    connection.execute("DELETE FROM job WHERE id = ?", (job_id,))
