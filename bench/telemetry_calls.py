"""Measure what telemetry adds to a call of an agent, with a collector that is up, down and hanging.

By the daemon, which sends for all calls, and by a process of its own, which leaves that to another one.
"""

import contextlib
import socket
import statistics
import sys
import tempfile
import threading
from collections.abc import Generator
from pathlib import Path

from bench.findings import Finding
from bench.relay_calls import GUARD, Calls, milliseconds
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons, hook_file
from tests.hook.relay.programs import programs
from tests.telemetry.collector import Collector, collecting
from tests.waiting import wait_until

#: Milliseconds that a call may take longer, medians, whatever the collector does.
GOAL = 20.0
_STATES = ("up", "down", "hanging")
_CALL = ("hook", "--dialect", "claude-code", "PreToolUse")
_ROUNDS = {"daemon": 100, "process": 15}
_WITHOUT = "no collector asked for"


@contextlib.contextmanager
def _hanging() -> Generator[str]:
    """Accept connections, and never answer."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    kept.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for each in kept:
                each.close()


def _nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def findings() -> list[Finding]:
    with (
        collecting() as collector,
        _hanging() as hanging,
        tempfile.TemporaryDirectory(prefix="hookline-bench-") as top,
    ):
        states = {_WITHOUT: "", "up": collector.url, "down": _nobody(), "hanging": hanging}
        started: dict[str, Daemons] = {}
        try:
            for number, (state, url) in enumerate(states.items()):
                (Path(top) / str(number)).mkdir()
                daemons = started[state] = Daemons(Path(top) / str(number))
                daemons.write(".hookline/hooks.toml", hook_file(GUARD))
                daemons.start(env=_env(url))
            found = [each for way in _ROUNDS for each in _beyond(way, started, states)]
            calls = sum(_ROUNDS.values())
            wait_until(lambda: _dispatches(collector) >= calls)
            name = f"telemetry: spans of {calls} calls that a collector that is up has"
            return [
                *found,
                Finding(name, str(_dispatches(collector)), f"{calls}", _dispatches(collector) == calls),
            ]
        finally:
            for daemons in started.values():
                daemons.stop()


def _dispatches(collector: Collector) -> int:
    return sum(each.name.startswith("hookline.dispatch") for each in collector.spans)


def _env(url: str) -> dict[str, str]:
    # As often as a second, so that the daemon sends while calls are measured.
    every = {"OTEL_BSP_SCHEDULE_DELAY": "1000", "OTEL_METRIC_EXPORT_INTERVAL": "1000"}
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": url, **every} if url else {}


def _beyond(way: str, started: dict[str, Daemons], states: dict[str, str]) -> list[Finding]:
    taken: dict[str, list[float]] = {state: [] for state in states}
    calls = {state: Calls(daemons) for state, daemons in started.items()}
    relay = programs() / "compiled" / "hookline-relay"
    for _ in range(_ROUNDS[way]):
        for state, daemons in started.items():
            own = at_home(_CALL, daemons.env)
            line = (
                (str(relay), "--daemon", str(daemons.directory), *own)
                if way == "daemon"
                else (sys.executable, "-P", "-m", "hookline", *own)
            )
            env = {**daemons.env, **_env(states[state])}
            payload, denied = calls[state].next()
            out = payload.with_suffix(".out")
            took, status = milliseconds(line, payload, env, out)
            if status or (b'"deny"' in out.read_bytes()) != denied:
                raise AssertionError(f"{way}, {state}: a wrong answer")
            taken[state].append(took)
    least = statistics.median(taken[_WITHOUT])
    return [
        Finding(
            f"telemetry, by a {way} ({least:.0f} ms without), collector {state}", f"{more:+.1f} ms", f"<= {GOAL:g} ms",
            more <= GOAL,
        )
        for state in _STATES
        for more in [statistics.median(taken[state]) - least]
    ]  # fmt: skip


if __name__ == "__main__":
    print(*findings(), sep="\n")
