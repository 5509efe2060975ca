"""Measure a call of an agent by the relay to a real daemon with one guard, beside the smallest program."""

import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.findings import Finding
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons, hook_file
from tests.hook.relay.programs import KINDS, Kind, programs

#: Milliseconds beyond /bin/true, medians.
GOALS: dict[Kind, float] = {"compiled": 2.0, "pure": 15.0}
_ROUNDS = 200
_AT_ONCE, _CALLS = 8, 200
_CALL = ("hook", "--dialect", "claude-code", "PreToolUse")
_LINES = ("ls -la src", "git push --force", "grep -rn TODO src tests", "git status && make test")
GUARD = 'type = "builtin"\ncommand = "force-push"'


class Calls:
    """Write the payloads of a session, each to a file, with the right answer."""

    def __init__(self, daemons: Daemons) -> None:
        self._daemons = daemons
        self._numbers = itertools.count()

    def next(self) -> tuple[Path, bool]:
        number = next(self._numbers)
        line = _LINES[number % len(_LINES)]
        file = self._daemons.home / f"payload-{number}"
        payload = {
            "hook_event_name": "PreToolUse", "session_id": "bench", "cwd": str(self._daemons.project),
            "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": f"call {number}",
        }  # fmt: skip
        file.write_text(json.dumps(payload))
        return file, "--force" in line


def findings() -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        daemons = Daemons(Path(scratch))
        daemons.write(".hookline/hooks.toml", hook_file(GUARD))
        daemons.start()
        try:
            return [*_one_by_one(daemons), *_at_once(daemons)]
        finally:
            daemons.stop()


def _one_by_one(daemons: Daemons) -> list[Finding]:
    calls = Calls(daemons)
    lines: dict[str, Sequence[str]] = {"true": ("/bin/true",)}
    for kind in KINDS:
        program = programs() / kind / "hookline-relay"
        if program.exists():
            lines[kind] = (str(program), "--daemon", str(daemons.directory), *at_home(_CALL, daemons.env))
    taken: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(_ROUNDS):
        for name, line in lines.items():
            payload, _denied = calls.next()
            taken[name].append(milliseconds(line, payload, daemons.env)[0])
    least = statistics.median(taken["true"])
    return [
        Finding(
            f"relay beyond /bin/true, {kind}", f"{beyond:.2f} ms", f"<= {GOALS[kind]:g} ms", beyond <= GOALS[kind]
        )
        for kind in KINDS
        if kind in taken
        for beyond in [statistics.median(taken[kind]) - least]
    ]  # fmt: skip


def _at_once(daemons: Daemons) -> list[Finding]:
    program = str(programs() / "compiled" / "hookline-relay")
    line = (program, "--daemon", str(daemons.directory), *at_home(_CALL, daemons.env))
    calls = Calls(daemons)
    asked = [calls.next() for _ in range(_CALLS)]
    wrong: list[str] = []

    def call(one: tuple[Path, bool]) -> float:
        out = one[0].with_suffix(".out")
        taken, status = milliseconds(line, one[0], daemons.env, out)
        if status or (b'"deny"' in out.read_bytes()) != one[1]:
            wrong.append(str(one[0]))
        return taken

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        taken = sorted(pool.map(call, asked))
    median, worst = statistics.median(taken), taken[int(len(taken) * 0.99)]
    name = f"{len(asked)} calls, {_AT_ONCE} at once"
    return [
        Finding(f"{name}: p99 to median ({median:.1f} ms)", f"{worst / median:.1f}x", "<= 10x", worst <= 10 * median),
        Finding(f"{name}: wrong answers", str(len(wrong)), "0", not wrong),
    ]  # fmt: skip


def milliseconds(
    line: Sequence[str], payload: Path, env: dict[str, str], out: Path | None = None
) -> tuple[float, int]:
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, str(payload), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(out or os.devnull), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    started = time.perf_counter()
    pid = os.posix_spawn(line[0], list(line), env, file_actions=streams)
    _, status = os.waitpid(pid, 0)
    taken = time.perf_counter() - started
    return taken * 1000, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    print(*findings(), sep="\n")
