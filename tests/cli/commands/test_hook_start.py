"""Modules that `hookline hook` loads: an agent starts it for each of its tool calls."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookline.cli.commands.hook import read_plain_words
from hookline.cli.main import build_parser, parsed
from hookline.guards import GUARD_NAMES
from hookline.guards.runner import GuardRunner
from hookline.matching.shell.plain import PROGRAMS
from hookline.model.payloads import ToolCall
from hookline.model.scene import Scene
from hookline.permissions.facts import category_of
from hookline.resident.call.protect import CHANGING
from hookline.tools.standard import STANDARD
from tests.cli.run_cli import clean_env
from tests.every import every
from tests.homes import at_home
from tests.vouching import vouch_for

_GUARD = """
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "force-push"
"""
#: None of them is needed to ask a builtin guard about a plain line.
_HEAVY = (
    "argparse", "pathlib", "tempfile", "shutil", "shlex", "hashlib", "ctypes", "tomllib", "json", "yaml", "glob",
    "fnmatch", "urllib.parse", "dataclasses",
    "hookline.handlers.process.pool", "hookline.handlers.command", "hookline.handlers.deadline",
    "hookline.matching.shell.walk.lines", "hookline.matching.conditions", "hookline.guards.judge",
    "hookline.guards.paths", "hookline.tools.read_call", "hookline.trust.files", "hookline.permissions.facts",
    "hookline.dialects.claude_code.answers", "hookline.dialects.claude_code.settings", "hookline.cli.requests",
)  # fmt: skip
#: 101 when this was written, and 167 before.
_MOST_OF_OURS = 106

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
    folder = tmp_path / "home" / "project"
    folder.mkdir(parents=True)
    vouch_for(folder.parent, folder)
    return folder


def called(project: Path, line: str, *words: str) -> Called:
    told = {
        "session_id": "s-1", "transcript_path": "/t", "cwd": str(project), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t-1",
        "tool_input": {"command": line, "description": "look"},
    }  # fmt: skip
    env = clean_env(project.parent)
    ran = subprocess.run(
        [sys.executable, "-c", _PROBE, *at_home(["hook", "--dialect", "claude-code", *words], env)],
        input=json.dumps(told), text=True, capture_output=True, check=False, cwd=project, env=env,
    )  # fmt: skip
    return Called(ran.returncode, ran.stdout, ran.stderr.split())


def _put(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hooks.toml").write_text(text)


@pytest.mark.parametrize("whose", ["project", "user"])
def test_a_builtin_guard_needs_little_else_than_a_loop(project: Path, whose: str) -> None:
    _put(project / ".hookline" if whose == "project" else project.parent / ".config" / "hookline", _GUARD)
    ran = called(project, "ls -la", "PreToolUse")
    assert (ran.status, ran.stdout) == (0, "")
    assert "hookline.guards.tables.git" in ran.modules  # it was asked
    assert [name for name in _HEAVY if name in ran.modules] == []
    assert len([name for name in ran.modules if name.startswith("hookline")]) <= _MOST_OF_OURS


def test_a_line_that_is_not_plain_is_parsed_and_denied(project: Path) -> None:
    _put(project / ".hookline", _GUARD)
    ran = called(project, "cd web && git push -f", "PreToolUse")
    said = json.loads(ran.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "hookline.matching.shell.walk.lines" in ran.modules


@every(
    "words",
    (
        [], ["PreToolUse"], ["--dialect", "x"], ["--dialect", "x", "PreToolUse"], ["PreToolUse", "--dialect", "x"],
        ["--config", "a", "--config", "b", "--strict"], ["--dialect", "x", "--dialect", "y"], ["A", "--strict", "B"],
        ["--dialect", ""], [""], ["--home", "/h", "--dialect", "x"],
    ),
)  # fmt: skip
def test_words_as_in_entries_mean_the_same_without_argparse(words: list[str]) -> None:
    plain = read_plain_words(words)
    assert plain is not None
    read = vars(parsed(build_parser("hook"), ["hook", *words]))
    assert vars(plain) == {name: read[name] for name in vars(plain)}


@every(
    "words",
    (
        ["--help"], ["-h"], ["--dia", "x"], ["--dialect=x"], ["--dialect"], ["--dialect", "--strict"], ["--strict=1"],
        ["--", "A"], ["-"], ["--print-config", "x"], ["--typo"], ["--config", "-x"], ["--version"],
    ),
)  # fmt: skip
def test_any_other_words_are_left_to_argparse(words: list[str]) -> None:
    assert read_plain_words(words) is None


@every("guard", GUARD_NAMES)
def test_a_guard_that_lets_a_plain_line_pass_would_have_nothing_to_say(guard: str) -> None:
    runner, scene = GuardRunner(), Scene(cwd="/p", project_dir="/p")
    passed = 0
    for line in (
        f"{program} {rest}" for program in sorted(PROGRAMS) for rest in ("", "-rf /", "/etc/shadow ../x")
    ):
        call = ToolCall(tool_name="Bash", tool_input={"command": line})
        if runner.passes_plainly(guard, call):
            passed += 1
            assert runner.verdict(guard, (), call, scene) is None
    assert passed or not _is_over_commands(guard)


def _is_over_commands(guard: str) -> bool:
    from hookline.guards.policy import policy_of

    return policy_of(guard).only_commands


@every(
    "call",
    (
        ToolCall(tool_name="Bash", tool_input={"command": "git push -f"}),
        ToolCall(tool_name="Bash", tool_input={"command": "ls; git push -f"}),
        ToolCall(tool_name="Bash", tool_input={"command": "ls", "cmd": "git push -f"}),
        ToolCall(tool_name="Bash", tool_input={"command": 1}),
        ToolCall(tool_name="Read", tool_input={"command": "ls"}),
        ToolCall(tool_name="bash", tool_input={"command": "ls"}),
        ToolCall(tool_name="Bash", tool_input={}),
    ),
)
def test_no_other_call_passes_without_being_judged(call: Any) -> None:
    assert not GuardRunner().passes_plainly("force-push", call)


@every("tool", sorted(CHANGING))
def test_nothing_has_to_be_looked_up_about_tools_that_change_files(tool: str) -> None:
    known = STANDARD.tool(tool)
    assert known is not None
    assert not known.patch
    assert category_of(STANDARD.canonical_name(tool)) in ("write", "run")
