"""Test what the recorded cases of Gemini CLI show beyond agreement (see `tests/dialects/test_recorded.py`)."""

from pathlib import Path

import pytest

from tests.dialects.gemini_cli.cases import HERE, disagreements, play_case
from tests.recorded import listed, recorded_cases

CASES = recorded_cases(HERE)


@pytest.mark.parametrize("name", listed(HERE / "different.toml", "reason"))
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
