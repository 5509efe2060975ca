"""A server that takes connections and does not answer, or stops to answer: said within a bound, and nothing is lost."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookline.events import POST_TOOL_USE
from hookline.team.fleet.bundles.keys import make_key
from hookline.team.fleet.connection import connect
from hookline.team.fleet.settings import FleetSettings
from tests.team.fleet.machines import GUARD, key
from tests.team.fleet.server import Server, home, needs_server
from tests.team.fleet.test_worker import agent, hooks, result
from tests.waiting import LONG, until

pytestmark = [needs_server, pytest.mark.unmeasured]


def machine(directory: Path, server: Server, timeout: float) -> dict[str, str]:
    """One whose server has so many seconds to answer."""
    env = home(directory, "alpha", server, hooks(directory), timeout=timeout, lease=1.0)
    file = Path(env["HOME"], ".config/hookline/fleet.toml")
    file.write_text(f'{file.read_text()}[bundles]\nkeys = ["{key().text}"]\n')
    return env


@contextmanager
def fleet_command(env: dict[str, str], *words: str) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "hookline", "fleet", *words]
    with subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_until(worker: "subprocess.Popen[str]", words: str) -> list[str]:
    """Return a worker's output up to these words: a busy machine may answer late at any time."""
    assert worker.stderr is not None
    lines = [worker.stderr.readline()]
    while words not in lines[-1]:
        assert lines[-1], lines
        lines.append(worker.stderr.readline())
    return lines


def ends(env: dict[str, str], directory: Path) -> list[str]:
    """Return the output of each command that needs an answer, all of them at once."""
    hooks_file, signing = directory / "guards.toml", directory / "guards.key"
    hooks_file.write_text(GUARD)
    if not signing.exists():
        make_key(str(signing))
    said: list[str] = []
    publish = ("publish", str(hooks_file), "--key", str(signing), "--yes")
    with (
        fleet_command(env, "status") as one, fleet_command(env, "pull") as two, fleet_command(env, *publish) as three,
    ):  # fmt: skip
        for process in (one, two, three):
            _out, error = process.communicate(timeout=LONG)
            assert process.returncode == 1, error
            said.append(error)
    return said


def test_commands_end_at_a_server_that_never_says_anything(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server: Any = SimpleNamespace(url=f"nats://127.0.0.1:{silent.getsockname()[1]}")
        env = machine(tmp_path, server, 0.3)
        for said in ends(env, tmp_path):
            assert f"the server of the fleet ({server.url}) cannot be reached: no answer in time" in said
            assert "Traceback" not in said


def test_a_server_that_stops_in_mid_request_is_said_once_and_nothing_is_lost(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    env = machine(tmp_path, server, 1.0)

    async def events(count: int) -> None:
        """An agent meanwhile: what it fires is accepted at once, whatever the server does."""
        async with agent(env, tmp_path) as engine:
            session = engine.session("s", cwd=tmp_path)
            for number in range(count):
                await session.dispatch(POST_TOOL_USE, result(str(number)))
            assert len(engine.jobs.queue.open_jobs("s")) == count

    async def delivered(count: int) -> None:
        async with agent(env, tmp_path) as engine:
            session = engine.session("s", cwd=tmp_path)
            engine.jobs.wakes.join(session)
            for _ in range(count):
                assert (await asyncio.wait_for(session.inbox.get(), LONG)).text == "found"

    try:
        with fleet_command(env, "worker") as worker:
            said = lines_until(worker, "alpha is in the fleet")
            server.stop()
            asyncio.run(events(20))
            said += lines_until(worker, "cannot be reached: no answer in time")
            assert any("did not answer in time" in line for line in said)
            for told_by_command in ends(env, tmp_path):
                assert "no answer in time" in told_by_command
            assert worker.poll() is None
            server.go_on()
            said += lines_until(worker, "alpha is in the fleet")
            assert all(one != two for one, two in pairwise(said)), "each of them is said once"
            asyncio.run(delivered(20))
            server.stop()
            worker.send_signal(signal.SIGTERM)
            out, _error = worker.communicate(timeout=LONG)
            assert "alpha has left the fleet" in out
    finally:
        server.kill()
    assert len((tmp_path / "ran").read_text().split()) >= 20


def test_a_connection_that_is_cancelled_is_closed(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    settings = FleetSettings(servers=(server.url,), name="alpha")

    async def main() -> None:
        gc.collect()  # what earlier tests left
        before = len(os.listdir("/proc/self/fd"))
        # At each step on the way, and when it has just got through.
        for steps in range(60):
            task = asyncio.ensure_future(connect(settings))
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                await task.result().close()
                break
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        gc.collect()
        await until(lambda: len(os.listdir("/proc/self/fd")) <= before)
        await until(lambda: len(asyncio.all_tasks()) == 1)

    try:
        asyncio.run(main())
    finally:
        server.kill()
