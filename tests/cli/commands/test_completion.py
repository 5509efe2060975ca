"""Completion scripts: what the parsers take is what the shell offers."""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hookline.cli.commands.completion import SHELLS
from hookline.cli.commands.completion.run import CommandWords, all_commands, bash, fish, zsh
from hookline.cli.main import COMMANDS
from hookline.events import EVENTS
from tests.cli.run_cli import Workspace, run_cli, run_here

_ASK = """
source "$1"
COMP_WORDS=(hookline "${@:2}")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_hookline
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "hookline.bash"
    file.write_text(bash(all_commands()))
    return file


def offered(script: Path, *words: str) -> list[str]:
    """Return what bash offers for the last word."""
    ran = subprocess.run(
        ["bash", "--norc", "-c", _ASK, "bash", str(script), *words],
        cwd=script.parent, capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    assert ran.stderr == ""
    return ran.stdout.split()


def test_bash_offers_the_commands(script: Path) -> None:
    assert offered(script, "") == [*COMMANDS, "--help", "--version"]
    assert offered(script, "gua") == ["guard"]
    assert offered(script, "--v") == ["--version"]


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_offers_the_options_of_every_command(script: Path, command: str) -> None:
    known = next(each for each in all_commands() if each.name == command)
    assert offered(script, command, "-") == list(known.option_strings)


def test_bash_offers_events_dialects_and_choices(script: Path) -> None:
    assert offered(script, "fire", "PreT") == ["PreToolUse", "PreToolSelection"]
    assert offered(script, "fire", "") == list(EVENTS)
    assert offered(script, "fire", "Stop", "--dialect", "co") == ["codewhale", "codex", "copilot-cli"]
    assert offered(script, "log", "--event", "Stop") == ["Stop", "StopFailure"]
    assert offered(script, "log", "--decision", "d") == ["deny", "defer"]
    assert offered(script, "completion", "") == list(SHELLS)
    assert offered(script, "guard", "") == [
        *("add", "test", "list", "promote", "demote", "off", "remove", "pause", "resume"),
    ]


def test_bash_offers_directories_where_one_is_wanted(script: Path) -> None:
    (script.parent / "folder").mkdir(exist_ok=True)
    (script.parent / "found.txt").write_text("")
    assert offered(script, "guard", "--cwd", "fo") == ["folder"]
    assert offered(script, "fire", "--config", "fo") == []  # bash itself offers files then


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_that_is_here_can_read_its_script(shell: str, where: Workspace) -> None:
    ran = run_cli(["completion", shell], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    there = shutil.which(shell)
    if there is not None:
        checked = subprocess.run([there, "-n"], input=ran.stdout, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("make", [bash, zsh, fish])
def test_every_command_and_option_is_in_every_script(make: Callable[[Sequence[CommandWords]], str]) -> None:
    text = make(all_commands())
    for command in all_commands():
        assert command.name in text
        for option in command.option_strings:
            assert (_in_fish(option) if make is fish else option) in text


def _in_fish(option: str) -> str:
    return f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_offered_is_what_the_help_says(
    command: str, where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = next(each for each in all_commands() if each.name == command)
    page = run_here([command, "--help"], where, capsys, monkeypatch).stdout
    for option in known.option_strings:
        assert option in page


def test_another_shell_is_refused_with_those_there_are(where: Workspace) -> None:
    ran = run_cli(["completion", "tcsh"], where.project, where.home)
    assert (ran.status, ran.stdout) == (1, "")
    assert "'bash', 'zsh', 'fish'" in ran.stderr
