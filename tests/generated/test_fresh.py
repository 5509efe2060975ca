"""Test that the committed generated files are what the code would write now."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hookline.events import EVENTS, EventSpec
from tools import generate
from tools.generate import ROOT, artefacts, main, stale, write


@cache
def files() -> dict[str, str]:
    return artefacts(EVENTS)


def _written_once(events: Mapping[str, EventSpec[Any]]) -> dict[str, str]:
    assert events is EVENTS
    return files()


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write everything to a new directory; that takes a second, so it is done once."""
    write(tmp_path, files())
    monkeypatch.setattr(generate, "artefacts", _written_once)
    return tmp_path


def test_every_generated_file_is_fresh():
    assert stale(ROOT, files()) == [], "run `make generate`"


def test_generating_twice_gives_the_same_bytes():
    assert artefacts(EVENTS) == files()


def test_the_check_passes_on_what_was_just_written(copy: Path):
    assert main(["--check"], copy) == 0


def test_the_check_names_a_file_that_was_edited(copy: Path, capsys: pytest.CaptureFixture[str]):
    page = copy / "docs/reference/events.md"
    page.write_text(page.read_text() + "one more line\n")
    assert main(["--check"], copy) == 1
    assert capsys.readouterr().err.splitlines()[1:] == ["  docs/reference/events.md"]
    assert page.read_text().endswith("one more line\n")


def test_the_check_names_a_file_that_is_missing(copy: Path, capsys: pytest.CaptureFixture[str]):
    (copy / "schemas/hooks.json").unlink()
    assert main(["--check"], copy) == 1
    assert "schemas/hooks.json" in capsys.readouterr().err


def test_the_check_names_the_schema_of_an_event_that_is_gone(copy: Path, capsys: pytest.CaptureFixture[str]):
    (copy / "schemas/events/Vanished.payload.json").write_text("{}")
    assert main(["--check"], copy) == 1
    assert "schemas/events/Vanished.payload.json" in capsys.readouterr().err


def test_a_file_that_is_no_text_is_stale(copy: Path):
    (copy / "schemas/hooks.json").write_bytes(b"\xff\xfe")
    assert stale(copy, files()) == ["schemas/hooks.json"]


def test_generating_mends_what_is_stale_and_says_so(copy: Path, capsys: pytest.CaptureFixture[str]):
    (copy / "schemas/hooks.json").unlink()
    (copy / "schemas/events/Vanished.payload.json").write_text("{}")
    assert main([], copy) == 0
    assert "2 changed" in capsys.readouterr().out
    assert stale(copy, files()) == []


def test_a_change_of_a_row_makes_its_files_stale(copy: Path):
    from msgspec.structs import replace

    changed = dict(EVENTS)
    changed["Stop"] = replace(EVENTS["Stop"], fires="at another moment.")
    assert stale(copy, artefacts(changed)) == [
        "docs/reference/api.md",
        "docs/reference/events.md",
        "schemas/events/Stop.answer.json",
        "schemas/events/Stop.payload.json",
        "schemas/hooks.json",
    ]


def test_nothing_on_a_page_depends_on_when_or_where_it_was_written():
    for name, text in files().items():
        if name.endswith("/recorded.json"):
            continue  # what was recorded happened in some project
        assert "/proj" not in text
        assert not re.search(r"20\d\d-\d\d", text.replace("2020-12", ""))
