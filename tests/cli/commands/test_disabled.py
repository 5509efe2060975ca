"""A hook that the user has switched off stays visible, with the line that says so."""

import json
from pathlib import Path

import pytest

from tests.cli.in_process import InProcess, in_process

FILE = "~/.config/hookline/hooks.toml"
GUARDS = """\
[[hooks.PreToolUse]]

[[hooks.PreToolUse.hooks]]
name = "no pushes"
type = "builtin"
command = "deny"

[[hooks.PreToolUse.hooks]]
name = "no removals"
type = "builtin"
command = "deny"
if = "Bash(rm *)"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    made = in_process(tmp_path, monkeypatch, capsys)
    made.write(FILE, 'disable = ["no pushes"]\n')
    made.write("~/.config/hookline/settings.toml", 'trusted = ["~/project"]\n')
    made.write(".hookline/hooks.toml", GUARDS)
    return made


def test_list_says_by_which_line(here: InProcess) -> None:
    last = here.call("list").stdout.splitlines()[-1]
    assert last == "no pushes is off: disabled by ~/.config/hookline/hooks.toml:1"
    first, second = json.loads(here.call("list", "--json").stdout)["hooks"]
    assert (first["hook"], first["mode"]) == ("no pushes", "off")
    assert first["disabled_by"].endswith("/.config/hookline/hooks.toml:1")
    assert (second["hook"], second["mode"], second["disabled_by"]) == ("no removals", "enforce", None)


def test_explain_says_why_it_would_not_run_and_what_counts_of_the_file(here: InProcess) -> None:
    document = json.loads(here.call("explain", "PreToolUse", "Bash", "command=git push", "--json").stdout)
    off, _on = document["lanes"][0]["hooks"]
    assert (off["would_run"], off["mode"]) == (False, "off")
    assert off["why"].startswith("switched off: disabled by ")
    assert off["disabled_by"].endswith("/.config/hookline/hooks.toml:1")
    layer = next(layer for layer in document["layers"] if layer["scope"] == "project")
    assert (layer["state"], layer["hooks"], layer["stands"]) == ("inactive", 1, 2)
    assert layer["why"] == "disabled: no pushes"


def test_fire_passes_it_by_and_says_so(here: InProcess) -> None:
    ran = here.call("fire", "PreToolUse", "Bash", "command=git push")
    assert ran.status == 0
    assert "switched off: disabled by" in ran.stdout
    assert here.call("fire", "PreToolUse", "Bash", "command=rm x").status == 2


def test_doctor_notes_it(here: InProcess) -> None:
    found = json.loads(here.call("doctor", "--json").stdout)["problems"]
    (note,) = [one for one in found if one["code"] == "mode-off"]
    assert (note["severity"], note["hook"], note["line"]) == ("note", "no pushes", 3)
    assert "disabled by" in note["message"]


def test_a_variable_that_points_into_the_project_neither_hides_nor_switches_off(
    here: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("~/.config/hookline/settings.toml", "")
    here.write(FILE, GUARDS)
    here.write(".hookline/hooks.toml", "")
    here.write("cfg/hookline/hooks.toml", 'disable = ["no pushes"]\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here.workspace.project / "cfg"))
    ran = here.call("list", "--json")
    hooks = json.loads(ran.stdout)["hooks"]
    assert [(hook["hook"], hook["scope"], hook["mode"]) for hook in hooks] == [
        ("no pushes", "user", "enforce"),
        ("no removals", "user", "enforce"),
    ]
    assert "cfg" not in ran.stdout + ran.stderr  # it is not even read
