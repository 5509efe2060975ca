"""Test every adapter in an environment of its own, and see that the table of what each can do is fresh.

The environments are in .adapters, and are kept between runs. Words choose adapters by name; `--write` writes the
results, from which `make generate` makes the table.
"""

import argparse
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tools.adapters.measure import Measured
from tools.adapters.results import RESULTS, Result, read_results, written

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = ROOT / ".adapters"
#: What the tests of an adapter need besides its framework, of requirements/dev.txt.
_TEST_PACKAGES = ("hypothesis", "pytest", "pytest-timeout", "pytest-xdist")
#: Hosts that need no framework; `make test` runs the suite for them, too.
_OWN = {
    "host API": "tests.testing.conformance.by_hand",
    "hookline agent": "tests.testing.conformance.terminal_agent",
}
#: Seconds in which the hooks of a cancelled run must be told to end, and in which all of them must be gone.
_SIGNALLED, _DEAD = 0.1, 1.0
#: Seconds that the tests of one adapter may take.
_LONGEST = 900


class AdapterError(Exception):
    """Why an adapter does not pass."""


class Target(Struct, frozen=True):
    """A host that the suite is run with."""

    name: str
    module: str
    python: Path
    #: Its tests; none for those that `make test` runs.
    tests: Path | None = None


def main() -> int:
    parser = argparse.ArgumentParser(prog="make test-adapters", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="NAME", help="only adapters with this in their name")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS}")
    args = parser.parse_args()
    chosen = [each for each in targets() if not args.words or any(word in each.name for word in args.words)]
    known = {} if args.write and not args.words else read_results(ROOT)
    found = dict(known)
    failed: list[str] = []
    for target in chosen:
        try:
            found[target.name] = tested(target)
        except AdapterError as problem:
            failed.append(target.name)
            say(f"{target.name:18} FAILED\n{problem}")
    if args.write:
        (ROOT / RESULTS).write_text(written(found), encoding="utf-8")
        say(f"{RESULTS} is written; `make generate` makes the table")
    elif found != known:
        failed.append(RESULTS)
        say(f"{RESULTS} is not fresh: say make test-adapters ADAPTERS=--write, then make generate")
    say(
        f"{len(chosen)} tested, {len(failed)} not as they should be{': ' if failed else ''}{', '.join(failed)}"
    )
    return 1 if failed or not chosen else 0


def targets() -> list[Target]:
    here = Path(sys.executable)
    own = [Target(name, module, here) for name, module in _OWN.items()]
    folders = sorted(file.parent for file in (ROOT / "tests/adapters").glob("*/harness.py"))
    return own + [
        Target(
            folder.name.replace("_", "-"),
            f"tests.adapters.{folder.name}.harness",
            ENVIRONMENTS / folder.name / "bin" / "python",
            folder,
        )
        for folder in folders
    ]


def tested(target: Target) -> Result:
    started = time.monotonic()
    if target.tests is not None:
        set_up(target)
        say(f"{target.name:18} tests ...")
        run(target, "its tests", [target.python, "-m", "pytest", "-q", "-n", "2", target.tests])
        run(target, "its types", [
            Path(sys.executable).with_name("pyright"), "-p", target.tests, "--pythonpath", target.python,
        ])  # fmt: skip
    say(f"{target.name:18} the suite, with a hundred conversations at once ...")
    text = run(target, "the suite", [target.python, "-m", "tools.adapters.measure", target.module])
    result = msgspec.json.decode(text.splitlines()[-1], type=Measured)
    if result.problems:
        raise AdapterError("\n\n".join(result.problems))
    counts = Counter(result.levels.values())
    say(
        f"{target.name:18} {counts['full']} full, {counts['part']} part, {counts['none']} none; "
        f"{cancelled(result)}{time.monotonic() - started:.0f} s"
    )
    return Result(levels=result.levels, limits=result.limits)


def cancelled(result: Measured) -> str:
    """How soon the hooks of a cancelled run ended. Raises if that took too long."""
    times = result.cancelled
    if times is None:
        return ""
    told, dead = times.signalled, times.dead
    if told is None or dead is None or told > _SIGNALLED or dead > _DEAD:
        raise AdapterError(f"cancelled hooks were told to end after {told} s, and gone after {dead} s")
    return f"cancelled hooks are told after {told * 1000:.0f} ms and gone after {dead * 1000:.0f} ms; "


def set_up(target: Target) -> None:
    """The environment of an adapter, made again when what it needs has changed."""
    place = target.python.parents[1]
    wanted = needs(target.name)
    ready = place / ".ready"
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return
    say(f"{target.name:18} setting up {place.relative_to(ROOT)} (a minute, once) ...")
    run(target, "venv", [sys.executable, "-m", "venv", "--clear", place])
    packages = [line for line in wanted.splitlines() if line.startswith(_TEST_PACKAGES)]
    words = [
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
        "-e",
        f".[{target.name}]",
        *packages,
    ]
    run(target, "pip", [target.python, *words])
    ready.write_text(wanted, encoding="utf-8")


def needs(name: str) -> str:
    """What goes into the environment of an adapter, as text to compare."""
    project: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    extras: Mapping[str, list[str]] = project["optional-dependencies"]
    if name not in extras:
        raise AdapterError(f"pyproject.toml has no extra {name}")
    dev = (ROOT / "requirements/dev.txt").read_text(encoding="utf-8").splitlines()
    tests = [line for line in dev if line.startswith(tuple(f"{each}>" for each in _TEST_PACKAGES))]
    return "\n".join([f"python {sys.version}", *project["dependencies"], *extras[name], *tests])


def run(target: Target, what: str, words: Sequence[str | Path]) -> str:
    try:
        done = subprocess.run(
            words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LONGEST, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise AdapterError(f"{what} of {target.name} took longer than {_LONGEST} s") from None
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise AdapterError(f"{what}: exit status {done.returncode}\n{said[-6000:]}")
    return done.stdout


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
