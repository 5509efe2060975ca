"""Every recorded case that an engine can decide is played, and agrees or is listed with the reason."""

import tomllib
from pathlib import Path

import pytest

from tests.dialects.gemini_cli.cases import HERE, disagreements, play_case
from tests.recorded import recorded_cases

CASES = recorded_cases(HERE)


def _listed(name: str, word: str) -> dict[str, str]:
    rows = tomllib.loads((HERE / name).read_text())["case"]
    return {row["id"]: row[word] for row in rows}


NEEDS_AGENT = _listed("needs_agent.toml", "why")
DIFFERENT = _listed("different.toml", "reason")
AGREEING = [name for name in CASES if name not in NEEDS_AGENT and name not in DIFFERENT]


@pytest.mark.parametrize("name", AGREEING)
def test_a_recorded_case_agrees(name: str, tmp_path: Path) -> None:
    assert disagreements(CASES[name], play_case(CASES[name], tmp_path)) == []


@pytest.mark.parametrize("name", list(DIFFERENT))
def test_a_case_listed_as_different_is_in_one_thing_only(name: str, tmp_path: Path) -> None:
    assert len(disagreements(CASES[name], play_case(CASES[name], tmp_path))) == 1


@pytest.mark.parametrize("name", ["bm-deny-with-synthetic", "aa-json-deny-clear-context", "at-tail-call"])
def test_what_is_not_used_is_on_record(name: str, tmp_path: Path) -> None:
    run = play_case(CASES[name], tmp_path).runs[0]
    assert [word for word in run.dropped if word.startswith("hookSpecificOutput.")]


def test_every_hook_got_the_payload_that_the_client_sent(tmp_path: Path) -> None:
    case = CASES["payloads-all"]
    got = play_case(case, tmp_path).got
    by_event = {each[0]["hook_event_name"]: each for each in got.values()}
    for payload in case["payloads"]:
        assert by_event[payload["hook_event_name"]].pop(0) == payload


def test_the_lists_name_recorded_cases_and_each_case_once() -> None:
    assert len(CASES) == 62
    assert set(NEEDS_AGENT) | set(DIFFERENT) <= set(CASES)
    assert set(NEEDS_AGENT).isdisjoint(DIFFERENT)


def test_enough_is_played_and_little_is_different() -> None:
    assert len(CASES) - len(NEEDS_AGENT) >= 0.95 * len(CASES)
    assert len(DIFFERENT) <= 0.05 * (len(CASES) - len(NEEDS_AGENT))
