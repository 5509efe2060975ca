"""`make package`: builds the sdist and the wheel into dist/, installs each in a clean environment and tries it out.

Ends with 1 and a line that says what is wrong. Everything but dist/ is made in a temporary folder and removed.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import hookline

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VERSION = hookline.__version__
_HOOKS = """[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
command = "echo 'not today' >&2; exit 2"
"""


class PackageError(Exception):
    """What is wrong with the package."""


def main() -> int:
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="hookline-package-") as scratch:
            wheel, sdist = build()
            check_wheel(wheel)
            check_sdist(sdist)
            for artefact in (wheel, sdist):
                try_out(artefact, Path(scratch, artefact.suffix.strip(".")))
    except PackageError as problem:
        say(f"make package: {problem}")
        return 1
    say(f"both work ({time.monotonic() - started:.0f} s); they are in {DIST.name}/")
    return 0


def build() -> tuple[Path, Path]:
    """The wheel is built from the sdist, so it holds nothing that the sdist lacks."""
    say(f"building hookline {VERSION} ...")
    shutil.rmtree(DIST, ignore_errors=True)
    run([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)])
    wheel, sdist = DIST / f"hookline-{VERSION}-py3-none-any.whl", DIST / f"hookline-{VERSION}.tar.gz"
    for artefact in (wheel, sdist):
        if not artefact.exists():
            raise PackageError(f"{artefact.name} was not built; dist/ has {sorted(os.listdir(DIST))}")
        say(f"  {artefact.name}  {artefact.stat().st_size / 1024:.0f} KiB")
    return wheel, sdist


def check_wheel(wheel: Path) -> None:
    """It holds the package as it is in src, the licence, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    source = {
        file.relative_to(ROOT / "src").as_posix()
        for file in (ROOT / "src" / "hookline").rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    about = f"hookline-{VERSION}.dist-info"
    missing = (source | {"hookline/py.typed", f"{about}/licenses/LICENSE"}) - packed
    foreign = {name for name in packed - source if not name.startswith(about)}
    if missing or foreign:
        raise PackageError(f"{wheel.name} lacks {sorted(missing)} and should not have {sorted(foreign)}")


def check_sdist(sdist: Path) -> None:
    top = f"hookline-{VERSION}"
    with tarfile.open(sdist) as archive:
        packed = set(archive.getnames())
    missing = [each for each in ("README.md", "LICENSE", "CHANGELOG.md") if f"{top}/{each}" not in packed]
    if missing:
        raise PackageError(f"{sdist.name} lacks {', '.join(missing)}")


def try_out(artefact: Path, folder: Path) -> None:
    say(f"installing {artefact.name} in a clean environment ...")
    venv.create(folder / "venv", with_pip=True)
    binaries = folder / "venv" / "bin"
    python, command = str(binaries / "python"), str(binaries / "hookline")
    constraints = str(ROOT / "requirements" / "constraints.txt")
    run(
        [
            python,
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            "-c",
            constraints,
            str(artefact),
        ]
    )

    project = folder / "project"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline" / "hooks.toml").write_text(_HOOKS)
    # The project is our own; hooks of a project that nobody has trusted do not run.
    settings = folder / ".config" / "hookline" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"trusted = ['{project}']\n")
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "LANG": "C.UTF-8"}

    def expect(words: Sequence[str], shown: str, status: int = 0) -> None:
        answer = run(words, status=status, cwd=project, env=env)
        if shown not in answer:
            raise PackageError(f"{' '.join(words)} should print {shown!r}, not {answer.strip()!r}")

    expect([command, "--version"], f"hookline {VERSION}")
    expect([python, "-m", "hookline", "--version"], f"hookline {VERSION}")
    expect([python, "-c", "import hookline; print(hookline.__version__)"], VERSION)
    expect([command, "doctor"], ".hookline/hooks.toml")
    expect([command, "fire", "PreToolUse", "Bash", "command=ls"], "not today", status=2)
    expect([command, "schema", "config"], '"$schema"')
    run([python, "-m", "pip", "uninstall", "-qq", "--yes", "--disable-pip-version-check", "hookline"])
    if left := [str(file) for file in (folder / "venv").rglob("*hookline*")]:
        raise PackageError(f"after pip uninstall there is still {', '.join(left)}")


def run(
    words: Sequence[str], *, status: int = 0, cwd: Path | None = None, env: dict[str, str] | None = None
) -> str:
    """What it prints. Another exit status is an error that shows everything."""
    done = subprocess.run(
        words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != status:
        raise PackageError(f"{' '.join(words)}: exit status {done.returncode}, not {status}\n{done.stdout}")
    return done.stdout


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
