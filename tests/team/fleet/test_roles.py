"""Test root's part and the user's part of one machine: bundles by one, jobs and runs by the other, one status."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hookline.journal.file import JournalFile, journal_path
from hookline.model.run import Run
from hookline.team.fleet.bundles.transport import ServerTransport
from hookline.team.fleet.connection import connected
from hookline.team.fleet.machine import Presence
from hookline.team.fleet.settings import FleetSettings, read_settings
from hookline.team.fleet.status import FleetStatus, read_status
from hookline.team.fleet.worker import Problems, Worker
from tests.team.fleet.machines import bundle, key
from tests.team.fleet.server import Server, home, needs_server
from tests.waiting import until

pytestmark = [needs_server, pytest.mark.unmeasured]


def settings_of(server: Server) -> FleetSettings:
    return FleetSettings(servers=(server.url,), name="desk")


async def status(server: Server) -> FleetStatus:
    async with connected(settings_of(server)) as fleet:
        await fleet.prepare()
        return await read_status(ServerTransport(fleet), {key().id: key().public})


async def until_status(server: Server, holds: Callable[[FleetStatus], bool]) -> FleetStatus:
    while not holds(found := await status(server)):
        await asyncio.sleep(0.1)
    return found


async def ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_root_takes_the_bundles_and_the_user_has_the_agents(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    place = tmp_path / "place"
    env = home(tmp_path, "alpha", server, "")
    file = tmp_path / "alpha/.config/hookline/fleet.toml"
    file.write_text(f'{file.read_text()}[bundles]\nkeys = ["{key().text}"]\ndirectory = "{place}"\n')
    file.chmod(0o600)
    said: list[str] = []

    async def main() -> None:
        root = asyncio.create_task(Worker(read_settings(env), env, said.append, for_all=True).run())
        async with connected(settings_of(server)) as fleet:
            await fleet.prepare()
            made = bundle(1)
            await ServerTransport(fleet).put(made, key().sign(made), 0)
        await until(lambda: any("guards 1: activated" in line for line in said))
        await until_status(server, lambda found: found.bundles[0].machines == 1)
        await ended(root)
        # The user cannot write there: a directory takes the place of the lock.
        os.unlink(place / "lock")
        (place / "lock").mkdir()
        JournalFile(journal_path(env)).append(Run(hook="x", at=time.time()))
        user = asyncio.create_task(Worker(read_settings(env), env, said.append).run())
        found = await until_status(server, lambda found: found.machines[0].report.last_day.runs == 1)
        (machine,) = found.machines
        assert machine.report.bundles[0].revision == 1
        root, part = machine.parts
        assert (root.for_all, part.for_all) == (True, False)
        assert isinstance(part.worker, Presence)
        assert part.worker.problem == ""
        assert sum("takes the bundles of this machine" in line for line in said) == 1
        assert sum("is in the fleet" in line for line in said) == 1
        await ended(user)

    try:
        asyncio.run(main())
    finally:
        server.kill()


def test_a_problem_is_over_when_the_worker_serves_again() -> None:
    problems = Problems(0.0)
    assert problems.add("no server")
    assert not problems.add("no server")
    assert problems.now() == "no server"  # not while there is no connection
    problems.serving = time.monotonic()
    assert (problems.now(), problems.last, problems.count) == ("", "no server", 2)
    assert problems.add("no server")
    slow = Problems(3_600.0)
    slow.add("denied")
    slow.serving = time.monotonic()
    assert slow.now() == "denied"  # it may be thrown out again at once


def test_one_command_joins_a_fleet(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    (tmp_path / "home").mkdir()

    def join(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "hookline", "fleet", "join", *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    async def published() -> None:
        async with connected(settings_of(server)) as fleet:
            await fleet.prepare()
            made = bundle(1)
            await ServerTransport(fleet).put(made, key().sign(made), 0)

    try:
        asyncio.run(published())
        assert "is not a public key" in join(server.url, "--trust", "x").stderr
        ran = join(server.url, "--machine", "alpha", "--trust", key().text)
        assert ran.returncode == 0, ran.stderr
        assert "bundle guards 1: activated" in ran.stdout
        unit = tmp_path / "home/.config/systemd/user/hookline-fleet.service"
        assert f'ExecStart="{sys.executable}" "-m" "hookline" "fleet" "worker"' in unit.read_text()
        found = asyncio.run(status(server))
        assert [each.report.machine for each in found.machines] == ["alpha"]
        assert "--force writes it anew" in join(server.url).stderr
    finally:
        server.kill()
