"""Every recorded case that an engine can decide is played, and agrees or is listed with the reason."""

import tomllib
from pathlib import Path

import pytest

from tests.dialects.claude_code.agreement import disagreements
from tests.dialects.claude_code.driver import play_case
from tests.recorded import recorded_cases

HERE = Path(__file__).parent
CASES = recorded_cases()


def listed(name: str, word: str) -> dict[str, str]:
    table = tomllib.loads((HERE / name).read_text())
    return {row["id"]: row[word] for row in table.get("case", ())}


NEEDS_AGENT = listed("needs_agent.toml", "why")
DIFFERENT = listed("different.toml", "reason")
AGREEING = [name for name in CASES if name not in NEEDS_AGENT and name not in DIFFERENT]


@pytest.mark.parametrize("name", AGREEING)
def test_a_recorded_case_agrees(name: str, tmp_path: Path) -> None:
    assert disagreements(CASES[name], play_case(CASES[name], tmp_path)) == []


@pytest.mark.parametrize("name", list(DIFFERENT))
def test_a_case_listed_as_different_is(name: str, tmp_path: Path) -> None:
    assert disagreements(CASES[name], play_case(CASES[name], tmp_path)) != []


def test_the_lists_name_recorded_cases_and_each_case_once() -> None:
    assert len(CASES) == 251
    assert set(NEEDS_AGENT) | set(DIFFERENT) <= set(CASES)
    assert set(NEEDS_AGENT).isdisjoint(DIFFERENT)


def test_enough_is_played_and_little_is_different() -> None:
    assert len(CASES) - len(NEEDS_AGENT) >= 0.8 * len(CASES)
    assert len(DIFFERENT) <= 0.08 * len(CASES)
