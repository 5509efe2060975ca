"""Query the index: runs by filter, counts per hour, times per hook, sessions."""

import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.team.console.filter import FILTER_WORDS, MINUTE, SEARCHED, STATUS_CONDITIONS, PageFilter
from hookline.team.console.index import (
    BLOCKED,
    FAILED,
    FAILED_OPEN,
    HOUR,
    NOT_RUN,
    SLOW_MS,
    STATUSES,
    TIMED_OUT,
    WOULD_BLOCK,
    Index,
    milliseconds_of,
)

PAGE: Final = 50
_MOST_POINTS: Final = 240
_ROW = (
    "SELECT n, segment.source, segment.name, run.offset, nth, at, hook.name, hook.source, hook.dialect, e.text, s.text,"
    " a.text, p.text, m.text, c.text, r.text, status, decision, flags, ms FROM run JOIN hook ON hook.id = run.hook"
    " JOIN segment ON segment.id = run.segment"
    " JOIN word e ON e.id = run.event JOIN word s ON s.id = run.session JOIN word a ON a.id = run.agent"
    " JOIN word p ON p.id = run.project JOIN word m ON m.id = run.machine JOIN word c ON c.id = run.call"
    " JOIN word r ON r.id = run.reason"
)
#: Runs on one call are closer together, in seconds.
CALLS_APART: Final = 2.0
_SEARCHES: Final = {
    "hook": "hook IN (SELECT id FROM hook WHERE name LIKE ? ESCAPE '\\')",
    **{
        kind: f"run.{kind} IN (SELECT id FROM word WHERE kind = '{kind}' AND text LIKE ? ESCAPE '\\')"
        for kind in SEARCHED
        if kind != "hook"
    },
}
_SEARCHED_EVERYWHERE: Final = ("call", "hook", "reason")


class IndexAwayError(Exception):
    """An error while the index is being built and cannot be read."""


class RunRow(Struct, frozen=True):
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
    #: The reason of its decision, or what went wrong.
    reason: str
    status_number: int
    decision: int
    flags: int
    ms: float

    @property
    def status(self) -> str:
        return STATUSES[self.status_number]

    @property
    def address(self) -> str:
        more = f".{self.nth}" if self.nth else ""
        return f"/run/{self.segment}/{self.offset}{more}"


class ConsoleTotals(Struct):
    runs: int = 0
    blocked: int = 0
    failed_open: int = 0
    failed: int = 0
    timed_out: int = 0
    would_have_blocked: int = 0
    slow: int = 0


class Summary(Struct, frozen=True):
    totals: ConsoleTotals
    #: Seconds between two points.
    step: int
    #: The begin of each point, and its counts: runs, blocked, failed open, failed, timed out, would have blocked.
    points: Sequence[tuple[int, ...]]


class HookTimes(Struct, kw_only=True):
    """One hook, in numbers."""

    name: str
    source: str
    dialect: str
    type: str
    runs: int
    blocked: int
    failed_open: int
    failed: int
    timed_out: int
    would_have_blocked: int
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
    failed_open: int
    failed: int


class OpenPass(Struct, frozen=True):
    """A hook that failed open, in one agent."""

    hook: str
    source: str
    agent: str
    machine: str
    runs: int
    failed_open: int
    timed_out: int


class ProblemRow(Struct, frozen=True):
    """Failures of one hook with one message."""

    hook: str
    source: str
    status: str
    message: str
    count: int
    first: float
    last: float
    machines: int
    failed_open: int
    #: The newest run of them.
    newest: int


class Choices(Struct, frozen=True):
    """Choices that the filter offers."""

    hooks: Sequence[str]
    agents: Sequence[str]
    events: Sequence[str]
    machines: Sequence[str]


