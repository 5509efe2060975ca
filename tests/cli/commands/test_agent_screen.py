"""Test where `hookline agent` has a screen, and where it has lines."""

import sys
from io import StringIO

import pytest

from hookline.cli.commands.agent import run as agent_run
from hookline.cli.main import build_parser


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("words", "term", "screen"),
    [
        ([], "xterm", True),
        (["hello"], "xterm", True),
        (["--plain"], "xterm", False),
        (["-p", "hello"], "xterm", False),
        (["--json", "hello"], "xterm", False),
        (["--output-format", "stream-json", "hello"], "xterm", False),
        ([], "dumb", False),
        ([], None, False),
    ],
)
def test_a_screen_needs_a_terminal_that_can_show_one(
    words: list[str], term: str | None, screen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, _Terminal())
    args = build_parser("agent").parse_args(["agent", *words])
    args.format = "json" if args.json else args.output_format
    env = {} if term is None else {"TERM": term}
    assert agent_run.wants_screen(args, env) is screen


def _without_rich(name: str) -> object | None:
    return None if name == "rich" else object()


def test_pipes_and_a_missing_package_mean_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    args = build_parser("agent").parse_args(["agent"])
    args.format = "text"
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, _Terminal())
    monkeypatch.setattr(agent_run, "find_spec", _without_rich)
    assert not agent_run.wants_screen(args, {"TERM": "xterm"})
    monkeypatch.undo()
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(sys, name, _Terminal())
    monkeypatch.setattr(sys, "stderr", StringIO())
    assert not agent_run.wants_screen(args, {"TERM": "xterm"})
