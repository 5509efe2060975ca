"""The index: it says what the journal says, whatever becomes of either of them."""

import os
import sqlite3
import stat
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.journal.file import JournalFile, encoded, rotate
from hookline.model.run import Called, Run
from hookline.team.console.filter import PageFilter
from hookline.team.console.index import Index
from hookline.team.console.queries import IndexAwayError, Queries
from hookline.team.console.source import JournalEntry, JournalSource, Segment
from tests.team.console.sample import sample_runs

NOW = time.time()
ALL = PageFilter(since="all")


class Desk:
    """A journal, its index, and what was said about them."""

    def __init__(self, directory: Path) -> None:
        self.journal = directory / "state" / "journal.jsonl"
        self.path = directory / "state" / "console" / "index.sqlite"
        self.said: list[str] = []
        self.source = JournalSource(str(self.journal), "box")
        self.index = Index(str(self.path), [self.source], self.said.append)
        self.queries = Queries(self.index)

    def write(self, *runs: Run) -> None:
        file = JournalFile(str(self.journal))
        for run in runs:
            file.append(run)
        assert file.problems == ()
        file.close()

    def hooks(self, wanted: PageFilter = ALL) -> list[str]:
        """The hooks of the runs that it finds, oldest first, read from the journal."""
        self.index.update()
        rows = reversed(self.queries.page(wanted, NOW, 1000))
        found = [self.source.run(row.segment, row.offset, row.nth) for row in rows]
        return [run.hook if run is not None else "?" for run in found]

    def totals(self) -> tuple[int, ...]:
        totals = self.queries.summary(ALL, NOW).totals
        return totals.runs, totals.blocked, totals.failed_open, totals.failed, totals.timed_out


def _local(at: float) -> str:
    """Write a time as addresses have it."""
    return time.strftime("%Y-%m-%dT%H:%M", time.localtime(at))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.index.close()
    made.source.close()


def a_run(hook: str, ago: float = 60.0, **facts: Any) -> Run:
    return Run(hook=hook, at=NOW - ago, event="PreToolUse", session="s", duration_ms=2.0, **facts)


@pytest.mark.parametrize("since", ["all", "1h"])
def test_what_only_would_have_been_blocked_is_counted_apart(since: str, desk: Desk) -> None:
    """By the hour, and run by run."""
    desk.write(
        a_run("guard", status="blocked", decision="deny"),
        a_run("guard", status="blocked", decision="deny", mode="shadow"),
        a_run("guard", status="blocked", decision="deny", mode="paused"),
        a_run("guard", decision="ask", mode="shadow"),
        a_run("guard"),
    )
    desk.index.update()
    wanted = PageFilter(since=since)
    totals = desk.queries.summary(wanted, NOW).totals
    assert (totals.runs, totals.blocked, totals.would_have_blocked) == (5, 1, 2)
    (hook,) = desk.queries.hooks(wanted, NOW)
    assert (hook.blocked, hook.would_have_blocked, hook.asked, hook.passed) == (1, 2, 0, 2)
    assert len(desk.queries.page(PageFilter(since=since, status="would_have_blocked"), NOW, 10)) == 2
    assert len(desk.queries.page(PageFilter(since=since, status="blocked"), NOW, 10)) == 1
    (session,) = desk.queries.sessions(wanted, NOW, 10)
    assert session.blocked == 1


