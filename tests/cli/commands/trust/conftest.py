"""Make a project that is not trusted yet, empty and with hooks."""

from pathlib import Path

import pytest

from tests.cli.commands.trust.projects import HOOKS
from tests.cli.in_process import InProcess, in_process
from tests.trusting import trust_nothing


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    monkeypatch.delenv("HOOKLINE_TRUST", raising=False)
    made = in_process(tmp_path, monkeypatch, capsys)
    (made.workspace.project / ".git").mkdir()
    trust_nothing(made.workspace.home)
    return made


@pytest.fixture
def project(here: InProcess) -> InProcess:
    here.write(".hookline/hooks.toml", HOOKS)
    here.write("guard.sh", "echo guarded >> ran.txt\n")
    return here
