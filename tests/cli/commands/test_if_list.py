"""A hook with several patterns: what `explain` and `doctor` say about it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import InProcess, in_process

GUARD = """\
[[hooks.PreToolUse]]
matcher = "{matcher}"

[[hooks.PreToolUse.hooks]]
name = "removes"
type = "builtin"
command = "deny"
if = {rules}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def condition(here: InProcess, line: str) -> dict[str, Any]:
    document = json.loads(here.call("explain", "PreToolUse", "Bash", f"command={line}", "--json").stdout)
    return document["lanes"][0]["hooks"][0]["condition"]


def test_explain_says_which_of_them_fits_or_why_none_does(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", GUARD.format(matcher="", rules='["Bash(rm *)", "Bash(git clean *)"]'))
    fits = condition(here, "cd x && git clean -f")
    assert (fits["text"], fits["holds"]) == ("any(Bash(rm *), Bash(git clean *))", True)
    assert fits["why"] == 'if "Bash(git clean *)": command "git clean -f" is git clean *'
    fails = condition(here, "ls")
    assert fails["holds"] is False
    assert '"Bash(rm *)"' in fails["why"]
    assert '"Bash(git clean *)"' in fails["why"]


@pytest.mark.parametrize(
    ("matcher", "rules", "dead"),
    [
        ("Bash", '["Bash(rm *)", "Write(*.lock)"]', False),
        ("Bash", '["Bash(rm *)", "Bash(git clean *)"]', False),
        ("Bash", '["Write(*.lock)", "Write(*.toml)"]', True),
        ("Bash", '["Write(*.lock)"]', True),
    ],
)
def test_doctor_finds_a_list_that_the_matcher_excludes(
    here: InProcess, matcher: str, rules: str, dead: bool
) -> None:
    here.write(".hookline/hooks.toml", GUARD.format(matcher=matcher, rules=rules))
    problems = json.loads(here.call("doctor", "--json").stdout)["problems"]
    assert any(one["code"] == "never-runs" for one in problems) == dead
