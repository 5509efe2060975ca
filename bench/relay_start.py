"""What a call by the relay costs beyond starting the smallest program, interleaved. The server answers at once."""

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.findings import Finding
from tests.resident.relay.programs import KINDS, Kind, programs
from tests.resident.relay.server import Connection, answer, frame, serving

#: Milliseconds beyond /bin/true, medians.
GOALS: dict[Kind, float] = {"compiled": 2.0, "pure": 15.0}
_ROUNDS = 200
_CALL = ("hook", "--dialect", "claude-code", "PreToolUse")


def findings() -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        folder, ready = Path(scratch, "resident"), os.pipe()
        server = os.fork()
        if not server:
            os.close(ready[1])
            with serving(folder, _respond):
                os.read(ready[0], 1)  # until the other end is gone
            os._exit(0)
        os.close(ready[0])
        try:
            while not (folder / "relay").exists():
                time.sleep(0.01)
            return _measured(folder, Path(scratch, "payload"))
        finally:
            os.close(ready[1])
            os.waitpid(server, 0)


def _respond(connection: Connection) -> None:
    connection.request()
    connection.send(frame(b"A", answer(0, b"{}")))


def _measured(folder: Path, payload: Path) -> list[Finding]:
    payload.write_text(
        '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
    )
    relays = {kind: str(programs() / kind / "hookline-relay") for kind in KINDS}
    lines: dict[str, Sequence[str]] = {"true": ("/bin/true",)}
    for kind, program in relays.items():
        if os.path.exists(program):
            lines[kind] = (program, "--resident", str(folder), *_CALL)
    taken: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(_ROUNDS):
        for name, line in lines.items():
            taken[name].append(_milliseconds(line, payload))
    least = statistics.median(taken["true"])
    return [
        Finding(
            f"relay beyond /bin/true, {kind}",
            f"{beyond:.2f} ms",
            f"<= {GOALS[kind]:g} ms",
            beyond <= GOALS[kind],
        )
        for kind in KINDS
        if kind in taken
        for beyond in [statistics.median(taken[kind]) - least]
    ]


def _milliseconds(line: Sequence[str], payload: Path) -> float:
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, str(payload), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    started = time.perf_counter()
    pid = os.posix_spawn(line[0], list(line), os.environ, file_actions=streams)
    _, status = os.waitpid(pid, 0)
    taken = time.perf_counter() - started
    if status:
        raise RuntimeError(f"{line[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return taken * 1000


if __name__ == "__main__":
    print(*findings(), sep="\n")
