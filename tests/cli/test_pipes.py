"""A pipe where a file of settings is expected, as in a hostile repository, holds up no command."""

import os
import subprocess

import pytest

from tests.cli.run_cli import Workspace, clean_env, command_line


@pytest.mark.parametrize(
    "words", [("fire", "SessionStart"), ("explain", "SessionStart"), ("doctor",), ("list",)]
)
def test_a_command_ends_and_names_the_pipe(words: tuple[str, ...], where: Workspace) -> None:
    where.project.joinpath(".claude").mkdir()
    os.mkfifo(where.project / ".claude/settings.json")
    done = subprocess.run(
        command_line(words, where.home), cwd=where.project, env=clean_env(where.home), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert ".claude/settings.json" in done.stdout + done.stderr
