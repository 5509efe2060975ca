"""`hookline agent` with servers, as a real process."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.agent.mcp.server_sessions import alive, configure, entry
from tests.cli.run_cli import clean_env, command_line
from tests.trusting import trust_all_of
from tests.waiting import wait_until


def _command(directory: Path, script: Sequence[Mapping[str, Any]], *words: str) -> list[str]:
    file = directory / "script.json"
    file.write_text(json.dumps(script))
    trust_all_of(directory / "home", directory / "home" / "project")
    return command_line(["agent", "--model", f"scripted:{file}", "--allow", "mcp__*", *words])


def _run(directory: Path, command: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    home = directory / "home"
    return subprocess.run(
        command, cwd=home / "project", env=clean_env(home), input=stdin, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip


def test_in_a_conversation_the_user_answers_a_server_line_by_line(tmp_path: Path):
    configure(tmp_path, hk=entry())
    script = [{"tool_calls": [{"name": "mcp__hk__ask", "input": {"text": "x"}}]}, {"text": "done"}]
    ran = _run(tmp_path, _command(tmp_path, script, "--json"), "go\nann\n")
    document = json.loads(ran.stdout)
    assert document["status"] == "completed"
    fired = [event["event"] for event in document["events"]]
    assert fired.index("Elicitation") < fired.index("ElicitationResult")
    (after,) = [event for event in document["events"] if event["event"] == "PostToolUse"]
    assert after["payload"]["tool_response"][0]["text"] == (
        'answered {"action": "accept", "content": {"username": "ann"}}'
    )
    assert "? the MCP server hk asks: who?" in ran.stderr
    assert "username (Username), may be left empty:" in ran.stderr


def test_a_bad_entry_and_a_server_that_dies_are_told_on_stderr_without_escapes(tmp_path: Path):
    configure(tmp_path, bad={"comand": "x"}, hk=entry("dies"))
    ran = _run(tmp_path, _command(tmp_path, [{"text": "done"}], "--print", "go"))
    assert ran.returncode == 0
    assert ran.stdout == "done\n"
    assert "the MCP server bad needs a command" in ran.stderr
    assert "ended with exit status 1; its last output: no cheese today" in ran.stderr
    assert "\x1b" not in ran.stderr


def test_servers_end_when_the_agent_is_killed_outright(tmp_path: Path):
    configure(tmp_path, hk=entry("stubborn"))
    pid_file = tmp_path / "pid"
    script: list[Mapping[str, Any]] = [
        {"tool_calls": [{"name": "mcp__hk__pid", "input": {}}]},
        {"tool_calls": [{"name": "mcp__hk__sleep", "input": {}}]},
    ]
    hook = f'PostToolUse=sed \'s/.*"text":"\\([0-9]*\\)".*/\\1/\' > {pid_file}.new && mv {pid_file}.new {pid_file}'
    command = _command(tmp_path, script, "--json", "go", "--hook", hook)
    home = tmp_path / "home"
    with subprocess.Popen(
        command,
        cwd=home / "project",
        env=clean_env(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        wait_until(lambda: pid_file.exists() or process.poll() is not None)
        server = int(pid_file.read_text())
        assert alive(server)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    wait_until(lambda: not alive(server))
