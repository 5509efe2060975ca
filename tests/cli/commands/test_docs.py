"""`hookline docs`: the pages of the documentation in the terminal."""

import json
from pathlib import Path

import pytest

from tests.cli.in_process import InProcess, in_process

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def test_every_page_is_listed_with_its_title(here: InProcess) -> None:
    listed = {each["name"]: each["title"] for each in json.loads(here.call("docs", "--json").stdout)["pages"]}
    files = [
        each
        for part in ("how-to", "explanation", "reference", "dialects")
        for each in (DOCS / part).glob("*.md")
    ]
    assert set(listed) == {f"{each.parent.name}/{each.stem}" for each in files}
    assert listed["how-to/write-your-first-guard"] == "Write your first guard"
    assert all(listed.values())
    for name in listed:
        assert name in here.call("docs").stdout


@pytest.mark.parametrize(
    "words",
    [
        ["how-to/write-your-first-guard"],
        ["how-to/write-your-first-guard.md"],
        ["write-your-first-guard"],
        ["first", "guard"],
    ],
    ids=" ".join,
)
def test_a_page_is_found_by_its_name_and_by_words(here: InProcess, words: list[str]) -> None:
    page = (DOCS / "how-to" / "write-your-first-guard.md").read_text()
    assert here.call("docs", *words).stdout == page


def test_a_page_that_is_not_there(here: InProcess) -> None:
    ran = here.call("docs", "write-your-frst-guard")
    assert (ran.status, ran.stdout) == (1, "")
    assert "did you mean 'write-your-first-guard'?" in ran.stderr
