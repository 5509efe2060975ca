"""Every recorded case that an engine can decide is played, and agrees or is listed with the reason."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.dialects.codex.driver import Played, play_case
from tests.recorded import Case, recorded_cases

HERE = Path(__file__).parent
CASES = recorded_cases(HERE)


def listed(name: str, word: str) -> dict[str, str]:
    return {row["id"]: row[word] for row in tomllib.loads((HERE / name).read_text()).get("case", ())}


NEEDS_AGENT, DIFFERENT = listed("needs_agent.toml", "why"), listed("different.toml", "reason")
PLAYED = [name for name in CASES if name not in NEEDS_AGENT]

_SEEN: Mapping[str, Callable[[Played], Any]] = {
    "runs": lambda played: len([run for run in played.runs if run.status not in ("skipped", "detached")]),
    "context": lambda played: list(played.texts),
    "blocked": lambda played: (
        played.outcomes[0].blocked and not played.outcomes[0].stop
        if played.outcomes[0].votes and played.outcomes[0].votes[0].means == "continue_turn"
        else played.outcomes[0].blocked
    ),
    "reason": lambda played: (played.outcomes[0].reason or "").split("\n"),
    "input": lambda played: played.outcomes[0].updated_input,
    "stop": lambda played: any(outcome.stop for outcome in played.outcomes),
    "failed": lambda played: len([run for run in played.runs if run.passed_without_answer]),
    "side": lambda played: played.side,
}


def disagreements(case: Case, played: Played) -> list[str]:
    return [
        f"{what}: the client {wanted!r}, Hookline {_SEEN[what](played)!r}"
        for what, wanted in case["expect"].items()
        if _SEEN[what](played) != wanted
    ]


@pytest.mark.parametrize("name", [name for name in PLAYED if name not in DIFFERENT])
def test_a_recorded_case_agrees(name: str, tmp_path: Path) -> None:
    assert disagreements(CASES[name], play_case(CASES[name], tmp_path)) == []


@pytest.mark.parametrize("name", list(DIFFERENT))
def test_a_case_listed_as_different_is(name: str, tmp_path: Path) -> None:
    assert disagreements(CASES[name], play_case(CASES[name], tmp_path)) != []


def test_little_is_different_and_each_case_is_listed_once() -> None:
    assert len(CASES) == 80
    assert set(NEEDS_AGENT) | set(DIFFERENT) <= set(CASES)
    assert set(NEEDS_AGENT).isdisjoint(DIFFERENT)
    assert len(DIFFERENT) <= 0.05 * len(PLAYED)
