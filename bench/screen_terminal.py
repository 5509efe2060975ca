"""The agent's screen at a real terminal: how long it stops for, when it is there, and what it holds."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.findings import Finding
from tests.agent.tui.real_terminal import RealTerminal
from tests.cli.run_cli import clean_env
from tests.trusting import trust_all_of

_ROOT = Path(__file__).parent.parent
_LONGEST_MS, _P99_MS, _MOST_FIRST_PAINT = 100.0, 50.0, 1.6
_MODEL_PACKAGES = ("pydantic_ai", "openai", "anthropic", "google.genai", "mcp")
_MOST_GROWTH = 8 * 1024 * 1024


def _measured(kind: str, amount: str, blocks: float, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        project, found = home / "project", home / "found.json"
        project.mkdir()
        (project / "notes.txt").write_text("notes\n")
        trust_all_of(home, project)
        env = {**clean_env(home), "PYTHONPATH": str(_ROOT), "BENCH_BLOCKS": str(blocks)}
        line = [sys.executable, "-m", "bench.screen_child", kind, amount, str(found)]
        terminal = RealTerminal(line, project, env, draws=False)
        try:
            terminal.status(seconds)
            if not found.exists():
                raise RuntimeError(f"it did not get to its end: {terminal.raw[-2000:]!r}")
            return json.loads(found.read_text())
        finally:
            terminal.close()


def stall(
    seconds: float, blocks: float, runs: int, say: Callable[[str], None] | None = None
) -> list[Finding]:
    """The median of some runs: one of them may meet a machine that is busy elsewhere."""
    seen: list[dict[str, Any]] = []
    for _ in range(runs):
        one = _measured("stall", str(seconds), blocks, 600)
        seen.append(one)
        if say is not None:
            alone = one["alone"]
            say(
                f"longest {one['longest'] * 1000:.0f} ms, p99 {one['p99'] * 1000:.1f} ms, "
                f"most work between two ticks {one['work'] * 1000:.0f} ms; "
                f"a process that did nothing but tick: {alone['longest'] * 1000:.0f} and {alone['p99'] * 1000:.1f} ms"
            )
    longest = statistics.median(one["longest"] for one in seen) * 1000
    work = statistics.median(one["work"] for one in seen) * 1000
    machine = statistics.median(one["alone"]["longest"] for one in seen) * 1000
    p99 = statistics.median(one["p99"] for one in seen) * 1000
    what = f"{seconds:g} s hooks at every waiting event, a blocking and a computing hook of {blocks:g} s, 2,000 pieces"
    return [
        Finding(
            f"screen: longest gap between two ticks, {what} (median of {runs})",
            f"{longest:.0f} ms (at most {work:.0f} ms of it work; a process that only ticks: {machine:.0f} ms)",
            f"<= {_LONGEST_MS:.0f} ms",
            longest <= _LONGEST_MS,
        ),
        Finding(
            f"screen: p99 of these gaps ({seen[0]['ticks']} ticks)",
            f"{p99:.1f} ms",
            f"<= {_P99_MS:.0f} ms",
            p99 <= _P99_MS,
        ),
    ]


def first_paint(rounds: int = 9) -> list[Finding]:
    """Until the prompt is drawn, against importing the agent alone."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        (home / "script.json").write_text("[]")
        env = clean_env(home)
        pairs: list[float] = []
        for _ in range(rounds):
            imported = _timed(lambda: subprocess.run(
                [sys.executable, "-c", "import hookline.cli.commands.agent.play"], env=env, check=True
            ))  # fmt: skip
            pairs.append(_painted(home, env) / imported)
        loaded = _loaded_at_first_paint(env)
    ratio = statistics.median(pairs)
    return [
        Finding(
            "screen: first paint, against importing the agent",
            f"{ratio:.2f}x",
            f"<= {_MOST_FIRST_PAINT}x",
            ratio <= _MOST_FIRST_PAINT,
        ),
        Finding(
            "screen: model packages loaded at first paint", ", ".join(loaded) or "none", "none", not loaded
        ),
    ]


def _timed(call: Callable[[], object]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


def _painted(home: Path, env: dict[str, str]) -> float:
    started = perf_counter()
    line = [sys.executable, "-m", "hookline.app", "agent", "--model", "scripted:script.json"]
    terminal = RealTerminal(line, home, env)
    try:
        terminal.until("starting", 60)
        return perf_counter() - started
    finally:
        terminal.close()


def _loaded_at_first_paint(env: dict[str, str]) -> list[str]:
    code = "import sys, hookline.agent.tui.run; print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True
    ).stdout.split()
    return [name for name in _MODEL_PACKAGES if name in names]


def memory(turns: int) -> list[Finding]:
    seen = _measured("turns", str(turns), 0, 1200)
    growth = seen["memory"]
    return [
        Finding(
            f"screen: memory over {seen['turns']} turns, after the first tenth",
            f"{growth / (1 << 20):+.1f} MB",
            f"<= {_MOST_GROWTH >> 20} MB",
            growth <= _MOST_GROWTH and seen["turns"] >= turns,
        )
    ]


def findings() -> list[Finding]:
    return [*stall(0.5, 2.0, 5), *first_paint(), *memory(500)]


def soak(say: Callable[[str], None]) -> Iterable[Finding]:
    """The same with hooks of ten seconds, which take their time."""
    say("five sessions of a few minutes each")
    return stall(10.0, 4.0, 5, say)


if __name__ == "__main__":
    os.chdir(_ROOT)
    print(*findings(), sep="\n")
