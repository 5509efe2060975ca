"""Test that self-protection covers Hookline itself, what is above it, and the switches of agents."""

import os
import sys
from pathlib import Path

import pytest

from hookline.actions.action import PathContext
from hookline.actions.parse_call import read_call
from hookline.actions.standard_tools import CANONICAL
from hookline.config.protection.calls import CallReaders
from hookline.shell import ShellReader


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    (made / "project" / ".git").mkdir(parents=True)
    (made / ".config" / "hookline").mkdir(parents=True)
    (made / "bin").mkdir()
    (made / "bin" / "hookline").write_text("#!/bin/sh\n")
    (made / "bin" / "hookline-relay").write_text("")
    (made / "links").mkdir()
    (made / "links" / "hl").symlink_to(made / "bin" / "hookline")
    return made


def _why(home: Path, line: str) -> str | None:
    project = str(home / "project")
    env = {"HOME": str(home), "PATH": f"{home}/bin{os.pathsep}/usr/bin"}
    readers = CallReaders(env, ShellReader)
    actions = read_call(CANONICAL, "Bash", {"command": line}, PathContext(project, project, str(home)))
    return readers.changes_guards(actions, project, ())


@pytest.mark.parametrize(
    "line",
    [
        "rm ~/bin/hookline",
        "chmod -x ~/bin/hookline-relay",
        "rm -rf ~/bin",
        "mv ~/bin ~/bin2",
        "cp /bin/true ~/links/hl",
        "rm ~/links/hl",
        "chmod 000 ~/.config",
        "chown nobody ~/.config",
        f"echo > {Path(sys.modules['hookline'].__file__ or '').parent}/guards/judge.py",
        f"rm -rf {sys.prefix}",
        "claude config set -g disableAllHooks true",
        "cd /tmp && claude --settings '{\"disableAllHooks\": true}' -p hi",
        "npx claude plugin disable guards",
        "codex -c features.hooks=false exec x",
        "codex --disable hooks",
        "gemini hooks disable-all",
        "gemini extensions uninstall guards",
        "qwen hooks disable x",
        "claude --bare -p hi",
        "opencode --pure run hi",
        "kilo --pure run hi",
    ],
)
def test_what_would_take_the_guards_away_is_found(home: Path, line: str) -> None:
    assert _why(home, line) is not None


@pytest.mark.parametrize(
    "line",
    [
        "ls ~/bin",
        "cat ~/bin/hookline",
        "chmod +x run.sh",
        "rm -rf build",
        "claude -p 'say hi'",
        "codex exec 'fix the hooks'",
        "gemini --version",
    ],
)
def test_everyday_lines_pass(home: Path, line: str) -> None:
    assert _why(home, line) is None
