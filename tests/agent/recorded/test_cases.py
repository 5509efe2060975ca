"""Recorded cases of Claude Code that need more than an engine, played by the agent: they agree or are listed."""

from pathlib import Path

import pytest

from tests.agent.recorded.case_differences import disagreements
from tests.agent.recorded.case_runs import action
from tests.recorded import CLAUDE_CODE, listed, recorded_cases

HERE = Path(__file__).parent
CASES = recorded_cases()
PLAYED = [name for name, case in CASES.items() if "expect_agent" in case]
DIFFERENT = listed(HERE / "different.toml", "reason")
NEEDS_AGENT = listed(CLAUDE_CODE / "needs_agent.toml", "why")


def _found(name: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return disagreements(CASES[name], action(CASES[name], directory, monkeypatch.setenv))


@pytest.mark.parametrize("name", [name for name in PLAYED if name not in DIFFERENT])
def test_a_recorded_case_goes_the_same_way(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _found(name, tmp_path, monkeypatch) == []


@pytest.mark.parametrize("name", list(DIFFERENT))
def test_a_case_listed_as_different_is(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _found(name, tmp_path, monkeypatch) != []


def test_every_case_that_waited_for_an_agent_is_played() -> None:
    assert set(NEEDS_AGENT) <= set(PLAYED)
    assert set(DIFFERENT) <= set(PLAYED)


def test_enough_is_played_and_little_is_different() -> None:
    assert len(PLAYED) >= 130
    assert len(DIFFERENT) <= 0.2 * len(PLAYED)
