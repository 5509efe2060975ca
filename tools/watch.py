"""`make watch`: what have the agents changed since the tables of their formats were written?

It gets the newest published version of every agent that npm has, reads its files without running them, and
compares the names of events in them with our tables. It prints what is new, with the file to change.
"""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hookline.config.engine import Engine
from hookline.dialects.dialect import Dialect

#: The package of each agent that npm has.
PACKAGES: dict[str, str] = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini-cli": "@google/gemini-cli",
    "qwen-code": "@qwen-code/qwen-code",
    "copilot-cli": "@github/copilot",
    "grok": "@xai-official/grok",
}
#: A package may only start the program of another one, which is for one system.
_SYSTEM = "-linux-x64"
#: Lists and tables of names, as programs and schemas have them; a compiled program has them as bytes.
_LISTS = (
    re.compile(rb"""\[\s*(?:["'][A-Za-z_]{3,40}["']\s*,?\s*){3,120}\]"""),
    re.compile(rb"""\{\s*(?:[A-Za-z_]{3,40}\s*:\s*["'][A-Za-z_]{3,40}["']\s*,?\s*){3,120}\}"""),
    re.compile(rb"""(?:\[?["'.]?[A-Za-z_]{3,40}["']?\]?\s*=\s*["'][A-Za-z_]{3,40}["'][^"']{0,40}){3,120}"""),
)
#: Names in such lists that no hook can have: commands of settings, which the same code runs.
_NO_EVENTS = frozenset({"StatusLine", "FileSuggestion"})
_NAME = re.compile(rb"""["']([A-Za-z_]{3,40})["']""")
#: A list belongs to the events if so many of its names are known.
_KNOWN_AT_LEAST = 4
_LARGEST = 400 * 1024 * 1024
_AROUND = 4000


def main() -> int:
    engine, new = Engine(), 0
    wanted = sys.argv[1:] or list(PACKAGES)
    for name in wanted:
        dialect = engine.loader.dialect(name)
        with tempfile.TemporaryDirectory(prefix="hookline-watch-") as scratch:
            new += look(dialect, PACKAGES[name], Path(scratch))
    print(f"{new} new names" if new else "nothing new", flush=True)
    return 0


def look(dialect: Dialect, package: str, scratch: Path) -> int:
    """Compare one agent with its table; return how many names are new."""
    release = newest(package)
    found: dict[str, str] = {}
    lists = 0
    directories = list(unpacked(f"{package}@{release}", scratch)) if release else []
    if not directories:
        print(f"{dialect.title}: {package} cannot be had", flush=True)
        return 0
    for directory in directories:
        for file, names in event_lists(directory, frozenset(dialect.events)):
            lists += 1
            for each in sorted(names - set(dialect.events) - _NO_EVENTS):
                found.setdefault(each, file)
    table = f"src/hookline/dialects/{dialect.name.replace('-', '_')}/events.py"
    if not lists:
        print(f"{dialect.title} {release}: no list of its events was found; look at it by hand", flush=True)
    elif not found:
        print(f"{dialect.title} {release}: all events are known ({lists} lists)", flush=True)
    for name, file in found.items():
        print(f"{dialect.title} {release}: new? {name} (in {file}); change {table}", flush=True)
    if dialect.tested_release and dialect.tested_release != release:
        print(f"  tested with {dialect.tested_release}", flush=True)
    return len(found)


def newest(package: str) -> str:
    """Return the newest version; npm by itself would take one that fits the Node.js of this machine."""
    ran = subprocess.run(["npm", "view", package, "version"], capture_output=True, text=True, check=False)
    return ran.stdout.strip()


def unpacked(package: str, scratch: Path) -> Iterator[Path]:
    """Yield the directory of a package, and that of the program it starts."""
    directory = fetched(package, scratch)
    if directory is None:
        return
    yield directory
    needed = json.loads((directory / "package.json").read_text()).get("optionalDependencies", {})
    for name, version in needed.items():
        if name.endswith(_SYSTEM):
            other = version.removeprefix("npm:") if version.startswith("npm:") else f"{name}@{version}"
            program = fetched(other, scratch)
            if program is not None:
                yield program


def fetched(package: str, scratch: Path) -> Path | None:
    """Get a package and unpack it; nothing of it runs."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    directory = scratch / re.sub(r"\W", "-", package)
    directory.mkdir()
    ran = subprocess.run(
        [npm, "pack", "--silent", "--ignore-scripts", package],
        cwd=directory,
        capture_output=True,
        check=False,
    )
    archives = sorted(directory.glob("*.tgz"))
    if ran.returncode or not archives:
        return None
    with tarfile.open(archives[0]) as archive:
        archive.extractall(directory, filter="data")
    archives[0].unlink()
    return directory / "package"


def event_lists(directory: Path, known: frozenset[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield every list of names that is one of events, with its file."""
    for path in sorted(directory.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _LARGEST:
            continue
        for part in surroundings(path.read_bytes(), known):
            for pattern in _LISTS:
                for match in pattern.finditer(part):
                    names = {name.decode() for name in _NAME.findall(match.group())}
                    if len(names & known) >= min(_KNOWN_AT_LEAST, len(known)):
                        yield str(path.relative_to(directory)), names


def surroundings(content: bytes, known: frozenset[str]) -> Iterator[bytes]:
    """Yield the parts of a file around names of events: programs are large, and most of them is about other things."""
    rare = max(known, key=len).encode()
    at, end = content.find(rare), 0
    while at >= 0:
        if at >= end:
            end = at + _AROUND
            yield content[max(at - _AROUND, 0) : end]
        at = content.find(rare, at + 1)


if __name__ == "__main__":
    sys.exit(main())
