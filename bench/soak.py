"""`make soak`: the long runs, at full counts. Shows its progress, prints what it found, fails when a goal is missed.

Words on the command line choose parts: `make soak` runs all, `python -m bench.soak r2 s6` only those.
"""

import asyncio
import inspect
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from typing import Any

from bench import (
    attacks,
    durable_hooks,
    fleet,
    fleet_scale,
    guard_lines,
    screen_terminal,
    shell_confirm,
    soak_agent,
    soak_allow,
    soak_daemon,
    soak_engine,
    soak_exec_guard,
    soak_files,
    soak_hostile,
    soak_http,
    soak_journal,
    soak_kills,
    soak_linear,
    soak_matching,
    soak_native,
    soak_options,
    soak_process,
    soak_protected,
    soak_reach,
    soak_shell,
    soak_trust,
    soak_warm,
)
from bench.findings import Finding

Say = Callable[[str], None]
Part = Callable[[Say], Iterable[Finding] | Awaitable[Iterable[Finding]]]

#: Without these some figures could not be measured, and a soak that skips proves nothing.
TOOLS = ("dash", "bash", "setsid", "nohup")


def parts() -> dict[str, Part]:
    """Every part by the name the goal sheet has for it."""
    found: dict[str, Part] = {}
    for part in soak_process.ALL:
        found[part.__name__] = part
    found["kills"] = soak_kills.kills
    for name in ("s6", "s7"):
        found[name] = getattr(soak_http, name)
    for name in ("s1", "s2"):
        found[name] = getattr(soak_trust, name)
    found["s3"] = soak_hostile.s3
    found["protected"] = soak_protected.soak
    found["files"] = soak_files.soak
    found["options"] = soak_options.soak
    found["reach"] = soak_reach.reach
    found["s4"] = soak_shell.s4
    found["s4corpus"] = shell_confirm.soak
    found["allow"] = soak_allow.allow
    found["attacks"] = _silent(attacks.attacked)
    found["acting"] = guard_lines.acting
    found["s10"] = lambda _say: soak_matching.findings()
    found["linear"] = soak_linear.linear
    for name in ("r10", "r12"):
        found[name] = getattr(soak_native, name)
    found["r13"] = soak_engine.r13
    for name, part in soak_journal.SOAKS.items():
        found[name] = _silent(part)
    found.update(soak_agent.SOAKS)
    found["screen"] = screen_terminal.soak
    found["daemon"] = soak_daemon.daemon
    found["warm"] = soak_warm.warm
    found["execguard"] = soak_exec_guard.exec_guard
    found["durable"] = durable_hooks.durable
    found["fleet"] = fleet.fleet
    found["fleet_scale"] = fleet_scale.fleet_scale
    return found


def _silent(part: Callable[[], Iterable[Finding]]) -> Part:
    """A part too quick to have progress to show."""
    return lambda _say: part()


def main() -> int:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    findings = (
        [Finding("tools this needs", f"missing: {', '.join(missing)}", "all there", False)] if missing else []
    )
    wanted = sys.argv[1:]
    unknown = [word for word in wanted if word not in parts()]
    if unknown:
        print(f"no part is called {', '.join(unknown)}; there are {', '.join(parts())}")
        return 1
    for name, part in parts().items():
        if not wanted or name in wanted:
            started = monotonic()
            print(f"-- {name} ...", flush=True)
            for finding in _run(part):
                findings.append(finding)
                print(f"   {finding}", flush=True)
            print(f"   ({monotonic() - started:.0f} s)", flush=True)
    missed = [finding for finding in findings if not finding.ok]
    print(f"\n{len(findings)} figures, {len(missed)} missed")
    for finding in missed:
        print(f"   {finding}")
    return 1 if missed else 0


def _run(part: Part) -> Iterable[Finding]:
    found: Any = part(_progress)
    if inspect.isawaitable(found):
        return asyncio.run(_awaited(found))
    return found


async def _awaited(found: Any) -> Iterable[Finding]:
    return await found


def _progress(text: str) -> None:
    print(f"      {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
