"""The input history: final texts, bounded, and whole whatever happens to its file."""

import os
from pathlib import Path

import msgspec
import pytest

from hookline.agent.prompts.history import InputHistory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "history.jsonl"


def test_texts_come_back_in_the_next_session(file: Path) -> None:
    history = InputHistory(str(file))
    for text in ("one\nline", "two \x1b é", "two \x1b é", " ", "three"):
        history.add(text)
    assert InputHistory(str(file)).texts == history.texts == ("one\nline", "two \x1b é", "three")
    assert file.stat().st_mode & 0o777 == 0o600
    assert [msgspec.json.decode(line) for line in file.read_bytes().splitlines()] == list(history.texts)


@pytest.mark.parametrize("damage", [b'"torn', b"\xff\xfe\x00", b"{}", b"[" * 100_000, b'"\\ud800"'])
def test_a_damaged_line_costs_itself_only(file: Path, damage: bytes) -> None:
    InputHistory(str(file)).add("before")
    with file.open("ab") as stream:
        stream.write(damage)
    history = InputHistory(str(file))
    assert history.texts == ("before",)
    history.add("after")
    assert InputHistory(str(file)).texts == ("before", "after")


def test_only_the_newest_are_kept_in_memory_and_on_disk(file: Path) -> None:
    history = InputHistory(str(file), most=10)
    for number in range(50):
        history.add(f"text {number}")
    newest = tuple(f"text {number}" for number in range(40, 50))
    assert history.texts == newest
    assert InputHistory(str(file), most=10).texts == newest
    assert len(file.read_bytes().splitlines()) == 10
    assert os.listdir(file.parent) == [file.name]


def test_a_huge_text_is_known_for_the_session_and_not_written(file: Path) -> None:
    history = InputHistory(str(file), longest=100)
    history.add("x" * 101)
    assert history.texts == ("x" * 101,)
    assert InputHistory(str(file)).texts == ()


def test_half_a_surrogate_pair_is_spelled_out(file: Path) -> None:
    InputHistory(str(file)).add("a\ud800b")
    assert InputHistory(str(file)).texts == ("a\\ud800b",)


def test_a_file_that_cannot_be_used_is_told_once_and_the_session_goes_on(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "in the way" / "history", tmp_path / "pipe", Path("/dev/full"), tmp_path):
        said: list[str] = []
        history = InputHistory(str(file), report=said.append)
        history.add("one")
        history.add("two")
        assert history.texts == ("one", "two")
        assert len(said) == 1, file
