"""`make package`: builds the sdist and the wheels into dist/, installs each in a clean environment and tries it out.

There are two wheels: one with the compiled relay, for systems like this one, and one with the relay in Python, for all;
without a C compiler only the second. The sdist is installed as on a machine without a compiler. It ends with 1
and a line that names the error. Everything but dist/ is made in a temporary directory and removed.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import hookline
from hookline.cli.commands.docs.run import PARTS
from hookline.hook.relay.build import COMPILERS, SHELLS

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VERSION = hookline.__version__
_HOOKS = """[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
command = "echo 'not today' >&2; exit 2"
"""
_IN_SDIST = (
    "README.md", "LICENSE", "CHANGELOG.md", "hatch_build.py", "src/hookline/hook/relay/relay.c",
)  # fmt: skip
_CALL = ("hook", "--dialect", "claude-code", "PreToolUse")
_DENIED = '"permissionDecision":"deny","permissionDecisionReason":"not today"'
_PAYLOAD = '{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}'


class PackageError(Exception):
    """An error in the package."""


def main() -> int:
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="hookline package ") as scratch:
            # The name has a space: installers write programs in another way for such directories.
            wheels, sdist = build()
            check_sdist(sdist)
            for wheel in wheels:
                check_wheel(wheel)
            for artefact in (*wheels, sdist):
                try_out(artefact, Path(scratch, artefact.stem))
    except PackageError as problem:
        say(f"make package: {problem}")
        return 1
    say(f"all of them work ({time.monotonic() - started:.0f} s); they are in {DIST.name}/")
    return 0


def build(others: Sequence[str] = ()) -> tuple[list[Path], Path]:
    """The wheels are built from the sdist, so they hold nothing that the sdist lacks. The one for all is the last.

    `others` are further kinds of processors.
    """
    say(f"building hookline {VERSION} ...")
    shutil.rmtree(DIST, ignore_errors=True)
    builder = [sys.executable, "-m", "build", "--outdir", str(DIST)]
    run([*builder, str(ROOT)])
    sdist = DIST / f"hookline-{VERSION}.tar.gz"
    if any(shutil.which(each) for each in COMPILERS):
        with tempfile.TemporaryDirectory(prefix="hookline-package-") as scratch:
            run(["tar", "-xzf", str(sdist), "-C", scratch])
            source = str(Path(scratch, f"hookline-{VERSION}"))
            run([*builder, "--wheel", source], env=dict(os.environ) | {"HOOKLINE_PURE": "1"})
            for machine in others:
                run([*builder, "--wheel", source], env=dict(os.environ) | {"HOOKLINE_RELAY_FOR": machine})
    else:
        say("  there is no C compiler: the wheel with the compiled relay is not built, and not tried")
    wheels = sorted(
        DIST.glob(f"hookline-{VERSION}-py3-none-*.whl"), key=lambda each: each.stem.endswith("-any")
    )
    if not sdist.exists() or not wheels or not wheels[-1].stem.endswith("-any"):
        raise PackageError(f"not all was built; dist/ has {sorted(os.listdir(DIST))}")
    for artefact in (*wheels, sdist):
        say(f"  {artefact.name}  {artefact.stat().st_size / 1024:.0f} KiB")
    return wheels, sdist


def check_wheel(wheel: Path) -> None:
    """It holds the package as it is in src, the licence, the relay and the shells, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    source = {
        file.relative_to(ROOT / "src").as_posix()
        for file in (ROOT / "src" / "hookline").rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    source |= {
        f"hookline/docs/{part}/{file.name}" for part in PARTS for file in (ROOT / "docs" / part).glob("*.md")
    }
    about = f"hookline-{VERSION}.dist-info"
    scripts = {f"hookline-{VERSION}.data/scripts/{name}" for name in ("hookline-relay", *SHELLS)}
    missing = (source | scripts | {"hookline/py.typed", f"{about}/licenses/LICENSE"}) - packed
    foreign = {name for name in packed - source - scripts if not name.startswith(about)}
    if missing or foreign:
        raise PackageError(f"{wheel.name} lacks {sorted(missing)} and should not have {sorted(foreign)}")


def check_sdist(sdist: Path) -> None:
    top = f"hookline-{VERSION}"
    with tarfile.open(sdist) as archive:
        packed = set(archive.getnames())
    missing = [each for each in _IN_SDIST if f"{top}/{each}" not in packed]
    if missing:
        raise PackageError(f"{sdist.name} lacks {', '.join(missing)}")


def try_out(artefact: Path, directory: Path, interpreter: str = sys.executable) -> None:
    """Install it in a clean environment of this interpreter, use it as people do, and uninstall it."""
    say(f"installing {artefact.name} in a clean environment ...")
    run([interpreter, "-m", "venv", str(directory / "venv")])
    binaries = directory / "venv" / "bin"
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
        ],
        env=without_compiler(directory),
    )

    project = directory / "project"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline" / "hooks.toml").write_text(_HOOKS)
    # The project is our own; hooks of an untrusted project do not run.
    settings = directory / ".config" / "hookline" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"trusted = ['{project}']\n")
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(directory), "LANG": "C.UTF-8"}
    env["HOOKLINE_DAEMON"] = "off"

    def expect(words: Sequence[str], shown: str, status: int = 0, given: str = "") -> None:
        answer = run(words, status=status, cwd=project, env=env, given=given)
        if shown not in answer:
            raise PackageError(f"{' '.join(words)} should print {shown!r}, not {answer.strip()!r}")

    expect([command, "--version"], f"hookline {VERSION}")
    expect([python, "-m", "hookline", "--version"], f"hookline {VERSION}")
    expect([python, "-c", "import hookline; print(hookline.__version__)"], VERSION)
    expect([command, "doctor"], ".hookline/hooks.toml")
    expect([command, "fire", "PreToolUse", "Bash", "command=ls"], "not today", status=2)
    expect([command, "schema", "config"], '"$schema"')
    program = binaries / "hookline-relay"
    compiled = artefact.suffix == ".whl" and not artefact.stem.endswith("-any")
    if compiled == program.read_bytes().startswith(b"#!"):
        raise PackageError(f"the relay of {artefact.name} should{'' if compiled else ' not'} be compiled")
    link = directory / "a link"  # as pipx and uv make them
    link.symlink_to(program)
    for each in (program, link):
        # No daemon listens in this directory: the call is made in process.
        expect(
            [str(each), "--daemon", str(directory), *_CALL, "--home", str(directory)], _DENIED, given=_PAYLOAD
        )
    expect([command, "hook", "--print-config", "native"], "/hookline-relay' hook --dialect native")
    run([python, "-m", "pip", "uninstall", "-qq", "--yes", "--disable-pip-version-check", "hookline"])
    if left := [str(file) for file in (directory / "venv").rglob("*hookline*")]:
        raise PackageError(f"after pip uninstall there is still {', '.join(left)}")


def without_compiler(directory: Path) -> dict[str, str]:
    """An environment in which no compiler is found: PATH has links to everything else."""
    programs = directory / "without compiler"
    programs.mkdir(parents=True)
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for name in os.listdir(place) if os.path.isdir(place) else ():
            if name not in COMPILERS and not os.path.lexists(programs / name):
                (programs / name).symlink_to(os.path.join(place, name))
    return dict(os.environ) | {"PATH": str(programs)}


def run(
    words: Sequence[str],
    *,
    status: int = 0,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    given: str = "",
) -> str:
    """Return the output. Another exit status is an error that shows everything."""
    done = subprocess.run(
        words,
        cwd=cwd,
        env=env,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != status:
        raise PackageError(f"{' '.join(words)}: exit status {done.returncode}, not {status}\n{done.stdout}")
    return done.stdout


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
