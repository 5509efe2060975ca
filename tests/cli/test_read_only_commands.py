"""Test what every read-only command guarantees to its callers, as real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run_cli import Ran, clean_env, run_cli
from tests.cli.sample_configs import NATIVE
from tests.trusting import trust_all_of

COMMANDS = (
    ["list"],
    ["explain", "PreToolUse", "Bash", "command=ls"],
    ["fire", "PreToolUse", "Bash", "command=ls", "--dry-run"],
    ["events", "PreToolUse"],
    ["schema", "config"],
)
ids = [words[0] for words in COMMANDS]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".hookline").mkdir()
    (tmp_path / ".hookline" / "hooks.toml").write_text(NATIVE)
    trust_all_of(tmp_path, tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=ids)
def test_a_reader_who_had_enough_is_fine(project: Path, words: list[str]) -> None:
    line = f"({sys.executable} -m hookline.app {' '.join(words)}; echo $? >&2) | head -n 1"
    ran = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=project, env=clean_env(project), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert ran.stderr == "0\n"
    assert ran.stdout.count("\n") == 1


@pytest.mark.parametrize("words", COMMANDS, ids=ids)
def test_nothing_is_written_anywhere(project: Path, words: list[str]) -> None:
    before = sorted(project.rglob("*"))
    assert run_cli(words, project, project).status == 0
    assert sorted(project.rglob("*")) == before


def bad(project: Path, *words: str, stdin: str = "") -> Ran:
    ran = run_cli(words, project, project, stdin=stdin)
    assert ran.status == 1
    assert "Traceback" not in ran.stderr
    return ran


@pytest.mark.parametrize("command", ["fire", "explain"])
@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ("{", "cannot be read as JSON"),
        ("[1]", "is not a JSON object"),
        ('{"hook_event_name": "PreToolUse"}', ": the payload of PreToolUse: tool_name is missing"),
        ('{"hook_event_name": "PreToolUze", "tool_name": "x"}', "did you mean 'PreToolUse'?"),
        ("{}", "name the event to fire"),
    ],
)
def test_a_payload_that_cannot_be_used_is_one_clear_line(
    project: Path, command: str, payload: str, said: str
) -> None:
    ran = bad(project, command, "--payload", "-", stdin=payload)
    assert (ran.stdout, said in ran.stderr, ran.stderr.count("\n")) == ("", True, 1)
    assert ": error: " not in ran.stderr


@pytest.mark.parametrize("command", ["list", "fire", "explain"])
def test_a_wrong_name_is_told_the_nearest(project: Path, command: str) -> None:
    assert "did you mean 'Stop'?" in bad(project, command, "Stopp").stderr
    assert "did you mean 'reasonix'?" in bad(project, command, "Stop", "--dialect", "reasonx").stderr
    assert "no such directory" in bad(project, command, "Stop", "--cwd", "nowhere").stderr


@pytest.mark.parametrize("words", [["events", "Stopp"], ["schema", "payload", "Stopp"]])
def test_a_wrong_event_is_told_the_nearest(project: Path, words: list[str]) -> None:
    assert "did you mean 'Stop'?" in bad(project, *words).stderr


@pytest.mark.parametrize(
    "words", [["list"], ["explain", "Stop"], ["fire", "Stop", "--dry-run"]], ids=["list", "explain", "fire"]
)
def test_a_file_name_that_is_no_text_is_spelled_out(project: Path, words: list[str]) -> None:
    odd = os.fsdecode(os.fsencode(project) + b"/odd\xff.toml")
    # A warning names the file as well.
    Path(odd).write_text(f'{NATIVE}[[hooks.Stop.hooks]]\ncommand = "x"\nnmae = "y"\n')
    assert run_cli([*words, "--config", odd], project, project).status == 0
    ran = run_cli([*words, "--config", odd, "--json"], project, project)
    assert (ran.status, ran.stderr.count("\n")) == (0, 1)
    assert json.loads(ran.stdout)["diagnostics"][0]["where"].endswith("/odd\\udcff.toml:36")