def test_counts_and_times_are_those_of_the_journal(desk: Desk) -> None:
    runs = list(sample_runs(3000, NOW))
    desk.write(*runs)
    assert desk.index.update()
    assert not desk.index.update(), "nothing is new"
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o600
    assert desk.totals() == (
        3000,
        sum(run.decision == "deny" for run in runs),
        sum(run.failed_open for run in runs),
        sum(run.status in ("failed", "timed_out") for run in runs),
        sum(run.status == "timed_out" for run in runs),
    )
    hooks = desk.queries.hooks(ALL, NOW)
    assert sum(hook.runs for hook in hooks) == 3000
    for hook in hooks:
        took = sorted(run.duration_ms for run in runs if run.hook == hook.name)
        assert hook.p50 == pytest.approx(statistics.median(took), rel=0.06)
        assert hook.p95 == pytest.approx(took[int(len(took) * 0.95)], rel=0.08)
    day = [run for run in runs if run.at >= (NOW - 86_400) // 3600 * 3600 and run.call.caller == "codex"]
    wanted_day = PageFilter(since="24h", agent="codex")
    assert {hook.name: hook.runs for hook in desk.queries.hooks(wanted_day, NOW)} == Counter(
        run.hook for run in day
    )
    for hook in desk.queries.hooks(wanted_day, NOW):
        took = [run.duration_ms for run in day if run.hook == hook.name]
        assert hook.p50 == pytest.approx(statistics.median_low(took), rel=0.06)
    assert len(desk.queries.times(ALL, NOW)) == len({int(run.at // 3600) for run in runs})
    by_agent = desk.queries.times(PageFilter(since="all", agent="codex"), NOW)
    assert len(by_agent) == len({int(run.at // 86_400) for run in runs if run.call.caller == "codex"})
    opened = {(each.hook, each.agent): each.failed_open for each in desk.queries.open_passes(ALL, NOW)}
    wanted: dict[tuple[str, str], int] = {}
    for run in runs:
        if run.failed_open:
            key = (run.hook, run.call.caller)
            wanted[key] = wanted.get(key, 0) + 1
    assert opened == wanted
    sessions = {row.session: row.runs for row in desk.queries.sessions(ALL, NOW, 10_000)}
    assert sum(sessions.values()) == 3000
    assert len(sessions) == len({run.session for run in runs})


def minute(at: float) -> float:
    return at // 60 * 60


def _searched(run: Run) -> str:
    return f"{run.call.tool} {run.call.input} {run.hook} {run.reason or run.detail}".lower()


def test_each_filter_finds_what_a_look_at_every_run_finds(desk: Desk) -> None:
    runs = list(sample_runs(1500, NOW))
    desk.write(*runs)
    desk.index.update()
    cases: dict[PageFilter, Callable[[Run], bool]] = {
        PageFilter(hook="audit"): lambda run: run.hook == "audit",
        PageFilter(agent="codex"): lambda run: run.call.caller == "codex",
        PageFilter(event="PostToolUse"): lambda run: run.event == "PostToolUse",
        PageFilter(session=runs[7].session): lambda run: run.session == runs[7].session,
        PageFilter(status="blocked"): lambda run: run.decision == "deny",
        PageFilter(status="failed_open"): lambda run: run.failed_open,
        PageFilter(status="asked", hook="audit"): lambda run: run.decision == "ask" and run.hook == "audit",
        PageFilter(q="call:PUSH call:force"): lambda run: "push" in run.call.input and "force" in run.call.input,
        PageFilter(q="PUSH force"): lambda run: all(word in _searched(run) for word in ("push", "force")),
        PageFilter(q="hook:audit reason:policy"): lambda run: run.hook == "audit" and "policy" in run.detail,
        PageFilter(q='reason:"ask a person"'): lambda run: "ask a person" in (run.reason or ""),
        PageFilter(q=f"session:{runs[7].session[:6]}"): lambda run: runs[7].session[:6] in run.session,
        PageFilter(status="slow"): lambda run: run.duration_ms >= 1000,
        PageFilter(start=_local(NOW - 7200), end=_local(NOW - 3600)): lambda run: (
            run.at + 60 >= NOW - 7200 and minute(NOW - 7200) <= run.at < minute(NOW - 3600)
        ),
        PageFilter(q="100%_"): lambda _run: False,
        PageFilter(machine="elsewhere"): lambda _run: False,
        PageFilter(since="1h"): lambda run: run.at >= (NOW - 3600) // 60 * 60,
        PageFilter(since="24h", q="push"): lambda run: (
            run.at >= (NOW - 86_400) // 3600 * 3600 and "push" in _searched(run)
        ),
    }  # fmt: skip
    for wanted, takes in cases.items():
        found = desk.queries.page(wanted, NOW, 2000)
        expected = [run for run in runs if takes(run)]
        assert [row.hook for row in reversed(found)] == [run.hook for run in expected], wanted
        if not wanted.status:
            assert desk.queries.summary(wanted, NOW).totals.runs == len(expected), wanted
    first = desk.queries.page(ALL, NOW, 10)
    rest = desk.queries.page(PageFilter(since="all", before=first[-1].n), NOW, 10)
    assert [row.n for row in (*first, *rest)] == list(range(1500, 1480, -1))


def test_a_rotated_journal_is_followed_and_what_is_gone_is_forgotten(desk: Desk) -> None:
    desk.write(a_run("one"), a_run("two"))
    assert desk.hooks() == ["one", "two"]
    rotate(str(desk.journal), 1)
    desk.write(a_run("three"), a_run("four"))
    assert desk.hooks() == ["one", "two", "three", "four"]
    rotate(str(desk.journal), 1)
    desk.write(a_run("five"))
    assert desk.hooks() == ["three", "four", "five"]
    assert desk.totals()[0] == 3
    assert desk.said == []


def test_a_journal_that_was_cut_or_rewritten_is_read_again(desk: Desk) -> None:
    desk.write(*(a_run(f"old {number}") for number in range(20)))
    assert len(desk.hooks()) == 20
    lines = desk.journal.read_bytes().splitlines(keepends=True)
    os.truncate(desk.journal, sum(map(len, lines[:5])))
    assert desk.hooks() == [f"old {number}" for number in range(5)]
    # Longer than it was, and another one behind the first line.
    more = [encoded(a_run(f"new {number}")) for number in range(30)]
    desk.journal.write_bytes(lines[0] + b"".join(more))
    assert desk.hooks() == ["old 0", *(f"new {number}" for number in range(30))]
    assert desk.totals()[0] == 31
    assert [line for line in desk.said if "was cut or rewritten" in line]
    desk.journal.write_bytes(b"")
    assert desk.hooks() == []
    desk.journal.unlink()
    assert desk.hooks() == []


def test_damaged_lines_are_counted_and_the_runs_around_them_found(desk: Desk) -> None:
    whole = encoded(a_run("before")) + b"\xff\xfe not a record\n" + encoded(a_run("torn"))[:40]
    desk.journal.parent.mkdir(parents=True)
    desk.journal.write_bytes(
        whole + encoded(a_run("behind")) + b"x" * 1_100_000 + b"\n" + encoded(a_run("after"))
    )
    assert desk.hooks() == ["before", "behind", "after"]
    number, problem = desk.queries.damage()
    assert number == 3
    assert "longer than" in problem
    with desk.journal.open("ab") as file:
        file.write(encoded(a_run("half"))[:50])
        file.flush()
        assert desk.hooks() == ["before", "behind", "after"], "its rest may come"
        file.write(encoded(a_run("half"))[50:])
    assert desk.hooks() == ["before", "behind", "after", "half"]
    assert desk.queries.damage()[0] == 3


def test_an_index_that_is_damaged_old_or_gone_is_made_anew_and_that_is_said(desk: Desk) -> None:
    desk.write(a_run("one"))
    assert desk.hooks() == ["one"]
    born = desk.queries.born()
    for ending in ("", "-wal"):
        Path(f"{desk.path}{ending}").write_bytes(b"garbage" * 1000)
    desk.write(a_run("two"))
    with pytest.raises(IndexAwayError):
        Queries(desk.index).page(ALL, NOW)
    desk.index.update()
    assert desk.hooks() == ["one", "two"]
    assert "rebuilt from the journal" in desk.said[-1]
    assert desk.queries.born() != born, "its numbers begin again"
    desk.index.close()
    with sqlite3.connect(desk.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    desk.write(a_run("three"))
    desk.index.update()
    assert desk.hooks() == ["one", "two", "three"]
    assert "version 99" in desk.said[-1]
    desk.path.unlink()
    assert desk.hooks() == ["one", "two", "three"]


def test_an_index_that_cannot_be_written_is_said_once_and_tried_again(desk: Desk) -> None:
    desk.write(a_run("one"))
    desk.path.parent.mkdir()
    desk.path.mkdir()
    assert not desk.index.update()
    assert not desk.index.update()
    (said,) = desk.said
    assert "index.sqlite cannot be used: Is a directory" in said
    desk.path.rmdir()
    assert desk.hooks() == ["one"]


def test_two_consoles_share_an_index(desk: Desk, tmp_path: Path) -> None:
    desk.write(a_run("one"))
    other = Desk(tmp_path)
    assert desk.hooks() == other.hooks() == ["one"]
    desk.write(a_run("two"))
    assert other.hooks() == ["one", "two"]
    desk.write(a_run("three"))
    assert desk.hooks() == ["one", "two", "three"]
    assert desk.totals()[0] == 3
    other.index.close()
    other.source.close()


class Fleet:
    """Runs of several machines, as a stream has them."""

    name, local = "audit", False

    def __init__(self, *runs: tuple[str, Run]) -> None:
        self.runs = list(runs)

    def segments(self) -> list[Segment]:
        return [Segment("stream-1", len(self.runs))]

    def entries(self, segment: str, offset: int) -> Iterator[JournalEntry]:
        assert segment == "stream-1"
        for number, (machine, run) in enumerate(self.runs[offset:], offset):
            yield JournalEntry(number, 0, number + 1, machine, run)

    def run(self, segment: str, offset: int, nth: int) -> Run | None:
        assert (segment, nth) == ("stream-1", 0)
        return self.runs[offset][1] if offset < len(self.runs) else None

    def seam(self, segment: str, offset: int) -> int:
        assert segment == "stream-1"
        return 0 * offset

    def notes(self) -> list[str]:
        return []

    def close(self) -> None: ...


def test_runs_of_many_machines_come_from_another_source_beside_the_journal(
    desk: Desk, tmp_path: Path
) -> None:
    desk.write(a_run("here"))
    fleet = Fleet(("ada", a_run("x")), ("bob", a_run("y", call=Called(tool="Bash"))))
    index = Index(str(tmp_path / "team.sqlite"), [desk.source, fleet], desk.said.append)
    index.update()
    queries = Queries(index)
    assert [(row.machine, row.hook) for row in queries.page(ALL, NOW)] == [
        ("bob", "y"),
        ("ada", "x"),
        ("box", "here"),
    ]
    assert queries.choices().machines == ["ada", "bob", "box"]
    wanted = PageFilter(machine="bob", since="all")
    (row,) = queries.page(wanted, NOW)
    assert index.sources[row.origin].run(row.segment, row.offset, row.nth) == fleet.runs[1][1]
    assert queries.summary(wanted, NOW).totals.runs == 1
    fleet.runs.append(("ada", a_run("z")))
    index.update()
    assert [row.hook for row in queries.page(PageFilter(machine="ada"), NOW)] == ["z", "x"]
    fleet.runs.append(("ada", a_run("sent late", ago=5000)))
    index.update()
    rows = queries.page(ALL, NOW)
    assert [row.hook for row in rows] == ["z", "y", "x", "here", "sent late"], "by time, not by arrival"
    following = queries.page(PageFilter(since="all", before=rows[1].n), NOW)
    assert [row.hook for row in following] == ["x", "here", "sent late"]
    index.close()
