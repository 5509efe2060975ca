"""What pages ask the index: runs by filter, counts per hour, times per hook, sessions."""

import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.console.filter import FILTER_WORDS, MINUTE, STATUS_CONDITIONS, Filter
from hookline.console.index import (
    BLOCKED,
    FAILED,
    HOUR,
    NOT_RUN,
    STATUSES,
    TIMED_OUT,
    UNANSWERED,
    Index,
    milliseconds_of,
)

PAGE: Final = 50
_MOST_POINTS: Final = 240
_ROW = (
    "SELECT n, segment.source, segment.name, run.offset, nth, at, hook.name, hook.source, hook.dialect, e.text, s.text,"
    " a.text, p.text, m.text, c.text, status, verdict, flags, ms FROM run JOIN hook ON hook.id = run.hook"
    " JOIN segment ON segment.id = run.segment"
    " JOIN word e ON e.id = run.event JOIN word s ON s.id = run.session JOIN word a ON a.id = run.agent"
    " JOIN word p ON p.id = run.project JOIN word m ON m.id = run.machine JOIN word c ON c.id = run.call"
)


class IndexAwayError(Exception):
    """The index cannot be read now: it is being made."""


class Row(Struct, frozen=True):
    """One run, as lists show it."""

    n: int
    origin: str
    segment: str
    offset: int
    nth: int
    at: float
    hook: str
    source: str
    dialect: str
    event: str
    session: str
    agent: str
    project: str
    machine: str
    call: str
    status_number: int
    verdict: int
    flags: int
    ms: float

    @property
    def status(self) -> str:
        return STATUSES[self.status_number]

    @property
    def address(self) -> str:
        more = f".{self.nth}" if self.nth else ""
        return f"/run/{self.segment}/{self.offset}{more}"


class Totals(Struct):
    runs: int = 0
    blocked: int = 0
    unanswered: int = 0
    failed: int = 0
    timed_out: int = 0


class Summary(Struct, frozen=True):
    totals: Totals
    #: Seconds between two points.
    step: int
    #: When each point begins, and how many there were: runs, blocked, unanswered, failed.
    points: Sequence[tuple[int, int, int, int, int]]


class HookTimes(Struct, kw_only=True):
    """One hook, in numbers."""

    name: str
    source: str
    dialect: str
    type: str
    runs: int
    blocked: int
    unanswered: int
    failed: int
    timed_out: int
    passed: int
    allowed: int
    asked: int
    others: int
    last: float
    p50: float = 0.0
    p95: float = 0.0


class SessionRow(Struct, frozen=True):
    session: str
    machine: str
    agent: str
    project: str
    first: float
    last: float
    runs: int
    blocked: int
    unanswered: int
    failed: int


class OpenPass(Struct, frozen=True):
    """A hook that let something through without an answer, in one agent."""

    hook: str
    source: str
    agent: str
    machine: str
    runs: int
    unanswered: int
    timed_out: int


class Choices(Struct, frozen=True):
    """What the filter offers."""

    hooks: Sequence[str]
    agents: Sequence[str]
    events: Sequence[str]
    machines: Sequence[str]


