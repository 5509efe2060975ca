"""Index runs for the console in a SQLite file that can be deleted at any time.

It has the position of each run in its source, the fields that pages filter by, and counts per hour. The text
of a run stays in the journal. A damaged index, or one of another version, is replaced; a journal that was
rotated, cut or rewritten is read again.
"""

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from hookline.journal.reader import Damage
from hookline.model.run import Run, has_denied, is_block, would_have_blocked
from hookline.model.safe_text import one_line
from hookline.team.console.source import JournalEntry, RunSource, Segment

#: Characters of names that are kept. A journal of ours has shorter ones, but another machine can send any, and a page
#: shows each of them many times.
_LONGEST_NAME: Final = 1200
_LONGEST_KIND: Final = 100
_LONGEST_REASON: Final = 300
#: Raised with every change of the tables: an older file is replaced.
_VERSION: Final = 4
#: Entries in one transaction: pages see progress, and another console can write, too.
_BATCH: Final = 10_000
_DAMAGE_KEPT: Final = 100
_REMEMBERED: Final = 500_000
_LOCKED: Final = 10.0

BLOCKED, FAILED_OPEN, FAILED, TIMED_OUT, NOT_RUN, WOULD_BLOCK = 1, 2, 4, 8, 16, 32
#: A hook that took longer than this held a user up.
SLOW_MS: Final = 1000

#: The outcome of a run, as pages count it.
DECISIONS: Final = ("pass", "allow", "ask", "block", "failed", "other", "would")
PASS, ALLOW, ASK, BLOCK, FAILURE, OTHER, WOULD = range(len(DECISIONS))
STATUSES: Final = (
    "ok", "blocked", "failed", "timed_out", "not_started", "cancelled", "untrusted", "skipped", "background",
)  # fmt: skip

#: Each bucket of durations ends a tenth after the one before: a percentile is right within five percent.
_GROWTH: Final = math.log(1.1)
_LEAST_MS: Final = 0.01
HOUR: Final = 3600

