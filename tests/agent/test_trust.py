"""Hooks of a project that wait for the user's own word, in real runs."""

import json
from pathlib import Path

import pytest

from hookline.agent.session_hooks import is_trusted
from tests.cli.run_cli import Ran, run_cli

_SCRIPT = '[{"text": "done"}]'
_CODEWHALE = '[[hooks]]\nevent = "message_submit"\ncommand = "echo ran >> seen.txt"\n'
_REASONIX = json.dumps({"hooks": {"UserPromptSubmit": [{"command": "echo ran >> seen.txt"}]}})
_HOOK = {"type": "command", "command": "echo ran >> seen.txt"}
_CLAUDE = json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [_HOOK]}]}})
_FILES = {
    "codewhale": (".codewhale/hooks.toml", _CODEWHALE),
    "reasonix": (".reasonix/settings.json", _REASONIX),
    "claude-code": (".claude/settings.json", _CLAUDE),
}


class Project:
    def __init__(self, place: Path, whose: str) -> None:
        self.home, self.project = place / "home", place / "project"
        self.file, text = _FILES[whose]
        for name, content in ((self.file, text), ("script.json", _SCRIPT)):
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.home.mkdir()

    def settings(self, folder: Path, *trusted: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.toml").write_text(f"[agent]\ntrusted = {json.dumps(trusted)}\n")

    def run(self, *flags: str) -> Ran:
        words = ["agent", "--json", "hello", "--model", "scripted:script.json", *flags]
        return run_cli(words, self.project, self.home)

    @property
    def hook_ran(self) -> bool:
        return (self.project / "seen.txt").exists()


@pytest.mark.parametrize("whose", ["codewhale", "reasonix"])
def test_hooks_of_a_project_do_not_run_until_the_user_trusts_it_and_nobody_wonders_why(
    whose: str, tmp_path: Path
) -> None:
    scripted = Project(tmp_path, whose)
    document = json.loads(scripted.run().stdout)
    assert not scripted.hook_ran
    assert document["status"] == "completed"
    assert any(
        scripted.file in notice["text"] and "--trust" in notice["text"] for notice in document["notices"]
    )
    submitted = next(event for event in document["events"] if event["event"] == "UserPromptSubmit")
    assert [run["status"] for run in submitted["runs"]] == ["untrusted"]


@pytest.mark.parametrize("whose", ["codewhale", "reasonix"])
def test_the_users_own_settings_trust_a_project(whose: str, tmp_path: Path) -> None:
    scripted = Project(tmp_path, whose)
    scripted.settings(scripted.home / ".config" / "hookline", str(tmp_path))
    scripted.run()
    assert scripted.hook_ran


def test_a_project_cannot_trust_itself(tmp_path: Path) -> None:
    scripted = Project(tmp_path, "codewhale")
    scripted.settings(scripted.project / ".hookline", str(tmp_path))
    ran = scripted.run()
    assert not scripted.hook_ran
    assert "settings.toml:2: error: a project cannot trust itself" in ran.stderr


def test_a_flag_trusts_it_for_one_run(tmp_path: Path) -> None:
    scripted = Project(tmp_path, "codewhale")
    scripted.run("--trust")
    assert scripted.hook_ran


def test_a_file_that_was_named_counts_as_trusted(tmp_path: Path) -> None:
    scripted = Project(tmp_path, "reasonix")
    scripted.run("--config", scripted.file)
    assert scripted.hook_ran


def test_a_run_without_a_screen_counts_as_trusted_for_claude_code(tmp_path: Path) -> None:
    scripted = Project(tmp_path, "claude-code")
    scripted.run()
    assert scripted.hook_ran


def test_trust_is_of_whole_directories_and_sees_through_links(tmp_path: Path) -> None:
    (tmp_path / "work" / "shop").mkdir(parents=True)
    (tmp_path / "workshop").mkdir()
    (tmp_path / "work" / "out").symlink_to(tmp_path / "workshop")
    assert is_trusted(str(tmp_path / "work" / "shop"), [str(tmp_path / "work")])
    assert not is_trusted(str(tmp_path / "workshop"), [str(tmp_path / "work")])
    assert not is_trusted(str(tmp_path / "work" / "out"), [str(tmp_path / "work")])