class Queries:
    """Reads the index. Each thread has a connection of its own, which follows a file that is replaced."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._local = threading.local()

    def _ask(self, query: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connected().execute(query, tuple(values)).fetchall()
        except sqlite3.OperationalError as problem:
            raise IndexAwayError(str(problem)) from None
        except sqlite3.DatabaseError as problem:
            self._index.distrust(str(problem))
            raise IndexAwayError(str(problem)) from None

    def _connected(self) -> sqlite3.Connection:
        try:
            found = os.stat(self._index.path)
        except OSError:
            raise IndexAwayError("it is not there yet") from None
        identity = (found.st_dev, found.st_ino)
        if getattr(self._local, "identity", None) != identity:
            connection = getattr(self._local, "connection", None)
            if connection is not None:
                connection.close()
            self._local.connection = sqlite3.connect(
                f"file:{self._index.path}?mode=ro", uri=True, timeout=2.0, isolation_level=None
            )
            self._local.identity = identity
        return self._local.connection

    # -- runs

    def born(self) -> str:
        """Changes when the index is made anew, and its numbers begin again."""
        return str(self._ask("SELECT id FROM born")[0][0])

    def newest(self) -> int:
        return self._ask("SELECT coalesce(max(n), 0) FROM run")[0][0]

    def page(self, wanted: Filter, now: float, most: int = PAGE) -> list[Row]:
        where, values = self._where(wanted, now)
        if wanted.before:
            where = f"{where} AND (at, n) < (SELECT at, n FROM run WHERE n = ?)"
            values = [*values, wanted.before]
        # Chosen first, and then looked up: a filter can match most of them. By time: machines are read one by one.
        chosen = f"SELECT n FROM run WHERE {where} ORDER BY at DESC, n DESC LIMIT ?"
        rows = self._ask(f"{_ROW} WHERE n IN ({chosen}) ORDER BY at DESC, n DESC", [*values, most])
        return [Row(*row) for row in rows]

    def after(self, n: int, most: int) -> list[Row]:
        """The newest runs after one, oldest first."""
        rows = self._ask(f"{_ROW} WHERE n > ? ORDER BY n DESC LIMIT ?", (n, most))
        return [Row(*row) for row in reversed(rows)]

    def of_session(self, session: str, machine: str, most: int) -> list[Row]:
        """The first runs of a session, in their order."""
        wanted = Filter(session=session, machine=machine, since="all")
        where, values = self._where(wanted, 0.0)
        rows = self._ask(f"{_ROW} WHERE {where} ORDER BY at, n LIMIT ?", [*values, most])
        return [Row(*row) for row in rows]

    def place(self, segment: str, offset: int, nth: int) -> Row | None:
        where = "run.segment = (SELECT id FROM segment WHERE name = ?) AND run.offset = ? AND nth = ?"
        query = f"{_ROW} WHERE {where} LIMIT 1"
        rows = self._ask(query, (segment, offset, nth))
        return Row(*rows[0]) if rows else None

    def _where(self, wanted: Filter, now: float) -> tuple[str, list[object]]:
        conditions = ["1"]
        values: list[object] = []
        begins = wanted.begins(now)
        if begins:
            conditions.append("at >= ?")
            values.append(begins)
        if wanted.hook:
            conditions.append("+hook IN (SELECT id FROM hook WHERE name = ?)")
            values.append(wanted.hook)
        for kind in FILTER_WORDS:
            if text := getattr(wanted, kind):
                conditions.append(f"run.{kind} = (SELECT id FROM word WHERE kind = '{kind}' AND text = ?)")
                values.append(text)
        if wanted.q:
            conditions.append("call IN (SELECT value FROM json_each(?))")
            values.append(self._calls(wanted.q))
        if wanted.status:
            conditions.append(STATUS_CONDITIONS[wanted.status])
        return " AND ".join(conditions), values

    def _calls(self, text: str) -> str:
        """The calls that have all these words, as a JSON list. A page asks for them several times."""
        newest = self.newest()
        known: tuple[str, int, str] = getattr(self._local, "calls", ("", -1, ""))
        if known[:2] != (text, newest):
            words = text.split()[:8]
            like = " AND ".join("text LIKE ? ESCAPE '\\'" for _ in words)
            query = f"SELECT json_group_array(id) FROM word WHERE kind = 'call' AND {like}"
            patterns = ["%" + re.sub(r"([%_\\])", r"\\\1", word) + "%" for word in words]
            known = self._local.calls = (text, newest, self._ask(query, patterns)[0][0])
        return known[2]

    # -- counts

    def choices(self) -> Choices:
        found: dict[str, list[str]] = {"agent": [], "event": [], "machine": []}
        for kind, text in self._ask(
            "SELECT kind, text FROM word WHERE kind IN ('agent', 'event', 'machine') AND text != '' ORDER BY text"
        ):
            found[kind].append(text)
        hooks = [name for (name,) in self._ask("SELECT DISTINCT name FROM hook ORDER BY name LIMIT 500")]
        return Choices(hooks, found["agent"], found["event"], found["machine"])

    def damage(self) -> tuple[int, str]:
        """How many lines of journals could not be read, and what was wrong with the last one."""
        rows = self._ask("SELECT count(*), max(rowid), problem FROM damage")
        return (rows[0][0], rows[0][2]) if rows[0][0] else (0, "")

    def summary(self, wanted: Filter, now: float) -> Summary:
        """Of all statuses, whichever is asked for: the counts are what people choose one by."""
        wanted = replace(wanted, status="")
        if wanted.is_counted:
            where, values = self._where_counted(wanted, now)
            columns = "sum(runs), sum(blocked), sum(unanswered), sum(failed), sum(timed_out)"
            query = f"SELECT hour * {HOUR}, {columns} FROM tally WHERE {where} GROUP BY hour ORDER BY hour"
            return _summary(self._ask(query, values), HOUR, wanted, now)
        where, values = self._where(wanted, now)
        step = MINUTE if wanted.since == "1h" else HOUR
        columns = (
            f"count(*), sum(flags & {BLOCKED} != 0), sum(flags & {UNANSWERED} != 0), sum(flags & {FAILED} != 0),"
            f" sum(flags & {TIMED_OUT} != 0)"
        )
        query = (
            f"SELECT CAST(at / {step} AS INTEGER) * {step} AS begins, {columns} FROM run WHERE {where}"
            f" AND NOT flags & {NOT_RUN} GROUP BY begins ORDER BY begins"
        )
        return _summary(self._ask(query, values), step, wanted, now)

    def _where_counted(self, wanted: Filter, now: float) -> tuple[str, list[object]]:
        conditions, values = ["hour >= ?"], [int(wanted.begins(now)) // HOUR]
        parameters: list[object] = [*values]
        if wanted.hook:
            conditions.append("hook IN (SELECT id FROM hook WHERE name = ?)")
            parameters.append(wanted.hook)
        for kind in ("agent", "machine", "event"):
            if text := getattr(wanted, kind):
                conditions.append(f"{kind} = (SELECT id FROM word WHERE kind = '{kind}' AND text = ?)")
                parameters.append(text)
        return " AND ".join(conditions), parameters

    def hooks(self, wanted: Filter, now: float) -> list[HookTimes]:
        """Each hook with its verdicts and times, the most runs first."""
        where, values = self._where_counted(wanted, now)
        counts = self._ask(
            "SELECT hook.id, name, source, dialect, type, sum(runs), sum(blocked), sum(unanswered), sum(failed),"
            " sum(timed_out), sum(passes), sum(allows), sum(asks), sum(others), max(last)"
            f" FROM tally JOIN hook ON hook.id = tally.hook WHERE {where} GROUP BY hook.id ORDER BY sum(runs) DESC",
            values,
        )
        spent: dict[int, list[tuple[int, int]]] = {}
        for hook, bucket, number in self._spent("hook", wanted, now):
            spent.setdefault(hook, []).append((bucket, number))
        names = HookTimes.__struct_fields__
        found: list[HookTimes] = []
        for number, *facts in counts:
            p50, p95 = percentiles(spent.get(number, ()))
            found.append(HookTimes(**dict(zip(names, facts, strict=False)), p50=p50, p95=p95))
        return found

    def times(self, wanted: Filter, now: float) -> list[tuple[int, float, float]]:
        """p50 and p95 of the wanted hooks over time: by the hour; for one agent or machine by the day."""
        hours: dict[int, list[tuple[int, int]]] = {}
        for hour, bucket, number in self._spent("hour", wanted, now):
            hours.setdefault(hour, []).append((bucket, number))
        return [(hour * HOUR, *percentiles(buckets)) for hour, buckets in hours.items()]

    def _spent(self, by: str, wanted: Filter, now: float) -> list[tuple[Any, ...]]:
        """How many durations there were in each bucket, by hook or by hour."""
        wanted = replace(wanted, event="")
        if wanted.since in ("1h", "24h"):
            where, values = self._where(replace(wanted, status="", q="", session="", project=""), now)
            group = f"CAST(at / {HOUR} AS INTEGER)" if by == "hour" else by
            table, number, where = (
                "run",
                "count(*)",
                f"{where} AND bucket IS NOT NULL AND NOT flags & {NOT_RUN}",
            )
        else:
            where, values = self._where_counted(wanted, now)
            whole = by == "hour" and not wanted.agent and not wanted.machine
            group, table, number = by, "spent" if whole else "spent_day", "sum(n)"
        query = f"SELECT {group} AS place, bucket, {number} FROM {table} WHERE {where} GROUP BY place, bucket"
        return self._ask(f"{query} ORDER BY place, bucket", values)

    def open_passes(self, wanted: Filter, now: float) -> list[OpenPass]:
        where, values = self._where_counted(wanted, now)
        rows = self._ask(
            "SELECT hook.name, hook.source, a.text, m.text, sum(runs), sum(unanswered), sum(timed_out) FROM tally"
            " JOIN hook ON hook.id = tally.hook JOIN word a ON a.id = agent JOIN word m ON m.id = machine"
            f" WHERE {where} GROUP BY tally.hook, agent, machine HAVING sum(unanswered) ORDER BY sum(unanswered) DESC",
            values,
        )
        return [OpenPass(*row) for row in rows]

    def sessions(self, wanted: Filter, now: float, most: int) -> list[SessionRow]:
        conditions, values = ["last >= ?"], [wanted.begins(now)]
        parameters: list[object] = [*values]
        for kind in ("agent", "machine", "project"):
            if text := getattr(wanted, kind):
                conditions.append(
                    f"session.{kind} = (SELECT id FROM word WHERE kind = '{kind}' AND text = ?)"
                )
                parameters.append(text)
        if wanted.q:
            conditions.append("(s.text LIKE ? OR p.text LIKE ?)")
            parameters += [f"{wanted.q}%", f"%{wanted.q}%"]
        if wanted.status in ("blocked", "unanswered", "failed"):
            conditions.append(f"session.{wanted.status} > 0")
        rows = self._ask(
            "SELECT s.text, m.text, a.text, p.text, min(first), max(last), sum(runs), sum(blocked), sum(unanswered),"
            " sum(failed) FROM session JOIN word s ON s.id = session.session JOIN word m ON m.id = session.machine"
            " JOIN word a ON a.id = session.agent JOIN word p ON p.id = session.project"
            f" WHERE {' AND '.join(conditions)} GROUP BY session.session, session.machine"
            " ORDER BY max(last) DESC LIMIT ?",
            [*parameters, most],
        )
        return [SessionRow(*row) for row in rows]


def percentiles(buckets: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """p50 and p95 of durations that were counted by bucket, shortest first."""
    whole = sum(number for _, number in buckets)
    found: list[float] = []
    for share in (0.5, 0.95):
        left = whole * share
        for bucket, number in buckets:
            left -= number
            if left <= 0:
                found.append(milliseconds_of(bucket))
                break
        else:
            found.append(0.0)
    return found[0], found[1]


def _summary(rows: Sequence[tuple[int, ...]], step: int, wanted: Filter, now: float) -> Summary:
    """The counts with the times at which there was nothing, in as many points as can be drawn."""
    totals = Totals(*(sum(row[column] for row in rows) for column in range(1, 6)))
    if not rows:
        return Summary(totals, step, ())
    first = int(wanted.begins(now)) or rows[0][0]
    last = max(int(now), rows[-1][0])
    while (last - first) // step > _MOST_POINTS:
        step *= 2
    first = first // step * step
    points = [[first + number * step, 0, 0, 0, 0] for number in range((last - first) // step + 1)]
    for row in rows:
        point = points[max((row[0] - first) // step, 0)]
        for column in range(1, 5):
            point[column] += row[column]
    return Summary(totals, step, [(a, b, c, d, e) for a, b, c, d, e in points])
