"""Whole sessions of Claude Code, played with the same calls: the same events in the same order, but for a list."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.agent.recorded.recorded_sessions import SESSIONS
from tests.agent.recorded.session_runs import Difference, differences, fire
from tests.dialects.claude_code.driver import RECORDED

RUNS: dict[str, list[str]] = json.loads((RECORDED / "firing_order.json").read_text())["runs"]
LISTED: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "order_different.toml").read_text()
)


def _listed(run: str) -> list[Difference]:
    return sorted(
        Difference(run, row["only"], row["event"], row["after"])
        for row in LISTED["difference"]
        if run in row["runs"]
    )


@pytest.mark.parametrize("run", list(SESSIONS))
def test_a_recorded_session_fires_the_same_events_but_for_those_listed(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fired = fire(SESSIONS[run], tmp_path, monkeypatch.setenv)
    assert differences(run, RUNS[run], fired) == _listed(run), fired


def test_every_recorded_session_is_played_or_it_is_said_why_not() -> None:
    left_out = {row["run"] for row in LISTED["not_played"]}
    assert set(SESSIONS).isdisjoint(left_out)
    assert set(SESSIONS) | left_out == set(RUNS)


def test_a_difference_is_listed_once_with_a_reason_and_for_sessions_that_are_played() -> None:
    rows = Counter(
        (run, row["only"], row["event"], row["after"]) for row in LISTED["difference"] for run in row["runs"]
    )
    assert {run for run, *_rest in rows} <= set(SESSIONS)
    assert set(rows.values()) == {1}
    assert all(row["reason"].endswith(".") for row in (*LISTED["difference"], *LISTED["not_played"]))


def test_what_is_missing_and_what_is_too_much_is_found() -> None:
    assert differences("x", ["A", "B", "C"], ["A", "C", "D"]) == [
        Difference("x", "Hookline", "D", "C"),
        Difference("x", "the client", "B", "A"),
    ]
