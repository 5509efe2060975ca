"""One small tree per mistake, in its agent's own format: it is named on the right line, and nothing else is."""

import tomllib
from pathlib import Path

import pytest

from tests.cli.doctoring import HOME, Clinic, alarms, copied

CASES = sorted(folder.name for folder in HOME.iterdir() if folder.is_dir())


def test_there_is_a_mistake_of_every_agent_and_at_least_forty_in_all() -> None:
    dialects = [tomllib.loads((HOME / case / "expected.toml").read_text())["dialect"] for case in CASES]
    assert len(CASES) >= 40
    assert set(dialects) == {"claude-code", "gen-code", "codewhale", "reasonix", "docker-agent", "native"}


@pytest.mark.parametrize("case", CASES)
def test_it_is_named_on_its_line(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = tomllib.loads((HOME / case / "expected.toml").read_text())
    place = copied(case, tmp_path)
    problems = Clinic(place, monkeypatch).problems()
    found = [one for one in problems if one.code == expected["code"] and one.severity == expected["severity"]]
    assert [(one.file, one.line) for one in found] == [(str(place / expected["file"]), expected.get("line"))]
    said = f"{found[0].message} {found[0].fix or ''}"
    assert [word for word in expected["words"] if word not in said] == []
    assert sorted(alarms(problems)) == sorted([expected["code"], *expected.get("also", ())])
