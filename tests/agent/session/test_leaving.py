"""Test how a run of the agent ends for its caller: its status, its answer, Ctrl-C at a terminal."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.agent.terminal import Terminal
from tests.cli.run_cli import Ran, clean_env, command_line, run_cli
from tests.waiting import LONG, wait_until


def _project(directory: Path, script: list[Any], hooks: dict[str, Any] | None = None) -> Path:
    project = directory / "home" / "project"
    project.mkdir(parents=True)
    (project / "script.json").write_text(json.dumps(script))
    (project / "hooks.json").write_text(json.dumps({"hooks": hooks or {}}))
    return project


def _words(*more: str) -> list[str]:
    return ["agent", "--model", "scripted:script.json", "--config", "hooks.json", *more]


def _run(project: Path, *words: str, stdin: str = "") -> Ran:
    return run_cli(_words(*words), project, project.parent, stdin=stdin, timeout=LONG)


def _command(command: str, **more: Any) -> list[dict[str, Any]]:
    return [{"hooks": [{"type": "command", "command": command, **more}]}]


def test_a_conversation_in_which_nothing_went_wrong_ends_well(tmp_path: Path) -> None:
    project = _project(tmp_path, [{"text": "hi"}])
    ran = _run(project, "--json", stdin="/exit\n")
    assert (ran.status, json.loads(ran.stdout)["status"]) == (0, "completed")


def test_who_wants_an_answer_printed_and_forgets_the_prompt_is_told(tmp_path: Path) -> None:
    ran = _run(_project(tmp_path, []), "--print")
    assert ran.status == 1
    assert "no prompt: pass one" in ran.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--max-iterations", "0"], "at least 1"),
        (["--max-tool-calls", "-1"], "is not a whole number, 0 or more"),
        (["--fork"], "--fork needs --resume"),
    ],
)
def test_a_flag_that_makes_no_sense_is_refused(words: list[str], says: str, tmp_path: Path) -> None:
    ran = _run(_project(tmp_path, [{"text": "hi"}]), "--print", "go", *words)
    assert ran.status != 0
    assert says in ran.stderr


def test_setup_is_not_run_again_for_a_session_that_is_taken_up(tmp_path: Path) -> None:
    project = _project(tmp_path, [{"text": "one"}, {"text": "two"}, {"text": "three"}])
    _run(project, "--print", "first")
    ran = _run(project, "--json", "--setup", "init", stdin="second\n/resume last\nthird\n")
    fired = [event["event"] for event in json.loads(ran.stdout)["events"]]
    assert fired.count("Setup") == 1
    assert fired.count("SessionStart") == 2
    said = str(json.loads(ran.stdout)["requests"][-1]["messages"])
    assert "first" in said
    assert "second" not in said


def test_ctrl_c_while_hooks_in_the_background_have_their_time_loses_no_answer(tmp_path: Path) -> None:
    hooks = {"Stop": _command("touch here; exec sleep 600", **{"async": True})}
    project = _project(tmp_path, [{"text": "the answer"}], hooks)
    process = subprocess.Popen(
        command_line(_words("--print", "go")),
        cwd=project,
        env=clean_env(project.parent),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until((project / "here").exists)
        assert process.stdout is not None
        assert process.stdout.readline() == "the answer\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 0
    finally:
        process.kill()
        process.communicate()


def _terminal(project: Path, *words: str) -> Terminal:
    return Terminal(_words(*words), project, project.parent)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pty.fork where other tests left threads
def test_ctrl_c_at_a_terminal_stops_the_turn_and_the_next_one_leaves(tmp_path: Path) -> None:
    calls = {"tool_calls": [{"name": "Bash", "input": {"command": "touch here; exec sleep 600"}}]}
    hooks = {"SessionEnd": _command("echo over >> ends")}
    project = _project(tmp_path, [calls, {"text": "I am still here"}], hooks)
    terminal = _terminal(project, "--allow", "Bash")
    terminal.types("go\n")
    wait_until((project / "here").exists)
    terminal.types("\x03")
    terminal.until("warning: interrupted")
    assert not (project / "ends").exists()
    terminal.types("on\n")
    terminal.until("I am still here")
    terminal.types("\x03")
    assert terminal.status() == 130
    assert (project / "ends").read_text() == "over\n"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as above
def test_a_terminal_that_is_closed_ends_the_session_as_it_should(tmp_path: Path) -> None:
    project = _project(tmp_path, [{"text": "hello"}], {"SessionEnd": _command("echo over >> ends")})
    terminal = _terminal(project)
    terminal.types("go\n")
    terminal.until("hello")
    terminal.hangs_up()
    assert terminal.status() == 130
    assert (project / "ends").read_text() == "over\n"
