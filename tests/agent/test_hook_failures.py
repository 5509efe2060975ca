"""Hooks that fail in a session of the real agent: what they wrote to stderr reaches the user, in every format."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.dialects.registry import standard_dialects
from tests.agent.scripted_session import says
from tests.cli.run_cli import Ran, run_cli

_WAYS = {
    "exit_1": "echo some output; echo the disk is full >&2; echo and more >&2; exit 1",
    "killed": "echo the disk is full >&2; echo and more >&2; kill -9 $$",
}


def _groups(line: str, event: str = "UserPromptSubmit") -> str:
    return json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": line}]}]}})


def _gemini(line: str) -> str:
    return _groups(line, "BeforeAgent")


def _codewhale(line: str) -> str:
    return f'[[hooks.hooks]]\nevent = "message_submit"\ncommand = {json.dumps(line)}\n'


def _reasonix(line: str) -> str:
    return json.dumps({"hooks": {"UserPromptSubmit": [{"command": line}]}})


def _docker_agent(line: str) -> str:
    hooks = {"user_prompt_submit": [{"type": "command", "command": line}]}
    return json.dumps({"agents": {"root": {"model": "none", "hooks": hooks}}})


#: How a hook on a prompt is written: the file, and its text.
_FORMATS: dict[str, tuple[str, Callable[[str], str]]] = {
    "claude-code": ("settings.json", _groups),
    "gen-code": ("settings.json", _groups),
    "codewhale": ("config.toml", _codewhale),
    "reasonix": ("settings.json", _reasonix),
    "docker-agent": ("agent.yaml", _docker_agent),
    "codex": ("hooks.json", _groups),
    "gemini-cli": ("settings.json", _gemini),
    "native": ("hooks.json", _groups),
}


def _run(place: Path, dialect: str, line: str, *words: str) -> Ran:
    project = place / "home" / "project"
    project.mkdir(parents=True)
    file, text = _FORMATS[dialect]
    (project / file).write_text(text(line))
    (project / "script.json").write_text(json.dumps([says("an answer")]))
    given = ["agent", "--model", "scripted:script.json", "--dialect", dialect, "--config", file, *words]
    return run_cli(given, project, project.parent)


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("dialect", standard_dialects())
def test_a_failure_shows_the_first_line_of_stderr(dialect: str, way: str, tmp_path: Path) -> None:
    ran = _run(tmp_path, dialect, _WAYS[way], "--print", "hello")
    shown = [line for line in ran.stderr.splitlines() if line.startswith(("warning:", "blocked:"))]
    assert len(shown) == 1, ran.stderr
    assert "the disk is full" in shown[0]
