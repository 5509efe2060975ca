"""`hookline install --exec-guard`: the agent's own setting names a shell under the exec guard."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.commands.test_doctor_installation import codes, doctor, sites
from tests.cli.commands.test_install import command, install
from tests.cli.run_cli import Workspace
from tests.execguard.guarded import needs_verify

pytestmark = needs_verify

_FILE = "~/.claude/settings.json"
_SHELL = str(Path(sys.executable).with_name("hookline-bash"))


@pytest.mark.parametrize(
    "before", ["", '{"a": 1}', '{\n    "env": {"A": "b"},\n    "a": 1\n}\n', '{"env": {}}']
)
def test_it_names_our_shell_and_uninstall_leaves_the_file_as_it_was(where: Workspace, before: str) -> None:
    file = where.home / ".claude" / "settings.json"
    if before:
        where.write(_FILE, before)

    said = install(where, "claude-code", "--exec-guard").stdout

    assert json.loads(file.read_text())["env"]["CLAUDE_CODE_SHELL"] == _SHELL
    assert "run under the exec guard" in said
    written = file.read_text()
    assert "already installed" in install(where, "claude-code").stdout
    assert file.read_text() == written
    command(where, "uninstall", "claude-code", "--yes")
    assert (file.read_text() if file.exists() else "") == before


def test_without_the_option_no_shell_is_named(where: Workspace) -> None:
    install(where, "claude-code")
    assert "CLAUDE_CODE_SHELL" not in (where.home / ".claude" / "settings.json").read_text()


def test_a_file_that_was_rewritten_since_loses_our_shell_and_nothing_else(where: Workspace) -> None:
    install(where, "claude-code", "--exec-guard")
    file = where.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    settings["env"]["A"] = "b"
    file.write_text(json.dumps(settings))

    command(where, "uninstall", "claude-code", "--yes")

    assert json.loads(file.read_text()) == {"env": {"A": "b"}}


def test_a_shell_that_the_user_has_chosen_is_not_replaced(where: Workspace) -> None:
    file = where.write(_FILE, '{"env": {"CLAUDE_CODE_SHELL": "/bin/zsh"}}')

    ran = command(where, "install", "claude-code", "--exec-guard", "--yes")

    assert (ran.status, file.read_text()) == (1, '{"env": {"CLAUDE_CODE_SHELL": "/bin/zsh"}}')
    assert "your own choice" in ran.stderr
    install(where, "claude-code")
    command(where, "uninstall", "claude-code", "--yes")
    assert file.read_text() == '{"env": {"CLAUDE_CODE_SHELL": "/bin/zsh"}}'


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("codex",), "it has no setting for its shell"),
        (("claude-code", "--project"), "for all your projects"),
    ],
)
def test_where_it_cannot_be_chosen_it_is_refused(where: Workspace, words: tuple[str, ...], why: str) -> None:
    ran = command(where, "install", *words, "--exec-guard", "--yes")
    assert ran.status == 1
    assert why in ran.stderr


def test_doctor_shows_the_shell_and_a_project_that_replaces_it(where: Workspace) -> None:
    install(where, "claude-code", "--exec-guard")
    found = doctor(where)
    assert sites(found)[0]["shell"] == _SHELL
    assert "shell-unguarded" not in codes(found)
    assert "shell commands run under the exec guard" in command(where, "doctor").stdout

    where.write(".claude/settings.local.json", '{"env": {"CLAUDE_CODE_SHELL": "/bin/bash"}}')

    assert "shell-unguarded" in codes(doctor(where))
    assert "settings.local.json chooses /bin/bash" in " ".join(command(where, "doctor").stdout.split())


def test_a_pipe_in_place_of_a_projects_settings_holds_nothing_up(where: Workspace) -> None:
    install(where, "claude-code", "--exec-guard")
    (where.project / ".claude").mkdir()
    os.mkfifo(where.project / ".claude" / "settings.json")
    assert "shell-unguarded" not in codes(doctor(where))


def test_doctor_says_that_the_shell_is_gone(where: Workspace) -> None:
    where.write(_FILE, '{"env": {"CLAUDE_CODE_SHELL": "/opt/gone/hookline-bash"}}')
    install(where, "claude-code", "--events", "PreToolUse")
    file = where.home / ".claude" / "settings.json"
    assert json.loads(file.read_text())["env"]["CLAUDE_CODE_SHELL"] == _SHELL
    file.write_text(file.read_text().replace(_SHELL, "/opt/gone/hookline-bash"))
    assert "shell-unguarded" in codes(doctor(where))
