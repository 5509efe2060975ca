"""`make bench`: one line per figure; fails when a goal is missed."""

import argparse
import compileall
import subprocess
import sys

from bench import (
    agent_stall,
    console_pages,
    decisions,
    durable_hooks,
    hindsight,
    host_sessions,
    loading,
    relay_calls,
    screen_terminal,
    telemetry_calls,
    tool_calls,
    turns,
)
from bench.figures import FIGURES
from bench.findings import Finding
from bench.ratios import run

#: Packages that must not be loaded by making an engine.
HEAVY = (
    "httpx2",
    "yaml",
    "rich",
    "pydantic",
    "textual",
    "pydantic_ai",
    "mcp",
    "re2",
    "hookline.shell.walk.lines",
    "anyio",
    "uvicorn",
    "opentelemetry",
)


def light_import() -> list[Finding]:
    code = "import sys; from hookline import Engine; Engine(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    found = [name for name in HEAVY if name in loaded]
    name = "packages loaded by an engine that no hook needs yet"
    return [Finding(name, ", ".join(found) or "none", "none", not found)]


#: What is measured beside the ratios of `FIGURES`.
MORE = (
    loading.findings,
    tool_calls.findings,
    host_sessions.findings,
    relay_calls.findings,
    telemetry_calls.findings,
    durable_hooks.findings,
    decisions.findings,
    decisions.load,
    agent_stall.stall,
    screen_terminal.findings,
    hindsight.findings,
    console_pages.findings,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "words", nargs="*", help="only figures with one of these in their names, or of this module"
    )
    parser.add_argument(
        "--against", metavar="DIR", help="another checkout, set up by its make: both, in turns"
    )
    asked = parser.parse_args()
    figures = [row for row in FIGURES if not asked.words or any(word in row[0] for word in asked.words)]
    more = [
        findings
        for findings in MORE
        if not asked.words or any(word == findings.__module__.removeprefix("bench.") for word in asked.words)
    ]
    if asked.against is not None:
        return 0 if turns.compare(asked.against, [*(figure for _, figure, _ in figures), *more]) else 1
    # An installed package comes compiled; a checkout under PYTHONDONTWRITEBYTECODE never would be.
    compileall.compile_dir("src", quiet=2)
    findings: list[Finding] = []
    for name, figure, goal in figures:
        measured = run(figure)
        findings.append(Finding(name, f"{measured:.2f}x", f"<= {goal}x", measured <= goal))
        print(findings[-1], flush=True)
    for measure in (*more, *(() if asked.words else (light_import,))):
        found = measure()
        findings += found
        print(*found, sep="\n", flush=True)
    return 0 if all(finding.ok for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
