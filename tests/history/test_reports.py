"""Test stored reports of backtests: the newest, for the user alone, and no other files."""

import stat
from pathlib import Path

from hookline.history.reports import keep_report, kept_report, kept_reports


def test_the_newest_twenty_are_kept_for_the_user_alone(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert kept_reports(env) == []
    for number in range(25):
        keep_report(env, b'{"recorded_events": %d}' % number, 1_700_000_000 + number)
    directory = tmp_path / ".local/state/hookline/backtests"
    assert [report.report["recorded_events"] for report in kept_reports(env)] == list(range(24, 4, -1))
    assert len(list(directory.iterdir())) == 20
    assert {stat.S_IMODE(each.stat().st_mode) for each in (directory.parent, directory)} == {0o700}
    assert {stat.S_IMODE(each.stat().st_mode) for each in directory.iterdir()} == {0o600}
    newest = kept_reports(env)[0]
    assert kept_report(env, newest.name) == newest
    (directory / newest.name).write_text("{")
    assert kept_report(env, newest.name) is None
    assert len(kept_reports(env)) == 19
    (directory.parent / "secret.json").write_text("{}")
    assert [kept_report(env, name) for name in ("../secret.json", "secret.json", "", "x" * 500)] == [None] * 4