class Queries:
    """Readers of the index. Each thread has its own connection, which follows a file that is replaced."""

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
        """An id that changes when the index is rebuilt and its numbers begin again."""
        return str(self._ask("SELECT id FROM born")[0][0])

    def newest(self) -> int:
        return self._ask("SELECT coalesce(max(n), 0) FROM run")[0][0]

    def page(self, wanted: PageFilter, now: float, most: int = PAGE) -> list[RunRow]:
        where, values = self._where(wanted, now)
        if wanted.before:
            where = f"{where} AND (at, n) < (SELECT at, n FROM run WHERE n = ?)"
            values = [*values, wanted.before]
        # Chosen first, and then looked up: a filter can match most of them. By time: machines are read one by one.
        chosen = f"SELECT n FROM run WHERE {where} ORDER BY at DESC, n DESC LIMIT ?"
        rows = self._ask(f"{_ROW} WHERE n IN ({chosen}) ORDER BY at DESC, n DESC", [*values, most])
        return [RunRow(*row) for row in rows]

    def after(self, n: int, most: int) -> list[RunRow]:
        """Return the newest runs after one, oldest first."""
        rows = self._ask(f"{_ROW} WHERE n > ? ORDER BY n DESC LIMIT ?", (n, most))
        return [RunRow(*row) for row in reversed(rows)]

    def of_session(self, session: str, machine: str, most: int) -> list[RunRow]:
        """Return the first runs of a session, in order."""
        wanted = PageFilter(session=session, machine=machine, since="all")
        where, values = self._where(wanted, 0.0)
        rows = self._ask(f"{_ROW} WHERE {where} ORDER BY at, n LIMIT ?", [*values, most])
        return [RunRow(*row) for row in rows]

    def at(self, segment: str, offset: int, nth: int) -> RunRow | None:
        where = "run.segment = (SELECT id FROM segment WHERE name = ?) AND run.offset = ? AND nth = ?"
        query = f"{_ROW} WHERE {where} LIMIT 1"
        rows = self._ask(query, (segment, offset, nth))
        return RunRow(*rows[0]) if rows else None

    def _where(self, wanted: PageFilter, now: float) -> tuple[str, list[object]]:
        conditions = ["1"]
        values: list[object] = []
        begins = wanted.begins(now)
        if begins:
            conditions.append("at >= ?")
            values.append(begins)
        if (ends := wanted.ends) is not None:
            conditions.append("at < ?")
            values.append(ends)
        if wanted.hook:
            conditions.append("+hook IN (SELECT id FROM hook WHERE name = ?)")
            values.append(wanted.hook)
        for kind in FILTER_WORDS:
            if text := getattr(wanted, kind):
                conditions.append(f"run.{kind} = (SELECT id FROM word WHERE kind = '{kind}' AND text = ?)")
                values.append(text)
        for where, text in wanted.terms:
            like = "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"
            places = (where,) if where else _SEARCHED_EVERYWHERE
            conditions.append(f"({' OR '.join(_SEARCHES[each] for each in places)})")
            values += [like] * len(places)
        if wanted.status:
            conditions.append(STATUS_CONDITIONS[wanted.status])
        return " AND ".join(conditions), values

    def of_call(self, row: RunRow) -> list[RunRow]:
        """Return all runs of the call that a run is about: the same session, event and input, close in time."""
        where = "at BETWEEN ? AND ? AND s.text = ? AND e.text = ? AND c.text = ? AND m.text = ?"
        values = (row.at - CALLS_APART, row.at + CALLS_APART, row.session, row.event, row.call, row.machine)
        return [RunRow(*each) for each in self._ask(f"{_ROW} WHERE {where} ORDER BY at, n LIMIT 100", values)]

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
        """Return how many lines of journals could not be read, and the last problem."""
        rows = self._ask("SELECT count(*), max(rowid), problem FROM damage")
        return (rows[0][0], rows[0][2]) if rows[0][0] else (0, "")

    def summary(self, wanted: PageFilter, now: float) -> Summary:
        """Count all statuses, whichever is selected: people choose one by these counts."""
        wanted = replace(wanted, status="")
        if wanted.is_counted:
            where, values = self._where_counted(wanted, now)
            columns = ", ".join(f"sum({name})" for name in ConsoleTotals.__struct_fields__)
            query = f"SELECT hour * {HOUR}, {columns} FROM tally WHERE {where} GROUP BY hour ORDER BY hour"
            return _summary(self._ask(query, values), HOUR, wanted, now)
        where, values = self._where(wanted, now)
        step = MINUTE if wanted.is_short else HOUR
        columns = (
            f"count(*), sum(flags & {BLOCKED} != 0), sum(flags & {FAILED_OPEN} != 0), sum(flags & {FAILED} != 0),"
            f" sum(flags & {TIMED_OUT} != 0), sum(flags & {WOULD_BLOCK} != 0), sum(ms >= {SLOW_MS})"
        )
        query = (
            f"SELECT CAST(at / {step} AS INTEGER) * {step} AS begins, {columns} FROM run WHERE {where}"
            f" AND NOT flags & {NOT_RUN} GROUP BY begins ORDER BY begins"
        )
        return _summary(self._ask(query, values), step, wanted, now)

    def _where_counted(self, wanted: PageFilter, now: float) -> tuple[str, list[object]]:
        conditions, values = ["hour >= ?"], [int(wanted.begins(now)) // HOUR]
        parameters: list[object] = [*values]
        if (ends := wanted.ends) is not None:
            conditions.append("hour < ?")
            parameters.append(-int(-ends // HOUR))
        if wanted.hook:
            conditions.append("hook IN (SELECT id FROM hook WHERE name = ?)")
            parameters.append(wanted.hook)
        for kind in ("agent", "machine", "event"):
            if text := getattr(wanted, kind):
                conditions.append(f"{kind} = (SELECT id FROM word WHERE kind = '{kind}' AND text = ?)")
                parameters.append(text)
        return " AND ".join(conditions), parameters

    def hooks(self, wanted: PageFilter, now: float) -> list[HookTimes]:
        """Return each hook with its decisions and times, the most runs first."""
        where, values = self._where_counted(wanted, now)
        counts = self._ask(
            "SELECT hook.id, name, source, dialect, type, sum(runs), sum(blocked), sum(failed_open), sum(failed),"
            " sum(timed_out), sum(would_have_blocked), sum(passes), sum(allows), sum(asks), sum(others), max(last)"
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

    def times(self, wanted: PageFilter, now: float) -> list[tuple[int, float, float]]:
        """Return p50 and p95 of the wanted hooks over time: by the hour; for one agent or machine by the day."""
        hours: dict[int, list[tuple[int, int]]] = {}
        for hour, bucket, number in self._spent("hour", wanted, now):
            hours.setdefault(hour, []).append((bucket, number))
        return [(hour * HOUR, *percentiles(buckets)) for hour, buckets in hours.items()]

    def _spent(self, by: str, wanted: PageFilter, now: float) -> list[tuple[Any, ...]]:
        """Count durations by bucket, and by hook or by hour."""
        wanted = replace(wanted, event="")
        if wanted.is_short or wanted.since == "24h":
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
        query = f"SELECT {group} AS part, bucket, {number} FROM {table} WHERE {where} GROUP BY part, bucket"
        return self._ask(f"{query} ORDER BY part, bucket", values)

    def problems(self, wanted: PageFilter, now: float, most: int) -> list[ProblemRow]:
        """Return failures, one per hook, status and message, the most frequent first."""
        where, values = self._where(wanted, now)
        rows = self._ask(
            "SELECT h.name, h.source, status, r.text, count(*), min(at), max(at), count(DISTINCT machine),"
            f" sum(flags & {FAILED_OPEN} != 0), max(n) FROM run JOIN hook h ON h.id = run.hook"
            f" JOIN word r ON r.id = run.reason WHERE {where} AND flags & {FAILED | FAILED_OPEN}"
            " GROUP BY run.hook, status, run.reason ORDER BY count(*) DESC LIMIT ?",
            [*values, most],
        )
        named = [(name, file, STATUSES[int(status)], *rest) for name, file, status, *rest in rows]
        return [ProblemRow(*row) for row in named]

    def open_passes(self, wanted: PageFilter, now: float) -> list[OpenPass]:
        where, values = self._where_counted(wanted, now)
        rows = self._ask(
            "SELECT hook.name, hook.source, a.text, m.text, sum(runs), sum(failed_open), sum(timed_out) FROM tally"
            " JOIN hook ON hook.id = tally.hook JOIN word a ON a.id = agent JOIN word m ON m.id = machine"
            f" WHERE {where} GROUP BY tally.hook, agent, machine HAVING sum(failed_open)"
            " ORDER BY sum(failed_open) DESC",
            values,
        )
        return [OpenPass(*row) for row in rows]

    def sessions(self, wanted: PageFilter, now: float, most: int) -> list[SessionRow]:
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
        if wanted.status in ("blocked", "failed_open", "failed"):
            conditions.append(f"session.{wanted.status} > 0")
        rows = self._ask(
            "SELECT s.text, m.text, a.text, p.text, min(first), max(last), sum(runs), sum(blocked), sum(failed_open),"
            " sum(failed) FROM session JOIN word s ON s.id = session.session JOIN word m ON m.id = session.machine"
            " JOIN word a ON a.id = session.agent JOIN word p ON p.id = session.project"
            f" WHERE {' AND '.join(conditions)} GROUP BY session.session, session.machine"
            " ORDER BY max(last) DESC LIMIT ?",
            [*parameters, most],
        )
        return [SessionRow(*row) for row in rows]


def percentiles(buckets: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return p50 and p95 of durations counted by bucket, shortest first."""
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


def _summary(rows: Sequence[tuple[int, ...]], step: int, wanted: PageFilter, now: float) -> Summary:
    """Fill gaps between counts with zeros, in as many points as can be drawn."""
    columns = range(1, 1 + len(ConsoleTotals.__struct_fields__))
    totals = ConsoleTotals(*(sum(row[column] for row in rows) for column in columns))
    if not rows:
        return Summary(totals, step, ())
    first = int(wanted.begins(now)) or rows[0][0]
    ends = wanted.ends
    last = max(int(now), rows[-1][0]) if ends is None else max(int(ends) - 1, first)
    while (last - first) // step > _MOST_POINTS:
        step *= 2
    first = first // step * step
    points = [[first + number * step, *(0 for _ in columns)] for number in range((last - first) // step + 1)]
    for row in rows:
        point = points[min(max((row[0] - first) // step, 0), len(points) - 1)]
        for column in columns:
            point[column] += row[column]
    return Summary(totals, step, [tuple(point) for point in points])
