"""Test the files for operators: units that systemd accepts, agents of launchd, and commands that exist."""

import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.cli.commands.fleet.join import launchd_agent, systemd_unit
from tests.every import every
from tests.warm_process import run_warm

ROOT = Path(__file__).parents[2]
OPERATIONS = ROOT / "examples" / "operations"


def commands() -> list[list[str]]:
    """The commands of Hookline in the files, without its path."""
    found: list[list[str]] = []
    for file in OPERATIONS.iterdir():
        text = re.sub(r"\\\n#? *", "", file.read_text())
        found += [
            shlex.split(each) for each in re.findall(r"^ExecStart=\S+/hookline (.*)$", text, re.MULTILINE)
        ]
        found += [
            shlex.split(each) for each in re.findall(r"^# +docker run .* hookline (.*)$", text, re.MULTILINE)
        ]
    return found


def test_the_commands_in_the_files_for_operators_have_these_options(tmp_path: Path) -> None:
    found = commands()
    assert sorted(each[0] for each in found) == ["console", "fleet", "serve", "serve"]
    for words in found:
        name = words[: next(index for index, word in enumerate(words) if word.startswith("--"))]
        text = run_warm(
            [*name, "--help"], cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": os.defpath}
        ).stdout.decode()
        for option in (word for word in words if word.startswith("--")):
            assert f"{option} " in text or f"{option}]" in text, (name, option)


@every(
    ("name", "unit"),
    [
        *((each.name, each.read_bytes()) for each in sorted(OPERATIONS.glob("*.service"))),
        ("hookline-fleet.service", systemd_unit(["/a b/$python%", "-m", "hookline", "fleet", "worker"])),
    ],
)
def test_systemd_accepts_the_units(tmp_path: Path, name: str, unit: bytes) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("UNITS ARE NOT TESTED: there is no systemd-analyze")
    program = tmp_path / "a b" / "$python%"
    if not program.parent.exists():
        program.parent.mkdir()
        program.symlink_to(sys.executable)
    text = unit.decode().replace("/a b/$python%%", str(tmp_path / "a b" / "$python%%"))
    text = re.sub(r"/opt/hookline/bin/hookline", sys.executable, text)
    (tmp_path / name).write_text(text)
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_launchd_gets_the_words_as_they_are() -> None:
    words = ["/a b/<python>", "-m", "hookline", "fleet", "worker"]
    found = plistlib.loads(launchd_agent(words))
    assert found["ProgramArguments"] == words
    assert found["KeepAlive"] == {"SuccessfulExit": False}
