"""`make house`: the figures of the code's layout, and whether each is within its bound. Exits with 1 when one is not.

`--verbose` lists what is behind each figure. How things are counted is written in house_files and house_paths.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tools import house_files as files

_MOST_MODULES = 15
# One module per tool.
_FULLER = {"agent/tools": 16}
_MOST_LINES = 570  # which files programs read and write
# Three are tables of an agent's tools, which only its wire loads; twelve are parts of the shell reader and the guards,
# by kinds of programs, each found by its name; adapters and the suite for them are imported by nobody else. Seven are
# parts of the screen, which has one place where they meet; five are what messages and tools of a framework look like,
# beside its adapter; one finds the extensions of an agent, one knows the trusted hashes of another. Six put Hookline
# into the files of one agent each; four are what the commands about agents' files print, write or compare, and two are
# languages in which hooks are written. Four are what warm scripts know of shells, interpreters, modules and the
# zygote's side of a socket. Four read the transcripts of one agent each, one draws the report of a backtest.
# Six are what one call of an agent is made of, and three of the resident (its endpoints and what it compares); five are
# the reports of commands, beside what they do; three are parts of the queue of durable hooks.
# Five are the worker of a fleet and its parts, one publishes bundles; two look at bundles and at jobs for the
# doctor.
# Three are the names of telemetry, the server that decisions run on, and answers that may be repeated.
# Eleven are the views of the console, one page each, and what its server is made of.
# Two are parts of the walk over a shell line: the words that it prints, and words of which a part is empty.
_MOST_IMPORTED_ONCE = 162
_MOST_ING = 8
_PATHS = {
    "native": ("one native PreToolUse with a shell hook", 21),
    "fire": ("hookline fire", 62),  # seven of them are the user's trust
    # Also servers and settings of the agent, which need trust; and guards are asked about calls of every agent, as they
    # are told them; the commands of hooks are read by the shell reader, which knows programs by kind.
    # Two of them say which Python scripts can be run by an interpreter started ahead, one whether calls are fast, one
    # which bundles are in force, one whether payloads are kept.
    "doctor": ("hookline doctor", 114),
    # One of them is the order of a call, which is the engine's: other hosts keep it, too.
    "agent": ("one turn of the agent with a denied call", 21),
    "load": ("loading a Claude Code file", 28),  # hooks are named and their names made one line
}
# Reasonix has the keys and names of its pull request and those of the released agent, where they differ.
# Native has the certificates of http hooks, the envelope of a server's answer, and hooks for the fleet.
# Of Codex, 600 are config, wire and policies; the others are its trusted hashes and its tools.
_DIALECTS = {
    "gencode": 600, "native": 1240, "reasonix": 1040, "claude_code": 2070, "codewhale": 1750,
    "docker_agent": 1950, "family": 1020, "codex": 800, "gemini_cli": 900,
}  # fmt: skip


class Figure(NamedTuple):
    name: str
    value: object
    bound: str = ""
    holds: bool = True
    details: Sequence[str] = ()


def figures() -> Iterator[Figure]:
    yield from _layout()
    yield from _names()
    yield from _executed()
    yield from _dialects()


def _layout() -> Iterator[Figure]:
    sizes = {name: files.line_count(file) for name, file in files.modules().items()}
    yield Figure("files", len(sizes))
    yield Figure("lines", f"{sum(sizes.values()):,}")
    yield Figure("median lines of a file", f"{statistics.median(sizes.values()):g}")
    counts = files.folders()
    full = [f"{name} has {n}" for name, n in counts.items() if n > _FULLER.get(name, _MOST_MODULES)]
    fullest = ", ".join(f"{name} {n}" for name, n in list(counts.items())[:4])
    yield Figure("fullest folders", fullest, f"<= {_MOST_MODULES} modules (agent/tools 16)", not full, full)
    largest = max(sizes, key=lambda name: sizes[name])
    long = [f"{name} has {n}" for name, n in sizes.items() if n > _MOST_LINES]
    yield Figure("largest file", f"{largest} {sizes[largest]}", f"<= {_MOST_LINES} lines", not long, long)
    once = files.imported_once()
    yield Figure(
        "modules imported by exactly one other",
        len(once),
        f"<= {_MOST_IMPORTED_ONCE}",
        len(once) <= _MOST_IMPORTED_ONCE,
        [f"{name} by {by}" for name, by in once.items()],
    )


def _names() -> Iterator[Figure]:
    ing = files.named_ing()
    odd = [name for name in ing if name.rpartition(".")[2] not in files.NOUNS]
    yield Figure(
        "module names ending in -ing",
        len(ing),
        f"<= {_MOST_ING}, each one of {', '.join(files.NOUNS)}",
        len(ing) <= _MOST_ING and not odd,
        odd,
    )
    naming = files.naming_lines()
    where = len({line.partition(":")[0] for line in naming})
    value = f"{len(naming)} in {where} files"
    yield Figure("lines outside a dialect's folder that name it", value, "0", not naming, naming)


def _executed() -> Iterator[Figure]:
    root = files.PACKAGE.parent.parent
    ran = subprocess.run(
        [sys.executable, "-m", "tools.house_paths"],
        cwd=root,
        env={"PATH": os.environ.get("PATH", os.defpath)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    for path, found in json.loads(ran.stdout).items():
        name, most = _PATHS[path]
        yield Figure(f"modules executed: {name}", len(found), f"<= {most}", len(found) <= most, found)


def _dialects() -> Iterator[Figure]:
    lines = files.dialect_lines()
    for name, most in _DIALECTS.items():
        if name in lines:
            yield Figure(
                f"lines of {name}: config, wire, policies",
                f"{lines[name]:,}",
                f"<= {most:,}",
                lines[name] <= most,
            )
    shared = files.shared_bodies()
    yield Figure("function bodies that two dialects share", len(shared), "0", not shared, shared)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="list what is behind each figure")
    verbose = parser.parse_args().verbose
    missed: list[Figure] = []
    for figure in figures():
        mark = "  " if figure.holds else "✗ "
        bound = f"   ({figure.bound})" if figure.bound else ""
        print(f"{mark}{figure.name:60} {figure.value}{bound}", flush=True)
        if verbose or (not figure.holds and len(figure.details) <= 20):
            print("".join(f"      {line}\n" for line in figure.details), end="")
        missed += [] if figure.holds else [figure]
    if missed:
        print(f"\n{len(missed)} missed: {'; '.join(figure.name for figure in missed)}")
        print("python -m tools.house --verbose lists what is behind each figure")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
