"""`hookline` as a real process, in surroundings that are the same on every machine."""

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from hookline.cli.main import run
from tests.homes import at_home
from tests.trusting import trust_all_of
from tests.warm_process import run_warm

#: Directory of the interpreter that has hookline installed, so that hooks and pages can say `hookline`.
_BIN = str(Path(sys.executable).parent)


class Ran(Struct, frozen=True):
    status: int
    stdout: str
    stderr: str


class Workspace(Struct, frozen=True):
    """A home, and a project in it. The path is equally long every time: tables wrap at the same words."""

    home: Path
    project: Path

    def write(self, name: str, text: str) -> Path:
        """A file below the project, or below the home with `~/`; what starts with #! may be run."""
        file = self.home / name[2:] if name.startswith("~/") else self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if text.startswith("#!") else 0o644)
        return file


def clean_env(home: Path, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the real user: no XDG_* but those below `home`, no HOOKLINE_*, no colours, 100 columns."""
    return {
        "PATH": f"{_BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "HOOKLINE_DAEMON": "off",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        **(env or {}),
    }


def command_line(words: Sequence[str], home: Path | None = None) -> list[str]:
    """Return the command line of a separate process; `home` is that of a call of an agent."""
    own = at_home(words, {} if home is None else {"HOME": str(home)})
    return [sys.executable, "-m", "hookline.app", *own]


def run_cli(
    words: Sequence[str],
    cwd: Path,
    home: Path,
    *,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes | None = None,
    timeout: float = 60,
) -> Ran:
    """Run `hookline WORDS` in `cwd` for the user of `home`. Without `stdin` there is nothing to read."""
    given = stdin.encode() if isinstance(stdin, str) else stdin or b""
    ran = run_warm(words, cwd=cwd, env=clean_env(home, env), stdin=given, timeout=timeout)
    return Ran(ran.status, ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace"))


@contextmanager
def workspace() -> Generator[Workspace]:
    """A home whose user trusts the project in it, which is empty, for texts that go into golden files."""
    top = Path(tempfile.mkdtemp(prefix="hl-", dir=os.path.realpath("/tmp")))
    try:
        made = Workspace(top / "home", top / "home" / "project")
        made.project.mkdir(parents=True)
        trust_all_of(made.home, made.project)
        yield made
    finally:
        shutil.rmtree(top, ignore_errors=True)


def run_here(
    words: Sequence[str],
    where: Workspace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Ran:
    """Do the same in this process, for commands that need no separate one: no hooks, no signals, no streams."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOOKLINE_TRACE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in clean_env(where.home).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(where.project)
    capsys.readouterr()
    try:
        status = run(words)
    except SystemExit as left:  # argparse leaves this way
        status = int(left.code or 0)
    out, err = capsys.readouterr()
    return Ran(status, out, err)
