"""One small tree per mistake, in its agent's own format: it is named on the right line, and nothing else is."""

from pathlib import Path

import pytest

from tests.agents import WITH_FILES
from tests.cli.doctor_case import DoctorCase, alarms
from tests.scenarios import read_scenario

SCENARIOS = sorted((Path(__file__).parent / "doctor_scenarios").glob("*.txt"))


def test_there_is_a_mistake_of_every_agent_and_at_least_forty_in_all() -> None:
    dialects = {read_scenario(file).expected["dialect"] for file in SCENARIOS}
    assert len(SCENARIOS) >= 40
    assert dialects == set(WITH_FILES)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_it_is_named_on_its_line(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = read_scenario(file)
    assert scenario.steps == ("doctor",)
    scenario.write_to(tmp_path)
    expected = scenario.expected
    problems = DoctorCase(tmp_path, monkeypatch).problems()
    found = [one for one in problems if one.code == expected["code"] and one.severity == expected["severity"]]
    assert [(one.file, one.line) for one in found] == [
        (str(tmp_path / expected["file"]), expected.get("line"))
    ]
    said = f"{found[0].message} {found[0].fix or ''}"
    assert [word for word in expected["words"] if word not in said] == []
    named = [] if expected["severity"] == "note" else [expected["code"]]
    assert sorted(alarms(problems)) == sorted([*named, *expected.get("also", ())])
