from pathlib import Path

import pytest

from tests.cli import golden
from tests.cli.golden import check_golden, normalised
from tests.cli.run_cli import run_cli, workspace


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("guard: deny, 3 ms  a.toml:4", "guard: deny, N ms  a.toml:4"),
        ("guard: deny, 12 ms  a.toml:4", "guard: deny, N ms  a.toml:4"),
        ("p50   3.1 ms    12.0 ms   x", "p50 N ms  N ms  x"),
        ("(3 ms)", "(N ms)"),
        ("at 2026-01-02 03:04:05 it", "at DATE TIME it"),
        ('"duration_ms": 3.25,', '"duration_ms": 0.0,'),
        ("a 60 s timeout of v3 msgs", "a 60 s timeout of v3 msgs"),
    ],
)
def test_what_differs_from_run_to_run_is_taken_out(text: str, stands: str) -> None:
    assert normalised(text) == stands


def test_a_text_that_changed_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "DIRECTORY", tmp_path)
    monkeypatch.delenv("HOOKLINE_GOLDEN", raising=False)
    with pytest.raises(AssertionError, match="HOOKLINE_GOLDEN=write"):
        check_golden("x.txt", "one\n")
    monkeypatch.setenv("HOOKLINE_GOLDEN", "write")
    check_golden("x.txt", "one /somewhere\n", {"/somewhere": "/here"})
    monkeypatch.delenv("HOOKLINE_GOLDEN")
    check_golden("x.txt", "one /here\n")
    with pytest.raises(AssertionError):
        check_golden("x.txt", "two /here\n")


def test_the_process_sees_nothing_of_the_real_user() -> None:
    with workspace() as where:
        ran = run_cli(["fire", "Stop", "--hook", "Stop=env >&2; exit 2"], where.project, where.home)
        assert ran.status == 2
        assert f"HOME={where.home}" in ran.stdout
        assert normalised(str(where.project)) == "/home/ada/project"
