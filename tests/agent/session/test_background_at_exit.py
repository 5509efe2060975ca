"""Hooks that still run in the background when the agent leaves: waited for, queued, or ended with a word about it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted_session import says
from tests.agent.terminal import Terminal
from tests.agent.tui.real_terminal import RealTerminal
from tests.cli.run_cli import Ran, clean_env, run_cli
from tests.waiting import waits_for

_WORDS = ("agent", "--model", "scripted:script.json", "--dialect", "codewhale")
_FAILED = "hook books gave no answer: exit 3: the books do not balance"


def _entry(event: str, command: str) -> str:
    name = "books" if event == "turn_end" else event
    return f'[[hooks.hooks]]\nevent = "{event}"\nname = "{name}"\ncommand = {json.dumps(command)}\n'


def _project(directory: Path, command: Callable[[Path], str], seconds: float = 600) -> Path:
    """A project whose `turn_end` hook runs a command, and that many seconds for it at the end."""
    project = directory / "home" / "project"
    project.mkdir(parents=True)
    hooks = _entry("turn_end", command(project)) + _entry("session_end", f"touch {project}/ended")
    file = project.parent / ".codewhale/config.toml"
    file.parent.mkdir()
    file.write_text(hooks)
    (project / "script.json").write_text(json.dumps([says("an answer")]))
    settings = project.parent / ".config/hookline/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[agent]\nbackground_seconds = {seconds}\n")
    return project


def _fails_late(project: Path) -> str:
    """Fails when the session is over."""
    return f"{waits_for(project / 'ended')}; sleep 0.2; echo the books do not balance >&2; exit 3"


def _never_ends(project: Path) -> str:
    del project
    return "exec sleep 3600"


def _run(project: Path, *words: str) -> Ran:
    return run_cli([*_WORDS, *words], project, project.parent)


def test_print_shows_the_failure_of_the_last_turn_end(tmp_path: Path) -> None:
    ran = _run(_project(tmp_path, _fails_late), "--print", "hello")
    assert (ran.status, ran.stdout) == (0, "an answer\n")
    assert f"warning: {_FAILED} (hook books, ~/.codewhale/config.toml:1)" in ran.stderr.splitlines()


def test_json_has_the_failure_of_the_last_turn_end(tmp_path: Path) -> None:
    document: dict[str, Any] = json.loads(_run(_project(tmp_path, _fails_late), "--json", "hello").stdout)
    assert {"kind": "warning", "agent": None, "text": _FAILED} in document["notices"]


def test_a_conversation_by_lines_shows_it_after_exit(tmp_path: Path) -> None:
    project = _project(tmp_path, _fails_late)
    terminal = Terminal([*_WORDS, "--plain"], project, project.parent)
    terminal.types("hello\n")
    terminal.until("agent: an answer")
    terminal.types("/exit\n")
    terminal.until(f"warning: {_FAILED}")
    assert terminal.status() == 0


def test_the_screen_shows_it_after_exit(tmp_path: Path) -> None:
    project = _project(tmp_path, _fails_late)
    line = [sys.executable, "-m", "hookline.app", *_WORDS]
    terminal = RealTerminal(line, project, clean_env(project.parent))
    try:
        terminal.until("Enter sends")
        terminal.types("hello\r")
        terminal.until("an answer")
        terminal.types("/exit\r")
        assert terminal.status() == 0
        terminal.until(_FAILED)
    finally:
        terminal.close()


def test_a_failure_is_a_warning_while_the_agent_waits_for_its_user_too(tmp_path: Path) -> None:
    project = _project(tmp_path, lambda project: f"{waits_for(project / 'go')}; echo no >&2; exit 3")
    terminal = Terminal([*_WORDS, "--plain"], project, project.parent)
    terminal.types("hello\n")
    terminal.until("agent: an answer")
    (project / "go").touch()
    terminal.until("warning: hook books gave no answer: exit 3: no")
    terminal.types("/exit\n")
    assert terminal.status() == 0


@pytest.mark.parametrize("words", [("--print", "hello"), ("--print", "hello", "/exit")])
def test_a_hook_that_is_ended_is_named_with_the_way_to_keep_it(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    ran = _run(_project(tmp_path, _never_ends, 0.2), *words)
    assert (ran.status, ran.stdout) == (0, "an answer\n")
    (line,) = [line for line in ran.stderr.splitlines() if "books" in line]
    assert line.startswith("warning: stopped: books still ran in the background when the agent left; ")
    for way in ("--durable", "durable = true", "background_seconds (now 0.2)"):
        assert way in line


def test_a_hook_that_ends_in_time_is_waited_for_and_nothing_is_said(tmp_path: Path) -> None:
    project = _project(
        tmp_path, lambda project: f"{waits_for(project / 'ended')}; sleep 0.2; touch {project}/done"
    )
    ran = _run(project, "--print", "hello")
    assert (project / "done").exists()
    assert ran.stderr == ""


def test_a_durable_hook_that_has_not_ended_stays_in_the_queue_and_that_is_said(tmp_path: Path) -> None:
    project = _project(tmp_path, lambda project: f"{waits_for(project / 'go')}; touch {project}/done", 0.2)
    ran = _run(project, "--durable", "--print", "hello")
    assert "stopped" not in ran.stderr
    assert "note: books had not ended when the agent left: queued, to be finished later" in ran.stderr
    assert not (project / "done").exists()
    (project / "go").touch()
    ran = run_cli(["jobs", "run"], project, project.parent)
    assert ran.stdout == "1 job run to the end, 0 left to others, 0 dead letters\n"
    assert (project / "done").exists()
