"""Hooks that fail in a session of the real agent: what they wrote to stderr reaches the user, in every format."""

import json
from pathlib import Path

import pytest

from hookline.dialects.registry import OWN_FORMAT
from tests.agent.scripted_session import says
from tests.agents import AGENTS, WITH_FILES
from tests.cli.run_cli import Ran, run_cli

_WAYS = {
    "exit_1": "echo some output; echo the disk is full >&2; echo and more >&2; exit 1",
    "killed": "echo the disk is full >&2; echo and more >&2; kill -9 $$",
}


def _run(directory: Path, dialect: str, line: str, *words: str) -> Ran:
    project = directory / "home" / "project"
    project.mkdir(parents=True)
    agent = AGENTS[dialect]
    suffix = agent.file.rpartition(".")[2] if dialect != OWN_FORMAT else "json"
    file = f"hooks.{suffix}"
    (project / file).write_text(agent.written(agent.prompt, line))
    (project / "script.json").write_text(json.dumps([says("an answer")]))
    given = ["agent", "--model", "scripted:script.json", "--dialect", dialect, "--config", file, *words]
    return run_cli(given, project, project.parent)


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("dialect", WITH_FILES)
def test_a_failure_shows_the_first_line_of_stderr(dialect: str, way: str, tmp_path: Path) -> None:
    ran = _run(tmp_path, dialect, _WAYS[way], "--print", "hello")
    shown = [line for line in ran.stderr.splitlines() if line.startswith(("warning:", "blocked:"))]
    assert len(shown) == 1, ran.stderr
    assert "the disk is full" in shown[0]
