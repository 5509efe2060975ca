"""Modules that `hookline hook` loads: an agent starts it for each of its tool calls."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.run_cli import clean_env
from tests.homes import at_home
from tests.trusting import trust_all_of

_GUARD = """
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "force-push"
"""
#: None of them is needed to ask a builtin guard about a line.
_HEAVY = (
    "pathlib", "tempfile", "shutil", "hashlib", "ctypes", "json", "yaml", "glob", "urllib.parse", "dataclasses",
    "hookline.handlers.process.pool", "hookline.handlers.command", "hookline.handlers.deadline",
    "hookline.matching.conditions", "hookline.trust.files", "hookline.permissions.facts",
    "hookline.dialects.claude_code.answers", "hookline.dialects.claude_code.settings", "hookline.cli.requests",
)  # fmt: skip
#: 170 when this was written: a module that every call needs must be worth its quarter of a millisecond.
_MOST_OF_OURS = 170

#: Runs the command as its script does; when it ends, tells what was loaded.
_PROBE = """
import os, sys
end, told = os._exit, os.dup(2)
def leave(status):
    os.write(told, " ".join(sys.modules).encode())
    end(status)
os._exit = leave
from hookline.app import main
main()
"""


class Called(NamedTuple):
    status: int
    stdout: str
    modules: list[str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "home" / "project"
    directory.mkdir(parents=True)
    trust_all_of(directory.parent, directory)
    return directory


def called(project: Path, line: str, *words: str) -> Called:
    translated = {
        "session_id": "s-1", "transcript_path": "/t", "cwd": str(project), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t-1",
        "tool_input": {"command": line, "description": "look"},
    }  # fmt: skip
    env = clean_env(project.parent)
    ran = subprocess.run(
        [sys.executable, "-c", _PROBE, *at_home(["hook", "--dialect", "claude-code", *words], env)],
        input=json.dumps(translated), text=True, capture_output=True, check=False, cwd=project, env=env,
    )  # fmt: skip
    return Called(ran.returncode, ran.stdout, ran.stderr.split())


def _put(directory: Path, text: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "hooks.toml").write_text(text)


@pytest.mark.parametrize("whose", ["project", "user"])
def test_a_builtin_guard_needs_little_else_than_a_loop(project: Path, whose: str) -> None:
    _put(project / ".hookline" if whose == "project" else project.parent / ".config" / "hookline", _GUARD)
    ran = called(project, "ls -la", "PreToolUse")
    assert (ran.status, ran.stdout) == (0, "")
    assert "hookline.guards.tables.git" in ran.modules  # it was asked
    assert [name for name in _HEAVY if name in ran.modules] == []
    assert len([name for name in ran.modules if name.startswith("hookline")]) <= _MOST_OF_OURS


def test_a_line_is_parsed_and_denied(project: Path) -> None:
    _put(project / ".hookline", _GUARD)
    ran = called(project, "cd web && git push -f", "PreToolUse")
    said = json.loads(ran.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
