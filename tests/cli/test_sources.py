"""Test which files a command reads: a named one that is missing, and mistakes in other files."""

import json
from pathlib import Path

import pytest

from tests.cli.in_process import InProcess, in_process

GUARD = """[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "guard"
command = "grep -q -e --force && exit 2; exit 0"
"""
BASH = ("fire", "PreToolUse", "Bash", "command=ls")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("doctor",), 1),
        (("list",), 1),
        (("explain", "Stop"), 1),
        (("fire", "Stop"), 1),
        (("fire", "--times", "1"), 1),
        (("hook", "--dialect", "claude-code", "PreToolUse"), 2),
    ],
)
def test_a_file_that_was_named_must_be_there(here: InProcess, words: tuple[str, ...], status: int) -> None:
    here.write(".hookline/hooks.toml", GUARD)
    beside = here.call(*words, "--config", ".hookline/hook.toml")
    assert (beside.status, beside.stdout) == (status, "")
    assert beside.stderr == (
        f"hookline {words[0]}: no such file: .hookline/hook.toml; did you mean .hookline/hooks.toml?\n"
    )


def test_the_file_that_was_meant_may_be_in_another_directory(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", GUARD)
    assert "did you mean .hookline/hooks.toml?" in here.call("list", "--config", "hooks.toml").stderr
    assert here.call("list", "--config", "xyz/none.json").stderr == (
        "hookline list: no such file: xyz/none.json\n"
    )


BROKEN = "{ not json"
CLAUDE = """{"hooks": {"%s": [{"hooks": [{"type": "comand", "command": "true"}]}]}}"""


@pytest.mark.parametrize(
    ("file", "text", "status"),
    [
        # It says nothing of a tool call, so it does not concern one.
        (".claude/settings.json", CLAUDE % "Stop", 0),
        (".claude/settings.json", BROKEN, 0),
        ("~/.codewhale/config.toml", '[[hooks.hooks]]\nevent = "session_strat"\ncommand = "true"\n', 0),
        # It may have had a guard for it.
        (".claude/settings.json", CLAUDE % "PreToolUse", 1),
        (".claude/settings.json", CLAUDE % "PreTolUse", 1),
        (".claude/settings.json", BROKEN + ' "PreToolUse"', 1),
        ("~/.codewhale/config.toml", '[[hooks.hooks]]\nevent = "tool_call_befor"\ncommand = "true"\n', 1),
        # It has a hook for it, and something else wrong.
        ("~/.config/hookline/hooks.toml", GUARD + '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncomand = "x"\n', 1),
    ],
)
def test_a_mistake_decides_a_firing_only_if_it_may_concern_the_event(
    here: InProcess, file: str, text: str, status: int
) -> None:
    here.write(".hookline/hooks.toml", GUARD)
    here.write(file, text)
    explained = here.call("explain", *BASH[1:])
    assert explained.status == status
    # It is shown all the same.
    assert file.rpartition("/")[2] in explained.stderr
    assert (": error: " in explained.stderr, ": info: " in explained.stderr) == (bool(status), not status)


def test_firing_beside_a_mistake_elsewhere_is_fine(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", GUARD)
    here.write(".claude/settings.json", CLAUDE % "Stop")
    fired = here.call(*BASH, "--json")
    assert fired.status == 0
    assert [one["severity"] for one in json.loads(fired.stdout)["diagnostics"]] == ["info"]
    assert here.call("fire", "Stop").status == 1
