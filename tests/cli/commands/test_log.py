"""`hookline log`: the journal, filtered and counted."""

import json
import os
import re
from pathlib import Path

import pytest

from hookline.cli.commands.log.report import clock
from hookline.cli.commands.log.run import RunFilter
from hookline.cli.requests import RequestError
from hookline.cli.times import parse_since
from hookline.extending import JournalFile
from tests.cli.golden import check_golden
from tests.cli.journals import STORY, a_run, journal_of, write_runs
from tests.cli.published_schema import valid_document
from tests.cli.run_cli import Ran, Workspace, run_cli, run_here
from tests.every import every


class Log:
    """`hookline log` in this process."""

    def __init__(
        self, where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._with = (where, capsys, monkeypatch)

    def __call__(self, *words: str) -> Ran:
        return run_here(["log", *words], *self._with)

    def hooks(self, *words: str) -> list[str]:
        ran = self(*words, "--json")
        assert ran.status == 0, ran.stderr
        return [run["hook"] for run in valid_document("log", ran.stdout)["runs"]]


@pytest.fixture
def log(where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Log:
    return Log(where, capsys, monkeypatch)


def test_without_a_journal_it_says_where_one_would_be(where: Workspace, log: Log) -> None:
    ran = log()
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("log_none.txt", ran.stdout)
    document = valid_document("log", log("--json").stdout)
    assert (document["exists"], document["journal"], document["runs"]) == (False, journal_of(where), [])


def test_runs_are_shown_newest_last_with_what_became_of_them(where: Workspace) -> None:
    write_runs(where, *STORY)
    ran = run_cli(["log"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("log.txt", ran.stdout)


def test_counts_are_a_table_of_the_hooks(where: Workspace, log: Log) -> None:
    write_runs(where, *STORY)
    check_golden("log_counts.txt", log("--counts").stdout)
    lint = next(each for each in json.loads(log("--json").stdout)["hooks"] if each["hook"] == "lint")
    assert lint == {
        "hook": "lint", "source": "", "dialect": "codewhale", "runs": 2, "blocked": 0,
        "would_have_blocked": 0, "failed": 1, "failed_open": 1,
        "times": {"count": 2, "p50_ms": 13.0, "p95_ms": 14.0, "worst_ms": 14.0, "total_ms": 26.0},
    }  # fmt: skip


def test_times_are_a_table_of_the_hooks_that_took_the_most_time_first(where: Workspace, log: Log) -> None:
    took = [("quick", 1.0), ("quick", 3.0), ("slow", 500.0), ("slow", 100.0), ("slow", 200.0)]
    write_runs(where, *(a_run(name, duration_ms=each) for name, each in took))
    heads, slow, quick, *_ = log("--times").stdout.splitlines()
    assert heads.split() == ["HOOK", "RUNS", "P50", "P95", "WORST", "TOTAL", "SOURCE"]
    assert re.split(" {2,}", slow)[:6] == ["slow", "3", "200 ms", "500 ms", "500 ms", "800 ms"]
    assert re.split(" {2,}", quick)[:6] == ["quick", "2", "2.0 ms", "3.0 ms", "3.0 ms", "4.0 ms"]
    assert re.split(" {2,}", log("--times", "--hook", "slow").stdout.splitlines()[1])[0] == "slow"


@pytest.mark.parametrize(
    ("words", "hooks"),
    [
        (["--decision", "deny"], ["no force push", "scan"]),
        (["--decision", "block"], ["no force push", "scan"]),
        (["--decision", "ask", "--decision", "allow"], ["ask first", "try it"]),
        (["--decision", "pass"], ["date", "lint"]),
        (["--status", "blocked"], ["no force push"]),
        (["--status", "failed", "--status", "timed_out"], ["lint", "scan"]),
        (["--status", "failed_open"], ["lint"]),
        (["--event", "UserPromptSubmit"], ["date"]),
        (["--event", "posttooluse"], ["lint", "lint"]),
        (["--event", "tool_call_after"], ["lint", "lint"]),
        (["--hook", "PUSH"], ["no force push"]),
        (["--hook", "hooks.toml:6"], ["no force push"]),
        (["--hook", "hookline"], []),
        (["--session", "s-2"], ["ask first"]),
        (["--session", "s-"], [each.hook for each in STORY]),
        (["--call", "bash"], ["no force push", "ask first"]),
        (["--call=--force", "--call", "CART.py"], ["no force push", "lint"]),
        (["--from", "claude-code"], ["no force push"]),
        (["--from", "agent"], ["lint"]),
        (["--from", "fire"], ["ask first"]),
        (["--from", "shop"], ["ask first", "lint"]),
        (["--from", "/src/"], ["ask first", "lint"]),
        (["--from", "/src/sho"], []),
        (["--from", "/src/../p", "--call", "push"], ["no force push"]),
        (["--since", "25m"], ["lint", "scan", "lint", "try it"]),
        (["--since", "25m", "--hook", "lint", "--status", "ok"], ["lint"]),
        (["--since", "2000-01-01"], [each.hook for each in STORY]),
        (["--limit", "2"], ["lint", "try it"]),
        (["--limit", "0"], [each.hook for each in STORY]),
    ],
)  # fmt: skip
def test_filters_let_through_what_they_name(
    where: Workspace, log: Log, words: list[str], hooks: list[str]
) -> None:
    write_runs(where, *STORY)
    assert log.hooks(*words) == hooks


def test_only_what_went_through_is_unanswered(where: Workspace, log: Log) -> None:
    write_runs(
        where,
        a_run("closed", status="failed", decision="deny"),
        a_run("open", status="failed", failed_open=True),
    )
    assert log.hooks("--status", "failed_open") == ["open"]


def test_what_the_limit_leaves_out_is_still_counted(where: Workspace, log: Log) -> None:
    write_runs(where, *(a_run(failed_open=number % 10 == 0) for number in range(200)))
    ran = log()
    assert ran.stdout.count("guard") == 50
    assert ran.stdout.endswith("50 of 200 runs: 0 blocked, 0 failed, 20 failed open\n")


def test_nothing_like_that_is_said(where: Workspace, log: Log) -> None:
    write_runs(where, *STORY)
    ran = log("--hook", "nobody")
    assert (ran.status, ran.stdout.split()[0]) == (0, "no")


def test_an_event_that_is_misspelt_says_the_nearest(where: Workspace, log: Log) -> None:
    write_runs(where, *STORY)
    ran = log("--event", "PreTolUse")
    assert (ran.status, ran.stdout.split()[0]) == (0, "no")
    assert ran.stderr.endswith("no run of an event called 'PreTolUse'; did you mean 'PreToolUse'?\n")


@pytest.mark.parametrize(
    ("words", "translated"),
    [
        (["--since", "soon"], "--since 'soon' is not a time: say 90s, 30m, 2h"),
        (["--since", "99999999999999d"], "is not a time"),
        (["--since", "2026-13-01"], "is not a time"),
        (["--limit", "-3"], "--limit -3: say how many, or 0 for all"),
        (["--limit", "few"], "invalid int value"),
        (["--decision", "dney"], "invalid choice: 'dney'"),
        (["--status", "great"], "invalid choice: 'great'"),
    ],
)
def test_what_cannot_be_understood_is_one_clear_line(log: Log, words: list[str], translated: str) -> None:
    ran = log(*words)
    assert (ran.status, ran.stdout) == (1, "")
    assert translated in ran.stderr


def test_a_torn_tail_is_said_and_the_rest_shown(where: Workspace, log: Log) -> None:
    path = write_runs(where, *STORY[:2])
    with open(path, "ab") as stream:
        stream.write(b'{"v":1,"hook":"ha')
    ran = log()
    assert ran.status == 0
    assert "no force push" in ran.stdout
    assert f"{path}: line 3: not a whole record" in ran.stderr
    assert valid_document("log", log("--json").stdout)["damage"]


def test_damage_without_end_is_told_in_a_few_lines(where: Workspace, log: Log) -> None:
    path = write_runs(where, STORY[0])
    Path(path).write_bytes(b"rubbish\n" * 500)
    ran = log()
    assert ran.status == 0
    assert ran.stderr.count("\n") == 6
    assert ran.stderr.endswith("and 495 more damaged lines\n")


def test_what_was_moved_aside_comes_first(where: Workspace, log: Log) -> None:
    path = write_runs(where, a_run("old", 900))
    os.rename(path, f"{path}.1")
    assert log.hooks() == ["old"]
    write_runs(where, a_run("new"))
    assert log.hooks() == ["old", "new"]
    os.utime(f"{path}.1", (1, 1))
    assert log.hooks("--since", "1d") == ["new"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_journal_that_may_not_be_read_is_a_problem(where: Workspace, log: Log) -> None:
    os.chmod(write_runs(where, *STORY), 0)
    ran = log()
    assert ran.status == 1
    assert "cannot be read" in ran.stderr


def test_a_directory_in_place_of_the_journal_is_a_problem(where: Workspace, log: Log) -> None:
    os.makedirs(journal_of(where))
    ran = log()
    assert ran.status == 1
    assert "the journal cannot be read" in ran.stderr


def test_background_and_skipped_records_are_no_runs(where: Workspace, log: Log) -> None:
    write_runs(where, a_run(status="background", run_id="1"), a_run(run_id="1"), a_run(status="skipped"))
    assert valid_document("log", log("--json").stdout)["totals"]["runs"] == 1


@pytest.mark.parametrize("at", [0.0, -5.0, 1e300, float("inf"), float("nan")])
def test_any_number_is_a_time_or_a_dash(at: float) -> None:
    assert clock(at) == "-"


@pytest.mark.parametrize(
    ("text", "at"),
    [("90s", 910.0), ("10m", 400.0), ("0h", 1000.0), (" 1m ", 940.0), ("1970-01-01T00:00:05+00:00", 5.0)],
)
def test_times_are_ago_or_dates(text: str, at: float) -> None:
    assert parse_since(text, 1000.0) == at


@every("text", ["", "h", "2", "2y", "-2h", "1.5h", "2 h", "yesterday", "\x1b[31m"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="is not a time"):
        parse_since(text, 1000.0)


def test_without_filters_everything_is_wanted() -> None:
    assert all(RunFilter().takes(run) for run in STORY)


@pytest.mark.parametrize("columns", [40, 72, 100, 160])
def test_lines_fit_the_width(
    where: Workspace, log: Log, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    write_runs(where, *STORY, a_run("a very long command that nobody gave a name " * 5, reason="long " * 80))
    monkeypatch.setattr("hookline.cli.commands.log.run.terminal_width", lambda: columns)
    for words in ([], ["--counts"], ["--times"]):
        shown = log(*words).stdout
        assert max(len(line) for line in shown.splitlines()[:-1]) <= (max(columns, 72) if words else columns)


def test_ten_thousand_runs_are_read_at_once(where: Workspace, log: Log) -> None:
    file = JournalFile(journal_of(where))
    for _ in range(10_000):
        file.append(STORY[1])
    file.close()
    assert "50 of 10000 runs: 10000 blocked" in log().stdout


def test_a_journal_that_is_none_is_said_once_and_nothing_else(where: Workspace, log: Log) -> None:
    (where.home / ".local/state/hookline/journal.jsonl").mkdir(parents=True)
    ran = log()
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.count("cannot be read") == 1
