"""Test calls by hand: they are no proof that an agent asks, and never run Hookline's own entries."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from hookline.cli.commands.hook.entries import faster, pinned_program
from tests.cli.run_cli import Ran, Workspace, clean_env, run_cli

GUARD = """\
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "no rm"
command = "grep -q rm && { echo no rm here >&2; exit 2; } || exit 0"
"""


def command(where: Workspace, *words: str) -> Ran:
    return run_cli(list(words), where.project, where.home)


@pytest.fixture
def installed(where: Workspace) -> Workspace:
    where.write("~/.config/hookline/hooks.toml", GUARD)
    assert command(where, "install", "claude-code", "--yes").status == 0
    return where


def asked(where: Workspace) -> bool:
    """Return True if doctor believes that Claude Code has called Hookline."""
    found = json.loads(command(where, "doctor", "--json").stdout)
    (claude,) = [each for each in found["agents"] if each["agent"] == "claude-code"]
    return claude["seen"] is not None


def payload(where: Workspace, line: str = "rm x") -> bytes:
    return json.dumps(
        {
            "hook_event_name": "PreToolUse",
            "session_id": "s-1",
            "cwd": str(where.project),
            "tool_name": "Bash",
            "tool_input": {"command": line},
            "tool_use_id": "t-1",
        }
    ).encode()


@pytest.mark.parametrize(
    "words",
    [
        ("fire", "PreToolUse", "Bash", "command=rm x"),
        ("fire", "PreToolUse", "Bash", "command=rm x", "--dialect", "claude-code"),
        ("explain", "PreToolUse", "Bash", "command=rm x"),
        ("list",),
        ("backtest", "--since", "all"),
        ("agent", "--model", "demo", "-p", "hello"),
    ],
)
def test_no_command_runs_the_entries(words: tuple[str, ...], installed: Workspace) -> None:
    ran = command(installed, *words)
    assert "Traceback" not in ran.stderr
    if words[0] in ("fire", "explain"):
        assert "Hookline, installed here: " in ran.stdout
        assert "it would call Hookline again" in ran.stdout
    assert ("Hookline, installed here: the agent runs it" in ran.stdout) == (words[0] == "explain")
    assert not asked(installed)
    journal = installed.home / ".local/state/hookline/journal.jsonl"
    runs = journal.read_text() if journal.exists() else ""
    assert '"hookline hook"' not in runs


def test_a_call_at_a_terminal_is_answered_and_proves_nothing(installed: Workspace) -> None:
    """The relay leaves it to the program, which records that a person called."""
    line = [
        *faster(pinned_program()).split(),
        "hook",
        "--dialect",
        "claude-code",
        "--home",
        str(installed.home),
    ]
    file = installed.home / "payload.json"
    file.write_bytes(payload(installed))
    master, slave = pty.openpty()
    with file.open("rb") as stdin:
        ran = subprocess.run(
            [*line, "PreToolUse"], cwd=installed.project, env=clean_env(installed.home), stdin=stdin,
            stdout=subprocess.PIPE, stderr=slave, check=False,
        )  # fmt: skip
    os.close(slave)
    os.close(master)
    assert b"no rm here" in ran.stdout
    assert not asked(installed)
    assert list((installed.home / ".local/state/hookline").glob("sessions/*")) == []
    logged = command(installed, "log", "--json").stdout
    assert '"origin":"hand"' in logged.replace(": ", ":")
    # The same call by an agent, which reads both streams.
    ran = subprocess.run(
        [*line, "PreToolUse"], cwd=installed.project, env=clean_env(installed.home), input=payload(installed),
        capture_output=True, check=False,
    )  # fmt: skip
    assert b"no rm here" in ran.stdout
    assert asked(installed)


def test_fire_says_where_the_outcome_holds(installed: Workspace) -> None:
    (installed.home / ".codex").mkdir()
    ran = command(installed, "fire", "PreToolUse", "Bash", "command=rm x")
    assert "  holds in: Claude Code\n" in ran.stdout
    assert "  Codex would not ask no rm: Hookline is not installed there (hookline install)\n" in ran.stdout
    assert command(installed, "install", "codex", "--events", "Stop", "--yes").status == 0
    ran = command(installed, "explain", "PreToolUse", "Bash", "command=rm x")
    assert "Codex would not ask no rm: its entries do not call Hookline at PreToolUse" in " ".join(
        ran.stdout.split()
    )
    assert command(installed, "install", "codex", "--events", "all", "--yes").status == 0
    ran = command(installed, "fire", "PreToolUse", "Bash", "command=rm x")
    assert "  holds in: Claude Code, Codex\n" in ran.stdout
    # A hook of Claude Code runs in Codex with --hooks all alone.
    Path(installed.project / ".claude").mkdir()
    installed.write(
        ".claude/settings.json",
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true theirs"}]}]}}',
    )
    ran = command(installed, "fire", "PreToolUse", "Bash", "command=rm x")
    assert "Codex would not ask true: only Hookline's own hooks run there" in " ".join(ran.stdout.split())
    assert command(installed, "install", "codex", "--hooks", "all", "--yes").status == 0
    assert (
        "  holds in: Claude Code, Codex\n"
        in command(installed, "fire", "PreToolUse", "Bash", "command=rm x").stdout
    )


def test_a_line_in_place_of_a_tool_is_refused(where: Workspace) -> None:
    for name in ("fire", "explain"):
        ran = command(where, name, "PreToolUse", "git push --force")
        assert ran.status == 1
        assert "did you mean: fire PreToolUse Bash command='git push --force'" in ran.stderr
