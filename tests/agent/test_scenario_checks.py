"""The harness of the scenarios sees every difference it is there to see."""

from typing import Any

import msgspec
import pytest

from tests.agent.scenario_checks import differences
from tests.agent.scenario_runs import Play, Played, Scenario
from tests.every import every

DOCUMENT: dict[str, Any] = {
    "result": "done",
    "status": "completed",
    "why": "",
    "notices": [{"kind": "warning", "text": "mind the gap"}],
    "events": [
        {"event": "A", "agent": None, "payload": {"x": 1}, "outcome": {"blocked": False}, "runs": []},
        {"event": "B", "agent": None, "payload": {}, "outcome": {}, "runs": [{"status": "ok"}]},
    ],
    "requests": [
        {
            "model": "m",
            "agent": None,
            "system": "be kind",
            "messages": [{"role": "user", "text": "hello"}],
            "tools": [],
        }
    ],
}

RIGHT: list[dict[str, Any]] = [
    {"status": "completed", "result": "done", "exit": 0, "requests": 1},
    {"events": ["A", "B"], "order": ["B"], "among": ["B"], "never": ["C"], "times": {"A": 1}},
    {"event": [{"event": "A", "payload": {"x": 1}, "outcome": {"blocked": False}, "runs": []}]},
    {"request": [{"has": ["hello", "kind"], "hasnt": ["bye"], "last": {"role": "user"}, "model": "m"}]},
    {"files": {"f": "text of /p"}, "files_have": {"f": "text"}, "no_files": ["g"]},
    {
        "files": {"f": "text of $PROJECT"},
        "notices_have": ["the gap"],
        "notices_havent": ["gaps"],
        "transcript_has": ["kept"],
    },
]
WRONG: list[dict[str, Any]] = [
    {"status": "failed"},
    {"result": "other"},
    {"exit": 1},
    {"requests": 2},
    {"why": "because"},
    {"events": ["A"]},
    {"order": ["B", "A"]},
    {"never": ["A"]},
    {"times": {"B": 2}},
    {"event": [{"event": "C"}]},
    {"event": [{"event": "A", "nth": 2}]},
    {"event": [{"event": "A", "payload": {"x": 2}}]},
    {"event": [{"event": "A", "payload": {"y": 1}}]},
    {"event": [{"event": "B", "runs": []}]},
    {"event": [{"event": "B", "runs": [{"status": "failed"}]}]},
    {"request": [{"nth": 2}]},
    {"request": [{"has": ["bye"]}]},
    {"request": [{"hasnt": ["hello"]}]},
    {"request": [{"system_has": ["hello"]}]},
    {"request": [{"system_hasnt": ["kind"]}]},
    {"request": [{"messages": []}]},
    {"request": [{"last": {"text": "bye"}}]},
    {"request": [{"model": "n"}]},
    {"files": {"f": "other"}},
    {"files": {"g": ""}},
    {"files_have": {"f": "other"}},
    {"files_havent": {"f": "text"}},
    {"no_files": ["f"]},
    {"notices_have": ["nothing"]},
    {"transcript_has": ["lost"]},
    {"transcript_hasnt": ["kept"]},
    {"stdout": "x"},
    {"stderr_has": ["x"]},
]


def _played(expected: dict[str, Any]) -> Played:
    return Played(
        play=msgspec.convert(expected, Play),
        exit=0,
        stdout="",
        stderr="",
        document=DOCUMENT,
        home="/h",
        project="/p",
        files={"f": "text of /p", "g": None},
        transcript="kept",
    )


@pytest.mark.parametrize("expected", RIGHT)
def test_what_is_as_expected_makes_no_difference(expected: dict[str, Any]) -> None:
    assert differences(_played(expected)) == []


@every("expected", WRONG)
def test_what_is_not_as_expected_is_one_difference(expected: dict[str, Any]) -> None:
    assert len(differences(_played(expected))) == 1


def test_an_expectation_nobody_knows_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"fact": "x", "play": [{"stauts": "failed"}]}, Scenario)


def test_a_run_that_printed_no_document_is_a_difference() -> None:
    played = msgspec.structs.replace(_played({}), document={})
    assert len(differences(played)) == 1
