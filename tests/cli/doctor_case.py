"""The doctor at work in this process, on a home and a project of a test's own."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from hookline.cli.commands.doctor.report import DoctorDocument, ProblemDocument, as_document
from hookline.cli.commands.doctor.run import examine
from hookline.cli.main import build_parser
from tests.trusting import trust_all_of

PATH = "/usr/local/bin:/usr/bin:/bin"


class DoctorCase:
    """A home and a project that its user trusts, and what the doctor says of them."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch, path: str = PATH) -> None:
        self.home = top / "home"
        self.project = top / "project"
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)
        trust_all_of(self.home, self.project)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("PATH", path)
        agents = ("CLAUDE_CONFIG_DIR", "REASONIX_HOME", "CODEX_HOME", "GEMINI_CLI_HOME")
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", *agents):
            monkeypatch.delenv(name, raising=False)

    def write(self, name: str, text: str, *, mode: int = 0o644) -> Path:
        file = self.home / name[2:] if name.startswith("~/") else self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file

    def document(self, words: Sequence[str] = ()) -> DoctorDocument:
        return as_document(examine(parsed(["--cwd", str(self.project), *words])))

    def problems(self, words: Sequence[str] = ()) -> tuple[ProblemDocument, ...]:
        return self.document(words).problems


def parsed(words: Sequence[str]) -> argparse.Namespace:
    return build_parser("doctor").parse_args(["doctor", *words])


def alarms(problems: Sequence[ProblemDocument]) -> list[str]:
    """Errors and warnings, without notes."""
    return [one.code for one in problems if one.severity != "note"]
