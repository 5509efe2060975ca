"""Commands called in this process where they run nothing: many facts in little time."""

import os
from pathlib import Path

import pytest
from msgspec import Struct

from hookline.cli.main import run
from tests.cli.run_cli import Ran, Workspace, clean_env
from tests.trusting import trust_all_of
from tests.warm_process import run_warm

#: These start hooks, and become the parent of what hooks leave behind: they need a separate process.
_RUNNING = frozenset({"agent", "fire", "hook"})
_OTHERS = (
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    "REASONIX_HOME",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "HOOKLINE_TRACE",
)


class InProcess(Struct, frozen=True):
    """A project, a home, and the commands."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]

    def write(self, name: str, text: str) -> Path:
        return self.workspace.write(name, text)

    def call(self, *words: str) -> Ran:
        if words[0] in _RUNNING:
            ran = run_warm(words, cwd=Path.cwd(), env={**clean_env(self.workspace.home), **os.environ})
            return Ran(ran.status, ran.stdout.decode(), ran.stderr.decode())
        status = run(words)
        out, err = self.capsys.readouterr()
        return Ran(status, out, err)


def in_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> InProcess:
    workspace = Workspace(tmp_path / "home", tmp_path / "home" / "project")
    workspace.project.mkdir(parents=True)
    trust_all_of(workspace.home, workspace.project)
    for name in _OTHERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(workspace.home))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(workspace.project)
    return InProcess(workspace, capsys)
