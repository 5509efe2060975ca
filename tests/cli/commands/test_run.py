"""`hookline run`: rules hold for every program of a command, and the rest is as without it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.config.commands import changing_command
from hookline.execguard.probe import capabilities
from tests.execguard.guarded import needs_verify
from tests.waiting import wait_until

pytestmark = needs_verify


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / ".hookline").mkdir(parents=True)
    return made


def hookline(project: Path, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "hookline", "run", *words], cwd=project, env={**os.environ, "HOME": str(project.parent)},
        capture_output=True, text=True, check=False, timeout=60, start_new_session=True, input=given,
    )  # fmt: skip


def test_a_rule_of_the_settings_stops_a_program_that_no_text_shows(project: Path) -> None:
    (project / ".hookline" / "settings.toml").write_text('[permissions]\ndeny = ["Bash(touch *)"]\n')
    (project / "build.sh").write_text("echo one; touch two; echo $?")

    done = hookline(project, "--", "sh", "build.sh")

    assert (done.returncode, done.stdout) == (0, "one\n126\n")
    assert "hookline: denied: touch two: `touch two` was denied by the rule Bash(touch *)" in done.stderr
    assert not (project / "two").exists()


def test_streams_and_status_are_those_of_the_command(project: Path) -> None:
    done = hookline(project, "--", "sh", "-c", "cat; echo bad >&2; exit 3", given="in")

    assert (done.returncode, done.stdout, done.stderr) == (3, "in", "bad\n")
    assert hookline(project, "--", "sh", "-c", "kill -9 $$").returncode == 128 + signal.SIGKILL


def test_the_command_itself_is_judged(project: Path) -> None:
    done = hookline(project, "--deny", "Bash(ls *)", "--", "ls", "-l")

    assert done.returncode == 126
    assert done.stderr.count("\n") == 1


def test_without_a_terminal_a_question_is_a_denial(project: Path) -> None:
    done = hookline(project, "--ask", "Bash(ls *)", "--", "sh", "-c", "ls -l")

    assert done.returncode == 126
    assert "needs approval" in done.stderr


def test_what_it_leaves_running_stays_guarded(project: Path) -> None:
    line = "(read -t 20 x < go; touch made; echo $? > status) >/dev/null 2>&1 & echo started"
    os.mkfifo(project / "go")

    done = hookline(project, "--deny", "Bash(touch *)", "--", "bash", "-c", line)
    assert (done.returncode, done.stdout) == (0, "started\n")
    (project / "go").write_text("now\n")

    wait_until(lambda: (project / "status").exists() and (project / "status").read_text())
    assert (project / "status").read_text() == "126\n"
    assert not (project / "made").exists()


def test_without_a_command_it_says_what_to_write(project: Path) -> None:
    done = hookline(project)

    assert done.returncode == 1
    assert "hookline run -- make test" in done.stderr


def test_self_protection_lets_it_pass_and_judges_the_command_inside() -> None:
    assert changing_command(["run", "--", "npm", "init", "--yes"]) is None
    assert changing_command(["run", "--yes", "--", "x"]) is not None


def test_connections_go_to_the_hosts_that_are_named(project: Path) -> None:
    if capabilities().network_why:
        pytest.skip(f"NO NETWORK WALL IS TESTED HERE: {capabilities().network_why}")
    line = "exec 3<>/dev/tcp/192.0.2.77/9; exit 4"

    done = hookline(project, "--only-host", "localhost", "--", "bash", "-c", line)
    wrong = hookline(project, "--only-host", "https://example.org", "--", "true")

    assert done.returncode == 4
    assert "hookline: denied: connect to 192.0.2.77:9: The network wall" in done.stderr
    assert (wrong.returncode, "is not a host" in wrong.stderr) == (1, True)
