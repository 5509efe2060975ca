"""Test every adapter in its own environment, and check that the table of what each can do is fresh.

The environments are in .adapters, and are kept between runs. Two adapters are tested at a time. Words choose adapters
by name; `--write` writes the results, from which `make generate` makes the table.
"""

import argparse
import subprocess
import sys
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
#: Seconds until the hooks of a cancelled run must get the signal to end, and until all of them must be gone.
_SIGNALLED, _DEAD = 0.1, 1.0
#: Seconds that a step of one adapter may take: its tests, its suite.
_LONGEST = 1800
#: What pip says when it gets no answer.
_UNREACHABLE = (
    "NewConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "NameResolutionError", "Connection broken",
    "Max retries exceeded", "ProxyError", "SSLError", "Network is unreachable",
)  # fmt: skip


class AdapterError(Exception):
    """The reason why an adapter does not pass."""


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
    started = time.monotonic()
    chosen = [each for each in targets() if not args.words or any(word in each.name for word in args.words)]
    known = {} if args.write and not args.words else read_results(ROOT)
    with ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(chosen, pool.map(outcome, chosen), strict=True))
    passed = {target.name: result for target, result in outcomes.items() if isinstance(result, Result)}
    failed = [target.name for target, result in outcomes.items() if not isinstance(result, Result)]
    if args.write:
        (ROOT / RESULTS).write_text(written({**known, **passed}), encoding="utf-8")
        say(f"{RESULTS} is written; `make generate` makes the table")
    elif any(name not in known or not result.same_as(known[name]) for name, result in passed.items()):
        failed.append(RESULTS)
        say(f"{RESULTS} is not fresh: say make test-adapters ADAPTERS=--write, then make generate")
    for target, result in outcomes.items():
        if isinstance(result, AdapterError):
            say(f"\n{target.name} FAILED\n{result}")
    took, names = time.monotonic() - started, ", ".join(failed)
    say(f"{len(chosen)} tested in {took:.0f} s, {len(failed)} not as they should be{names and ': '}{names}")
    return 1 if failed or not chosen else 0


def outcome(target: Target) -> "Result | AdapterError":
    try:
        return tested(target)
    except AdapterError as problem:
        say(f"{target.name:18} FAILED: {str(problem).partition(chr(10))[0]}")
        return problem


def targets() -> list[Target]:
    here = Path(sys.executable)
    own = [Target(name, module, here) for name, module in _OWN.items()]
    directories = sorted(file.parent for file in (ROOT / "tests/adapters").glob("*/harness.py"))
    return own + [
        Target(
            directory.name.replace("_", "-"),
            f"tests.adapters.{directory.name}.harness",
            ENVIRONMENTS / directory.name / "bin" / "python",
            directory,
        )
        for directory in directories
    ]


def tested(target: Target) -> Result:
    started = time.monotonic()
    if target.tests is not None:
        set_up(target)
        # The suite comes after them, so they need not run it.
        run(
            target,
            "its tests",
            [target.python, "-m", "pytest", "-q", target.tests, "-k", "not test_conformance"],
        )
        run(target, "its types", [
            Path(sys.executable).with_name("pyright"), "-p", target.tests, "--pythonpath", target.python,
        ])  # fmt: skip
    text = run(
        target, "the suite", [target.python, "-m", "tools.adapters.measure", target.module, target.name]
    )
    result = msgspec.json.decode(text.splitlines()[-1], type=Measured)
    if result.problems:
        raise AdapterError("\n\n".join(result.problems))
    counts = Counter(result.levels.values())
    say(
        f"{target.name:18} {counts['full']} full, {counts['part']} part, {counts['none']} none; "
        f"{cancelled(result)}{time.monotonic() - started:.0f} s{', ' if result.releases else ''}{result.releases}"
    )
    return Result(levels=result.levels, limits=result.limits, releases=result.releases, events=result.events)


def cancelled(result: Measured) -> str:
    """Measure how soon the hooks of a cancelled run ended. Raise if that took too long."""
    times = result.cancelled
    if times is None:
        return ""
    received, dead = times.signalled, times.dead
    if received is None or dead is None or received > _SIGNALLED or dead > _DEAD:
        raise AdapterError(
            f"cancelled hooks got the signal to end after {received} s, and gone after {dead} s"
        )
    return (
        f"cancelled hooks get the signal after {received * 1000:.0f} ms and gone after {dead * 1000:.0f} ms; "
    )


def set_up(target: Target) -> None:
    """The environment of an adapter, made again when what it needs has changed."""
    place = target.python.parents[1]
    wanted = needs(target.name)
    ready = place / ".ready"
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return
    run(target, "a new environment (a minute, once)", [sys.executable, "-m", "venv", "--clear", place])
    packages = [line for line in wanted.splitlines() if line.startswith(_TEST_PACKAGES)]
    packages += clients(target.name)
    words = [
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--retries",
        "2",
        "-e",
        f".[{target.name}]",
    ]
    try:
        run(target, "pip install", [target.python, *words, *packages])
    except AdapterError as problem:
        if any(word in str(problem) for word in _UNREACHABLE):
            raise AdapterError(
                f"the package index cannot be reached, and {place.relative_to(ROOT)} is not there yet, or needs "
                f"something new: run it once where pip can download\n{problem}"
            ) from None
        raise
    ready.write_text(wanted, encoding="utf-8")


def needs(name: str) -> str:
    """Return the requirements of an adapter's environment, as text to compare."""
    project: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    extras: Mapping[str, list[str]] = project["optional-dependencies"]
    if name not in extras:
        raise AdapterError(f"pyproject.toml has no extra {name}")
    dev = (ROOT / "requirements/dev.txt").read_text(encoding="utf-8").splitlines()
    tests = [line for line in dev if line.startswith(tuple(f"{each}>" for each in _TEST_PACKAGES))]
    return "\n".join(
        [f"python {sys.version}", *project["dependencies"], *extras[name], *tests, *clients(name)]
    )


def clients(name: str) -> list[str]:
    """Return the clients of real providers that the tests of an adapter use."""
    file = ROOT / "tests/adapters" / name.replace("-", "_") / "requirements.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def run(target: Target, what: str, words: Sequence[str | Path]) -> str:
    """Return the output. Lines on standard error that begin with `...` are progress, and shown."""
    say(f"{target.name:18} {what} ...")
    killed: list[bool] = []
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        ended = threading.Timer(_LONGEST, lambda: (killed.append(True), process.kill()))
        ended.start()
        with ThreadPoolExecutor(1) as reader:
            printed = reader.submit(process.stdout.read)
            said: list[str] = []
            for line in process.stderr:
                if line.startswith("..."):
                    say(f"{target.name:18} {line.rstrip()}")
                else:
                    said.append(line)
        ended.cancel()
    if killed:
        raise AdapterError(f"{what} of {target.name} took longer than {_LONGEST} s")
    if process.returncode:
        all_said = (printed.result() + "".join(said)).strip()
        raise AdapterError(f"{what}: exit status {process.returncode}\n{all_said[-6000:]}")
    return printed.result()


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
