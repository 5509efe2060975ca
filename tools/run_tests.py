"""Run all tests: those of the covered layers while coverage is measured, the others beside them on several workers.

Measuring slows down whatever is run, so only the layers that every decision passes through are measured, by their own
tests. What durable hooks do in processes of their own is not measured.

A few tests that fail are run once more, alone: on a busy machine a process may get no processor for seconds. A test
that passes only then is named as such, so that it is mended.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYERS = (
    "tests/model", "tests/shell", "tests/matching", "tests/permissions", "tests/engine", "tests/journal",
    "tests/jobs/test_hooks.py", "tests/jobs/test_queue.py",
)  # fmt: skip
COVERED = "hookline.model,hookline.shell,hookline.matching,hookline.engine,hookline.journal"
LEAST_COVERED = 95
#: Tests that have targets of their own.
ELSEWHERE = ("--ignore=tests/team/console/browser", "--ignore-glob=tests/adapters/*/*")
#: With more failures than this, nothing is run again: the change is at fault, not the machine.
FEW = 3


class Suite:
    """Tests that run in one process or on several workers, with a record of what failed."""

    def __init__(self, name: str, words: Sequence[str], output: Path | None = None) -> None:
        self._cache = ROOT / ".pytest_cache" / name
        self._failed = self._cache / "v" / "cache" / "lastfailed"
        self._failed.unlink(missing_ok=True)
        with open(output or os.dup(1), "wb") as stdout:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *words, "-o", f"cache_dir={self._cache}"], cwd=ROOT, stdout=stdout,
                stderr=subprocess.STDOUT,
            )  # fmt: skip

    def wait(self) -> int:
        return self._process.wait()

    def failed(self) -> list[str]:
        try:
            return list(json.loads(self._failed.read_text()))
        except FileNotFoundError:
            return []


def main() -> int:
    workers = os.environ.get("WORKERS") or str(2 * (os.cpu_count() or 1))
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch, "layers")
        measured = ("coverage", "run", "--branch", f"--source={COVERED}", "-m", "pytest", "-q", *LAYERS)
        layers = Suite("layers", measured, output)
        ignored = [f"--ignore={each}" for each in LAYERS]
        others = Suite("others", ("pytest", "-n", workers, "--dist", "worksteal", *ignored, *ELSEWHERE))
        statuses = [others.wait(), layers.wait()]
        print(output.read_text(errors="replace"), end="", flush=True)
    report = ["coverage", "report", "--skip-covered", f"--fail-under={LEAST_COVERED}"]
    uncovered = subprocess.call([sys.executable, "-m", *report], cwd=ROOT)
    if any(statuses):
        return (
            1
            if any(each > 1 for each in statuses)
            else uncovered | _again([*others.failed(), *layers.failed()])
        )
    return uncovered


def _again(failed: Sequence[str]) -> int:
    """Run a few failed tests once more, alone."""
    if not 0 < len(failed) <= FEW:
        return 1
    print(f"\nonce more, alone: {', '.join(failed)}", flush=True)
    status = subprocess.call(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *failed], cwd=ROOT
    )
    if status == 0:
        print(f"\nUNSTABLE, passed only alone: {', '.join(failed)}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
