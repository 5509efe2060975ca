"""Test hooks that are configured and not active: `list` and `doctor` show them, `fire` does not run them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import InProcess, in_process

SKILL = """\
---
description: Release: carefully
argument-hint: [version] [branch]
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: exit 2
          once: true
---
Release.
"""
AGENT = """\
---
name: reviewer
hooks:
  Stop:
    - hooks:
        - type: command
          command: exit 2
  PreToolUse:
    - hooks:
        - type: command
          comand: exit 2
---
Review.
"""
PLUGIN = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def listed(here: InProcess, *words: str) -> list[tuple[str, str, str, str]]:
    document = json.loads(here.call("list", "--json", *words).stdout)
    assert document["hooks"] == []
    return [(one["dialect_event"], one["source"], one["scope"], one["when"]) for one in document["dormant"]]


def doctor(here: InProcess) -> dict[str, Any]:
    return json.loads(here.call("doctor", "--json").stdout)


def test_hooks_of_a_skill_are_listed_with_their_lines_and_not_run(here: InProcess) -> None:
    here.write(".claude/skills/release/SKILL.md", SKILL)
    expected = ("PreToolUse", ".claude/skills/release/SKILL.md:8", "session", "while skill release is in use")
    assert listed(here) == [expected]
    shown = here.call("list")
    assert (shown.status, shown.stderr) == (0, "")
    assert "1 hook not active now" in shown.stdout
    fired = here.call("fire", "PreToolUse", "Bash", "command=ls", "--json")
    assert fired.status != 2
    assert json.loads(fired.stdout)["runs"] == []


@pytest.mark.parametrize(
    ("file", "when"),
    [
        (".claude/commands/ui/button.md", "while command ui:button is in use"),
        ("~/.claude/skills/mine/SKILL.md", "while skill mine is in use"),
        (".hookline/skills/own/SKILL.md", "while skill own is in use"),
    ],
)
def test_where_they_are_found(here: InProcess, file: str, when: str) -> None:
    target = here.workspace.home / file[2:] if file.startswith("~/") else here.workspace.project / file
    target.parent.mkdir(parents=True)
    target.write_text(SKILL)
    assert [one[3] for one in listed(here)] == [when]


def test_only_one_event_or_one_dialect(here: InProcess) -> None:
    here.write(".claude/skills/release/SKILL.md", SKILL)
    here.write(".claude/agents/reviewer.md", AGENT)
    assert [one[0] for one in listed(here, "PreToolUse")] == ["PreToolUse"]
    assert [one[0] for one in listed(here, "SubagentStop")] == ["SubagentStop"]
    assert listed(here, "--dialect", "gen-code") == []


def test_mistakes_have_the_lines_of_the_file(here: InProcess) -> None:
    here.write(".claude/agents/reviewer.md", AGENT)
    found = doctor(here)
    problems = {(one["severity"], one["code"], one["line"]) for one in found["problems"]}
    assert {("error", "missing-field", 10), ("warning", "unknown-field", 11)} <= problems
    (file,) = found["dormant"]
    assert (file["events"], file["when"]) == ({"SubagentStop": 1}, "while agent reviewer runs")
    (unused,) = (one for one in found["problems"] if one["code"] == "not-used-here")
    assert (unused["severity"], unused["line"]) == ("note", 6)


def test_they_are_checked_like_other_hooks(here: InProcess) -> None:
    here.write(".claude/skills/release/SKILL.md", SKILL)
    assert ("fails-open", 8) in {(one["code"], one["line"]) for one in doctor(here)["problems"]}
    here.write(".claude/skills/release/SKILL.md", SKILL.replace("exit 2", "./gone.sh"))
    assert any("gone.sh" in one["message"] and one["line"] == 9 for one in doctor(here)["problems"])
    assert here.call("doctor").status == 1


def test_front_matter_that_cannot_be_read_is_told_of(here: InProcess) -> None:
    here.write(".claude/skills/release/SKILL.md", "---\nhooks:\n  a: {b\n c: [\n---\n")
    here.write(".claude/skills/other/SKILL.md", "no front matter\n")
    here.write(".claude/skills/list/SKILL.md", "---\n- hooks\n---\n")
    found = [(one["file"].split("/")[-2], one["severity"]) for one in doctor(here)["problems"]]
    assert sorted(found) == [("list", "warning"), ("release", "warning")]


def test_settings_that_switch_all_hooks_off_switch_these_off(here: InProcess) -> None:
    here.write(".claude/skills/release/SKILL.md", SKILL)
    here.write(".claude/settings.json", '{"disableAllHooks": true}')
    assert listed(here) == []


def test_a_named_file_is_all_that_is_looked_at(here: InProcess) -> None:
    here.write(".claude/skills/release/SKILL.md", SKILL)
    settings = here.write("hooks.json", "{}")
    assert listed(here, "--config", str(settings)) == []


def test_a_link_or_pipe_in_place_of_a_file_does_no_harm(here: InProcess) -> None:
    directory = here.workspace.project / ".claude/skills"
    for name, target in (("loop", "SKILL.md"), ("device", "/dev/zero"), ("folder", "/")):
        (directory / name).mkdir(parents=True)
        (directory / name / "SKILL.md").symlink_to(target)
    (directory / "round").symlink_to(directory)
    assert listed(here) == []


def test_a_plugin_that_is_off_is_shown_with_the_reason(here: InProcess) -> None:
    root = here.workspace.home / ".claude/plugins/cache/market/guard/1"
    (root / "hooks").mkdir(parents=True)
    (root / "hooks/hooks.json").write_text(json.dumps(PLUGIN))
    installed = {"plugins": {"guard@market": [{"installPath": str(root), "version": "1"}]}}
    (here.workspace.home / ".claude/plugins/installed_plugins.json").write_text(json.dumps(installed))
    settings = here.workspace.home / ".claude/settings.json"
    settings.write_text('{"enabledPlugins": {\n"guard@market": false}}')
    why = f"{settings}:2 switches the plugin guard@market off"
    assert listed(here) == [("Stop", f"{root}/hooks/hooks.json:1", "plugin", why)]
    (note,) = (one for one in doctor(here)["problems"] if one["code"] == "plugin-off")
    assert (note["severity"], note["message"]) == ("note", f"{why}, so its hooks do not run")
    settings.write_text('{"enabledPlugins": {"guard@market": true}}')
    document = json.loads(here.call("list", "--json").stdout)
    assert [(one["scope"], one["dialect_event"]) for one in document["hooks"]] == [("plugin", "Stop")]
    assert document["dormant"] == []


def test_a_plugin_in_a_directory_of_skills_is_not_read_and_doctor_says_so(here: InProcess) -> None:
    here.write(".claude/skills/kit/.claude-plugin/plugin.json", "{}")
    assert [(one["severity"], one["code"]) for one in doctor(here)["problems"]] == [("note", "not-searched")]


def test_doctor_says_whose_plugins_it_did_not_look_for(here: InProcess) -> None:
    here.write(".reasonix/settings.json", '{"hooks": {"Stop": [{"command": "true"}]}}')
    found = [one["message"] for one in doctor(here)["problems"] if one["code"] == "not-searched"]
    assert found == ["plugins of Reasonix were not searched for"]
