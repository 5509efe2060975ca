"""`make bench`: one line per figure; fails when a goal is missed."""

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


def main() -> int:
    wanted = sys.argv[1:]
    # An installed package comes compiled; a checkout under PYTHONDONTWRITEBYTECODE never would be.
    compileall.compile_dir("src", quiet=2)
    findings: list[Finding] = []
    for name, figure, goal in FIGURES:
        if wanted and not any(word in name for word in wanted):
            continue
        measured = run(figure)
        findings.append(Finding(name, f"{measured:.2f}x", f"<= {goal}x", measured <= goal))
        print(findings[-1], flush=True)
    for more in (
        (
            light_import,
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
        if not wanted
        else ()
    ):
        found = more()
        findings += found
        print(*found, sep="\n", flush=True)
    return 0 if all(finding.ok for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
