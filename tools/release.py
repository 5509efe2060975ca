"""`make release-check`: everything that a release needs, up to the button.

Builds the packages, checks their metadata, installs each into clean environments of every Python there is and uses it
there, and writes checksums, a bill of materials and the release notes beside them. Nothing is published.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from tools.package import (
    DIST,
    ROOT,
    VERSION,
    PackageError,
    build,
    check_sdist,
    check_wheel,
    run,
    say,
    try_out,
)

#: The first minor version that is supported, and one beyond any that there is.
_FIRST, _LAST = 11, 30
#: Processors whose wheels have a compiled relay.
_PROCESSORS = ("x86_64", "aarch64")
_TWINE, _CYCLONEDX = "twine>=7,<8", "cyclonedx-bom>=7,<8"


def main() -> int:
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="hookline release ") as directory:
            scratch = Path(directory)
            others = [each for each in _PROCESSORS if each != platform.machine() and can_build(each)]
            wheels, sdist = build(others)
            check_sdist(sdist)
            for wheel in wheels:
                check_wheel(wheel)
            check_metadata([*wheels, sdist], scratch)
            foreign = [wheel for wheel in wheels if any(wheel.stem.endswith(each) for each in others)]
            tested = check_pythons([wheel for wheel in wheels if wheel not in foreign], scratch)
            check_classifiers(tested)
            written = [write_bill(wheels[-1], scratch), write_notes(), write_sums([*wheels, sdist])]
    except PackageError as problem:
        say(f"make release-check: {problem}")
        return 1
    for file in written:
        say(f"  {file.name}  {file.stat().st_size:,} bytes")
    say(f"ready for a release, tested on Python {', '.join(tested)} ({time.monotonic() - started:.0f} s)")
    return 0


def can_build(machine: str) -> bool:
    """Return True if this machine can build and try the relay for that processor. Debian has packages for it."""
    tools = {
        f"{machine}-linux-gnu-gcc": f"gcc-{machine}-linux-gnu",
        f"qemu-{machine}-static": "qemu-user-static",
    }
    missing = [package for program, package in tools.items() if shutil.which(program) is None]
    if missing:
        say(f"SKIPPED: no wheel for {machine} without {' and '.join(missing)} (apt-get install)")
    return not missing


def check_metadata(artefacts: list[Path], scratch: Path) -> None:
    say("checking metadata ...")
    tool = _tool(_TWINE, scratch / "twine")
    run([str(tool / "twine"), "check", "--strict", *map(str, artefacts)])


def check_pythons(wheels: list[Path], scratch: Path) -> list[str]:
    """Try each wheel on every Python of this machine; return their versions."""
    found = pythons()
    for version, program in found.items():
        for wheel in wheels:
            say(f"Python {version}:")
            try_out(wheel, scratch / version / wheel.stem, program)
    return list(found)


def pythons() -> dict[str, str]:
    """Return the interpreters of this machine, by version; those of version managers as well."""
    homes = [Path(home, "versions") for name in ("PYENV_ROOT",) if (home := os.environ.get(name))]
    homes.append(Path(sys.base_prefix).parent)
    found: dict[str, str] = {}
    for minor in range(_FIRST, _LAST):
        name = f"python3.{minor}"
        installed = [str(path) for home in homes for path in sorted(home.glob(f"*/bin/{name}"))]
        candidates = [path for path in (shutil.which(name), *installed) if path]
        program = next((path for path in candidates if _works(path, minor)), None)
        if program is not None:
            found[f"3.{minor}"] = program
    return found


def _works(program: str, minor: int) -> bool:
    code = f"import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, {minor}))"
    return subprocess.run([program, "-I", "-c", code], capture_output=True, check=False).returncode == 0


def check_classifiers(tested: list[str]) -> None:
    """The package names the Pythons it was tested on, and no others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if ":: Python :: 3." in each]
    if missing := sorted(set(named) - set(tested)):
        say(f"  not tested here, although the package names them: Python {', '.join(missing)}")
    if unnamed := sorted(set(tested) - set(named)):
        raise PackageError(f"pyproject.toml has no classifier of Python {', '.join(unnamed)}, which work")


def write_bill(wheel: Path, scratch: Path) -> Path:
    """Write the bill of materials: what an installation of the package consists of."""
    say("writing the bill of materials ...")
    tool = _tool(_CYCLONEDX, scratch / "cyclonedx")
    run([sys.executable, "-m", "venv", str(scratch / "plain")])
    python = str(scratch / "plain" / "bin" / "python")
    constraints = str(ROOT / "requirements" / "constraints.txt")
    run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", constraints, str(wheel)])
    run(
        [python, "-m", "pip", "uninstall", "-qq", "--yes", "--disable-pip-version-check", "pip", "setuptools"]
    )
    file = DIST / f"hookline-{VERSION}.cdx.json"
    words = [
        "environment",
        "--pyproject",
        str(ROOT / "pyproject.toml"),
        "--output-reproducible",
        "-o",
        str(file),
    ]
    run([str(tool / "cyclonedx-py"), *words, python])
    return file


def write_notes() -> Path:
    """Write the part of the changelog about this version."""
    text = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## {re.escape(VERSION)}[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise PackageError(f"CHANGELOG.md says nothing about {VERSION}")
    file = DIST / "release-notes.md"
    file.write_text(found[1].strip() + "\n")
    return file


def write_sums(artefacts: list[Path]) -> Path:
    file = DIST / "SHA256SUMS"
    sums = (f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in artefacts)
    file.write_text("".join(sums))
    return file


def _tool(requirement: str, directory: Path) -> Path:
    """Install a tool into an environment of its own; return the directory of its programs."""
    run([sys.executable, "-m", "venv", str(directory)])
    run(
        [
            str(directory / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            requirement,
        ]
    )
    return directory / "bin"


if __name__ == "__main__":
    sys.exit(main())
