"""Tests of comparing two checkouts in turns: which figures count as worse."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import turns

_RATIOS = "def run(figure):\n    return figure()\n"
#: The figures of both checkouts, each by its function: what it measures and its goal; None where there is none.
_CASES: dict[str, tuple[tuple[float, float], tuple[float, float] | None]] = {
    "same": ((1.0, 4), (1.0, 4)),
    "a_little": ((1.09, 4), (1.0, 4)),
    "worse": ((1.2, 4), (1.0, 4)),
    "raised": ((1.7, 1.75), (0.9, 1.0)),
    "raised_and_missed": ((1.8, 1.75), (0.9, 1.0)),
    "new": ((3.0, 4), None),
}


def _checkout(directory: Path, figures: dict[str, tuple[float, float]]) -> str:
    bench = directory / "bench"
    bench.mkdir(parents=True)
    (directory / "src").mkdir()
    (bench / "__init__.py").touch()
    (bench / "ratios.py").write_text(_RATIOS)
    rows = [f"('figure {name}', {name}, {goal})" for name, (_, goal) in figures.items()]
    functions = [f"def {name}():\n    return {value}\n" for name, (value, _) in figures.items()]
    (bench / "figures.py").write_text("".join(functions) + f"FIGURES = [{', '.join(rows)}]\n")
    programs = directory / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    return os.fspath(directory)


def _function(name: str) -> Callable[..., None]:
    def figure() -> None: ...

    figure.__module__, figure.__name__ = "bench.figures", name
    return figure


def test_a_figure_may_be_a_tenth_worse_or_keep_its_raised_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = _checkout(tmp_path / "here", {name: own for name, (own, _) in _CASES.items()})
    there = _checkout(tmp_path / "there", {name: other for name, (_, other) in _CASES.items() if other})
    monkeypatch.chdir(here)
    fine = {name: turns.compare(there, [_function(name)]) for name in _CASES}
    assert [name for name, ok in fine.items() if not ok] == ["worse", "raised_and_missed"]
    said = capsys.readouterr().out
    assert "figure worse: 1.2 here, 1 there, 1.20x (9 turns) WORSE" in said
    assert "figure new: 3 here, not measured there" in said


def test_a_figure_that_breaks_is_not_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = _checkout(tmp_path / "here", {"broken": (1, 1)})
    Path(here, "bench", "figures.py").write_text(
        "def broken():\n    1 / 0\nFIGURES = [('broken', broken, 1)]\n"
    )
    there = _checkout(tmp_path / "there", {"broken": (1, 1)})
    monkeypatch.chdir(here)
    assert not turns.compare(there, [_function("broken")])
    assert "FAILED in" in capsys.readouterr().out
