"""Get clients from npm into a scratch directory, and learn which version each is."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.clients.client import Client

ROOT = Path(__file__).resolve().parents[2]
#: Kept between runs, because the clients are large. Not under version control; `make clean` removes it.
SCRATCH = ROOT / ".clients"


class UnavailableError(Exception):
    """The reason why a client cannot be had here."""


def installed(client: Client, release: str, say: Callable[[str], None]) -> Path:
    """Return the client's program, from npm if it is not there yet. Raises UnavailableError."""
    version = _newest(client.package) if release == "latest" else release
    program = _fetched(client.name, client.package, version, say) / ".bin" / client.program
    if not program.exists():
        raise UnavailableError(f"{client.package}@{version} has no program {client.program}")
    with tempfile.TemporaryDirectory() as home:
        path = os.pathsep.join([*node_directory(client, say), os.environ.get("PATH", os.defpath)])
        ran = subprocess.run(
            [program, "--version"],
            env={"HOME": home, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    if ran.returncode:
        raise UnavailableError(f"{program} does not start: {(ran.stderr or ran.stdout).strip()[-500:]}")
    say(f"{client.name}: {version} ({ran.stdout.strip().splitlines()[0]})")
    return program


def node_directory(client: Client, say: Callable[[str], None]) -> list[str]:
    """Return the directory of a newer Node.js, if the client needs one."""
    if not client.node or _node_here() >= client.node:
        return []
    modules = _fetched("node", "node", str(client.node), say)
    return [str(modules / "node" / "bin")]


def packages(client: Client, program: Path, say: Callable[[str], None]) -> dict[str, Path]:
    """Return the `node_modules` with packages that the client would otherwise get by itself, by directory."""
    version = program.parents[2].name
    found: dict[str, Path] = {}
    for directory, package in client.packages.items():
        name = f"{client.name}-packages"
        try:
            found[directory] = _fetched(name, package, version, say)
        except UnavailableError:
            # It is not published with every release of the client.
            found[directory] = _fetched(name, package, _newest(package), say)
    return found


def _node_here() -> int:
    node = shutil.which("node")
    if node is None:
        return 0
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return int(said.strip().lstrip("v").split(".")[0] or 0)


def _newest(package: str) -> str:
    """Name the release: without it npm chooses one that suits the Node.js of this machine."""
    said = _npm("view", package, "dist-tags.latest")
    if not said:
        raise UnavailableError(f"npm knows no release of {package}")
    return said


def _fetched(name: str, package: str, version: str, say: Callable[[str], None]) -> Path:
    """Return the `node_modules` with this release."""
    place = SCRATCH / name / version
    if not (place / "node_modules" / package / "package.json").exists():
        place.mkdir(parents=True, exist_ok=True)
        say(f"installing {package}@{version} into .clients (up to 300 MB, once) ...")
        _npm("install", "--prefix", str(place), "--no-audit", "--no-fund", f"{package}@{version}")
    return place / "node_modules"


def _npm(*words: str) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is not installed; it is needed to get the clients")
    ran = subprocess.run(
        [npm, "--loglevel=error", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise UnavailableError(f"npm {' '.join(words)}: {ran.stderr.strip()[-500:]}")
    return ran.stdout.strip()