_SCHEMA = """
CREATE TABLE segment (id INTEGER PRIMARY KEY, source TEXT, name TEXT, offset INTEGER, seam INTEGER,
    UNIQUE (source, name));
CREATE TABLE word (id INTEGER PRIMARY KEY, kind TEXT, text TEXT, UNIQUE (kind, text));
CREATE TABLE hook (id INTEGER PRIMARY KEY, name TEXT, source TEXT, dialect TEXT, type TEXT, UNIQUE (name, source));
CREATE TABLE run (n INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER, offset INTEGER, nth INTEGER, at REAL,
    hook INTEGER, event INTEGER, session INTEGER, agent INTEGER, project INTEGER, machine INTEGER, call INTEGER,
    reason INTEGER, status INTEGER, decision INTEGER, flags INTEGER, ms REAL, bucket INTEGER);
CREATE INDEX run_at ON run (at);
CREATE INDEX run_session ON run (session);
CREATE INDEX run_call ON run (call);
CREATE INDEX run_place ON run (segment, offset);
CREATE TABLE tally (hour INTEGER, hook INTEGER, event INTEGER, agent INTEGER, machine INTEGER, segment INTEGER,
    runs INTEGER, blocked INTEGER, failed_open INTEGER, failed INTEGER, timed_out INTEGER, would_have_blocked INTEGER,
    slow INTEGER, passes INTEGER, allows INTEGER, asks INTEGER, others INTEGER, last REAL,
    PRIMARY KEY (hour, hook, event, agent, machine, segment)) WITHOUT ROWID;
CREATE TABLE spent (hook INTEGER, hour INTEGER, segment INTEGER, bucket INTEGER, n INTEGER,
    PRIMARY KEY (hook, hour, segment, bucket)) WITHOUT ROWID;
CREATE TABLE spent_day (hook INTEGER, hour INTEGER, agent INTEGER, machine INTEGER, segment INTEGER, bucket INTEGER,
    n INTEGER, PRIMARY KEY (hook, hour, agent, machine, segment, bucket)) WITHOUT ROWID;
CREATE TABLE session (segment INTEGER, session INTEGER, machine INTEGER, agent INTEGER, project INTEGER, first REAL,
    last REAL, runs INTEGER, blocked INTEGER, failed_open INTEGER, failed INTEGER,
    PRIMARY KEY (segment, session, machine)) WITHOUT ROWID;
CREATE TABLE damage (segment INTEGER, offset INTEGER, problem TEXT);
CREATE TABLE born (id TEXT);
"""
_TALLY = (
    "INSERT INTO tally VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET "
    + ", ".join(
        f"{name} = {name} + excluded.{name}"
        for name in (
            "runs",
            "blocked",
            "failed_open",
            "failed",
            "timed_out",
            "would_have_blocked",
            "slow",
            "passes",
            "allows",
            "asks",
            "others",
        )
    )
    + ", last = max(last, excluded.last)"
)
_SPENT = "INSERT INTO spent VALUES (?,?,?,?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
_SPENT_DAY = "INSERT INTO spent_day VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
_SESSION = (
    "INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET first = min(first, excluded.first),"
    " last = max(last, excluded.last), runs = runs + excluded.runs, blocked = blocked + excluded.blocked,"
    " failed_open = failed_open + excluded.failed_open, failed = failed + excluded.failed"
)
_RUN = (
    "INSERT INTO run (segment, offset, nth, at, hook, event, session, agent, project, machine, call, reason, status,"
    " decision, flags, ms, bucket) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)


def bucket_of(milliseconds: float) -> int:
    return math.floor(math.log(max(milliseconds, _LEAST_MS)) / _GROWTH)


def milliseconds_of(bucket: int) -> float:
    """Return the middle of a bucket."""
    return math.exp((bucket + 0.5) * _GROWTH)


def decision_of(run: Run) -> int:
    if has_denied(run):
        return BLOCK if run.mode == "enforce" else WOULD
    if run.status in ("failed", "timed_out", "not_started"):
        return FAILURE
    if run.status != "ok":
        return OTHER
    # Any other answer that was only recorded had no effect.
    return {None: PASS, "allow": ALLOW}.get(run.decision if run.mode == "enforce" else None, ASK)


def flags_of(run: Run) -> int:
    return (
        (BLOCKED if is_block(run) else 0)
        | (WOULD_BLOCK if would_have_blocked(run) else 0)
        | (FAILED_OPEN if run.failed_open else 0)
        | (FAILED if run.status in ("failed", "timed_out", "not_started") else 0)
        | (TIMED_OUT if run.status == "timed_out" else 0)
        | (NOT_RUN if run.status in ("skipped", "background") else 0)
    )


class Index:
    """The index file, kept up to date with its sources.

    One thread updates it; pages read it over their own connections.
    """

    def __init__(self, path: str, sources: Sequence[RunSource], say: Callable[[str], None]) -> None:
        self.path = path
        self.sources = {source.name: source for source in sources}
        #: Notes about the index or a journal, newest last, for the pages.
        self.notes: list[str] = []
        #: How much of the sources was read, from 0 to 1.
        self.progress = 0.0
        self._say = say
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._seen: dict[str, tuple[Segment, ...]] = {}
        self._broken = ""
        #: Numbers of words and hooks, which never change while the file is there.
        self._numbers: dict[tuple[str, str, str], int] = {}

    def distrust(self, why: str) -> None:
        """Rebuild the file at the next update, because a page found it damaged."""
        self._broken, self._seen = why, {}

    def update(self) -> bool:
        """Read new runs. Returns True if there were any. Never raises for a file that is damaged or away."""
        with self._lock:
            changed = [self._look(source) for source in self.sources.values()]
            self.progress = 1.0
            return any(changed)

    def _look(self, source: RunSource) -> bool:
        try:
            segments = tuple(source.segments())
            if self._seen.get(source.name) == segments and os.path.exists(self.path):
                return False
            if self._broken:
                raise sqlite3.DatabaseError(self._broken)  # noqa: TRY301 handled as one that we find
            self._update(source, segments)
            self._seen[source.name] = segments
        except sqlite3.OperationalError as problem:
            # While another console writes, the next look does it.
            if "no such" in str(problem):
                self._replace(str(problem))
            elif "locked" not in str(problem):
                self.note(f"the index {self.path} cannot be written: {problem}")
            return False
        except sqlite3.DatabaseError as problem:
            self._replace(str(problem))
        except OSError as problem:
            self.note(f"{problem.filename or source.name} cannot be used: {problem.strerror or problem}")
            return False
        return True

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        self._numbers = {}
        if connection is not None:
            connection.close()

    def note(self, text: str) -> None:
        """Show a note once, at the terminal and on the pages."""
        line = one_line(text, 300)
        if line not in self.notes:
            self.notes = [*self.notes[-4:], line]
            self._say(line)

    def _replace(self, why: str) -> None:
        self._close()
        for ending in ("", "-wal", "-shm"):
            try:
                os.unlink(self.path + ending)
            except OSError:
                pass
        self._broken, self._seen = "", {}
        self.note(f"the index could not be used ({why}) and is rebuilt from the journal")

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and os.path.exists(self.path):
            return self._connection
        self._close()
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        os.close(os.open(self.path, flags, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=_LOCKED, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # lost data is read again
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != _VERSION:
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise sqlite3.DatabaseError(f"it is of version {version}")  # noqa: TRY301 closes it
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO born VALUES (?)", (f"{time.time_ns():x}",))
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _update(self, source: RunSource, segments: Sequence[Segment]) -> None:
        connection = self._open()
        known = self._known(connection, source)
        for name in known.keys() - {segment.name for segment in segments}:
            self._drop(connection, known[name][0])
        whole = sum(segment.end for segment in segments) or 1
        done = 0
        for segment in segments:
            row = known.get(segment.name)
            if row is not None and (row[1] > segment.end or source.seam(segment.name, row[1]) != row[2]):
                self.note(f"{source.name} was cut or rewritten, and is read again")
                self._drop(connection, row[0])
                row = None
            offset = row[1] if row is not None else 0
            while offset < segment.end:
                following = self._batch(connection, source, segment.name)
                if following == offset:
                    break  # only the beginning of a line
                offset = following
                self.progress = min((done + offset) / whole, 1.0)
            done += segment.end

    def _known(self, connection: sqlite3.Connection, source: RunSource) -> dict[str, tuple[int, int, int]]:
        rows = connection.execute(
            "SELECT name, id, offset, seam FROM segment WHERE source = ?", (source.name,)
        )
        return {name: (number, offset, seam) for name, number, offset, seam in rows}

    def _drop(self, connection: sqlite3.Connection, number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for table in ("run", "tally", "spent", "spent_day", "session", "damage"):
            connection.execute(f"DELETE FROM {table} WHERE segment = ?", (number,))
        connection.execute("DELETE FROM segment WHERE id = ?", (number,))
        connection.execute("COMMIT")

    def _batch(self, connection: sqlite3.Connection, source: RunSource, name: str) -> int:
        """Index the next entries, from where the file says that the last ones ended."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            row = connection.execute(
                "SELECT id, offset FROM segment WHERE source = ? AND name = ?", (source.name, name)
            ).fetchone()
            if row is None:
                created = connection.execute(
                    "INSERT INTO segment (source, name, offset, seam) VALUES (?, ?, 0, ?)",
                    (source.name, name, source.seam(name, 0)),
                )
                row = created.lastrowid or 0, 0
            number, offset = row
            batch = _Batch(connection, number, self._numbers)
            following = batch.read(source.entries(name, offset), offset)
            connection.execute(
                "UPDATE segment SET offset = ?, seam = ? WHERE id = ?",
                (following, source.seam(name, following), number),
            )
            connection.execute("COMMIT")
        except BaseException:
            self._numbers = {}
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return following


class _Batch:
    """Rows of one transaction."""

    def __init__(
        self, connection: sqlite3.Connection, segment: int, numbers: dict[tuple[str, str, str], int]
    ) -> None:
        self._connection = connection
        self._segment = segment
        if len(numbers) > _REMEMBERED:
            numbers.clear()
        self._numbers = numbers
        self._runs: list[tuple[Any, ...]] = []
        self._tallies: dict[tuple[int, ...], list[float]] = {}
        self._spent: dict[tuple[int, ...], int] = {}
        self._spent_day: dict[tuple[int, ...], int] = {}
        self._sessions: dict[tuple[int, int], list[float]] = {}

    def read(self, entries: Iterable[JournalEntry], offset: int) -> int:
        """Index entries, and return the offset after the last."""
        for count, entry in enumerate(entries):
            if count >= _BATCH and entry.nth == 0:
                break  # never in the middle of a line
            offset = entry.following
            if isinstance(entry.item, Damage):
                self._damage(entry, entry.item)
            else:
                self._add(entry, entry.item)
        self._write()
        return offset

    def _damage(self, entry: JournalEntry, damage: Damage) -> None:
        values = (self._segment, entry.offset, one_line(damage.problem, 200))
        query = "INSERT INTO damage SELECT ?, ?, ? WHERE (SELECT count(*) FROM damage) < ?"
        self._connection.execute(query, (*values, _DAMAGE_KEPT))

    def _add(self, entry: JournalEntry, run: Run) -> None:
        call, flags, decision = run.call, flags_of(run), decision_of(run)
        # A hook that did not start took no time.
        bucket = bucket_of(run.duration_ms) if run.status != "not_started" else None
        at = run.at if 0 <= run.at < 1e11 else 0.0  # a record can hold any number
        hook, machine = self._hook(run), self._word("machine", entry.machine)
        agent, event = (
            self._word("agent", call.origin or call.caller),
            self._word("event", run.event or run.dialect_event),
        )
        session, project = self._word("session", run.session), self._word("project", call.project)
        about = self._word("call", f"{call.tool} {call.input}".strip())
        reason = self._word("reason", one_line(run.reason or run.detail, _LONGEST_REASON))
        self._runs.append(
            (
                self._segment, entry.offset, entry.nth, at, hook, event, session, agent, project, machine, about,
                reason, STATUSES.index(run.status), decision, flags, run.duration_ms, bucket,
            )
        )  # fmt: skip
        if flags & NOT_RUN:
            return
        counted = (
            1, decision == BLOCK, flags & FAILED_OPEN and 1, flags & FAILED and 1, flags & TIMED_OUT and 1,
            decision == WOULD, run.duration_ms >= SLOW_MS, decision == PASS, decision == ALLOW,
            decision == ASK, decision == OTHER,
        )  # fmt: skip
        hour = int(at // HOUR)
        tally = self._tallies.setdefault((hour, hook, event, agent, machine, self._segment), [0] * 11 + [0.0])
        for number, each in enumerate(counted):
            if each:
                tally[number] += 1
        tally[-1] = max(tally[-1], at)
        if bucket is not None:
            for table, key in (
                (self._spent, (hook, hour, self._segment, bucket)),
                (self._spent_day, (hook, hour // 24 * 24, agent, machine, self._segment, bucket)),
            ):
                table[key] = table.get(key, 0) + 1
        if run.session:
            self._of_session((session, machine), (agent, project, at), counted)

    def _of_session(
        self, key: tuple[int, int], facts: tuple[int, int, float], counted: tuple[int, ...]
    ) -> None:
        agent, project, at = facts
        row = self._sessions.setdefault(key, [agent, project, at, at, 0, 0, 0, 0])
        row[2], row[3] = min(row[2], at), max(row[3], at)
        for number in range(4):
            row[4 + number] += counted[number]

    def _write(self) -> None:
        connection, segment = self._connection, self._segment
        connection.executemany(_RUN, self._runs)
        connection.executemany(_TALLY, ((*key, *row) for key, row in self._tallies.items()))
        connection.executemany(_SPENT, ((*key, number) for key, number in self._spent.items()))
        connection.executemany(_SPENT_DAY, ((*key, number) for key, number in self._spent_day.items()))
        connection.executemany(_SESSION, ((segment, *key, *row) for key, row in self._sessions.items()))

    def _word(self, kind: str, text: str) -> int:
        text = text[:_LONGEST_NAME]
        found = self._numbers.get(("", kind, text))
        if found is None:
            found = self._id("word", ("kind", "text"), (kind, text), ())
            self._numbers["", kind, text] = found
        return found

    def _hook(self, run: Run) -> int:
        file = (run.source.rpartition(":")[0] or run.source)[:_LONGEST_NAME]  # its line moves
        name = run.hook[:_LONGEST_NAME]
        found = self._numbers.get(("hook", name, file))
        if found is None:
            found = self._id(
                "hook",
                ("name", "source"),
                (name, file),
                (run.dialect[:_LONGEST_KIND], run.type[:_LONGEST_KIND]),
            )
            self._numbers["hook", name, file] = found
        return found

    def _id(self, table: str, names: tuple[str, str], texts: tuple[str, str], more: tuple[str, ...]) -> int:
        values = tuple(text.encode("utf-8", "replace").decode() for text in texts)
        query = f"SELECT id FROM {table} WHERE {names[0]} = ? AND {names[1]} = ?"
        row = self._connection.execute(query, values).fetchone()
        if row is not None:
            return row[0]
        places = ", ".join("?" * (2 + len(more)))
        insert = f"INSERT INTO {table} VALUES (NULL, {places})"
        created = self._connection.execute(insert, (*values, *more)).lastrowid
        return created or 0
