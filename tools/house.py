"""`make house`: the laws of the code's layout, and figures about it. Exits with 1 when a law is broken.

`--verbose` lists the details of each figure. house_files and house_paths say how things are counted. import-linter,
which `make house` runs first, checks the layers, which are a law too.
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
from tools.house_programs import broken_rows, listed_programs

#: The steps of each path of house_paths.
_PATHS = {
    "native": "one native PreToolUse with a shell hook",
    "fire": "hookline fire",
    "hook": "hookline hook through the daemon",
    "agent": "one turn of the agent with a denied call",
    "doctor": "hookline doctor",
}


class Law(NamedTuple):
    """A rule without exceptions but those that its check names; `broken` lists every line that breaks it."""

    name: str
    broken: Sequence[str]


class Figure(NamedTuple):
    """A number to compare with the one before a change. None is wrong in itself, so there are no bounds."""

    name: str
    value: object
    details: Sequence[str] = ()


def laws() -> Iterator[Law]:
    yield Law("no line outside a dialect's directory names it", files.naming_lines())
    yield Law("dialects know nothing of each other", files.dialect_imports())
    yield Law("no function body in two dialects", files.shared_bodies())
    yield Law("a public class name has one meaning", files.doubled_names())
    yield Law("each program has one row, and no option is declared twice", broken_rows())
    yield Law("programs and options are listed in rows only", listed_programs(files.PACKAGE))


def figures() -> Iterator[Figure]:
    yield from _sizes()
    yield from _functions()
    yield from _executed()
    for name, lines in files.dialect_lines().items():
        yield Figure(f"lines of {name}: config, wire, policies", f"{lines:,}")


def _sizes() -> Iterator[Figure]:
    for name, directory in (("src", files.PACKAGE), ("tests", files.TESTS)):
        sizes = {str(file.relative_to(directory)): files.line_count(file) for file in directory.rglob("*.py")}
        largest = sorted(sizes, key=lambda file: -sizes[file])
        yield Figure(f"modules of {name}", len(sizes))
        yield Figure(f"lines of {name}", f"{sum(sizes.values()):,}")
        yield Figure(f"median lines of a module of {name}", f"{statistics.median(sizes.values()):g}")
        details = [f"{file} {sizes[file]}" for file in largest[:20]]
        yield Figure(f"largest module of {name}", details[0], details)
    fullest = [f"{name} {count}" for name, count in files.directories().items()]
    yield Figure("directories with most modules", ", ".join(fullest[:4]), fullest[:20])
    once = [f"{name} by {by}" for name, by in files.imported_once().items()]
    yield Figure("modules imported by exactly one other", len(once), once)


def _functions() -> Iterator[Figure]:
    found = files.private_functions()
    once = [each for each in found if each.uses == 1]
    short = [each for each in once if each.lines <= files.SHORT]
    yield Figure("private functions", f"{len(found):,}")
    yield Figure("private functions used once", f"{len(once):,}", [each.where for each in once])
    yield Figure(f"... of at most {files.SHORT} lines", len(short), [each.where for each in short])


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
    for path, calls in json.loads(ran.stdout).items():
        total = f"{len(calls)} and {sum(calls.values()):,}"
        details = [f"{module} {count}" for module, count in sorted(calls.items(), key=lambda one: -one[1])]
        yield Figure(f"modules and calls: {_PATHS[path]}", total, details)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="list what is behind each figure")
    verbose = parser.parse_args().verbose
    broken = False
    for law in laws():
        broken = broken or bool(law.broken)
        print(f"{'✗' if law.broken else '✓'} {law.name}")
        print("".join(f"      {line}\n" for line in law.broken), end="", flush=True)
    for figure in figures():
        print(f"  {figure.name:60} {figure.value}", flush=True)
        if verbose:
            print("".join(f"      {line}\n" for line in figure.details), end="")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
