"""Test bundles over a real server: rolled out in stages, watched, and active when the server is gone or lies."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from hookline.config.bundles.format import WHOLE
from hookline.team.fleet.bundles.follow import follow_fleet, pull
from hookline.team.fleet.bundles.transport import ServerTransport, published
from hookline.team.fleet.connection import BUNDLES, FleetError, connected
from hookline.team.fleet.settings import FleetSettings
from hookline.team.fleet.status import FleetStatus, fleet_status
from tests.team.fleet.machines import Machine, bundle, key
from tests.team.fleet.server import Server, needs_server
from tests.waiting import until

pytestmark = needs_server


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    made = Server(tmp_path / "nats")
    yield made
    made.wipe()


@asynccontextmanager
async def reached(server: Server, name: str) -> AsyncGenerator[ServerTransport]:
    async with connected(FleetSettings(servers=(server.url,), name=name)) as fleet:
        await fleet.prepare()
        yield ServerTransport(fleet)


async def publish(transport: ServerTransport, revision: int, stage: int = WHOLE, after: int = 0) -> None:
    made = bundle(revision, stage=stage)
    await transport.put(made, key().sign(made), after)


async def status(transport: ServerTransport) -> FleetStatus:
    keys = {key().id: key().public}
    return fleet_status(await published(transport), (await transport.machines()).reports, keys)


def stage_between(one: str, other: str, revision: int) -> int:
    """A stage that includes the first machine and not the second."""
    for stage in range(1, WHOLE):
        made = bundle(revision, stage=stage)
        if made.in_stage(one) != made.in_stage(other):
            return stage if made.in_stage(one) else 0
    return 0


async def _scenario(server: Server, directory: Path) -> None:
    alpha, beta = Machine(directory, "alpha"), Machine(directory, "beta")
    settings = alpha.settings.read_text()
    alpha.settings.write_text(settings.partition("[bundles]")[0])  # it takes bundles later
    said: list[str] = []
    async with reached(server, "publisher") as transport, reached(server, "alpha") as own:
        follower = asyncio.ensure_future(follow_fleet(own.fleet, alpha.env, said.append, every=0.2))
        try:
            await publish(transport, 1)
            await asyncio.sleep(0)
            alpha.settings.write_text(settings)
            await until(lambda: alpha.in_force() == 1)
            # In stages: the same revision reaches more machines.
            staged = next(number for number in range(2, 50) if stage_between("alpha", "beta", number))
            await publish(transport, staged, stage_between("alpha", "beta", staged))
            await until(lambda: alpha.in_force() == staged)
            results = await pull(beta.activator, transport, beta.env)
            assert [each.what for each in results] == ["waiting", "activated"]
            assert beta.in_force() == 1
            (offer,) = [each for each in await published(transport) if each.key == f"guards.{staged}"]
            with pytest.raises(FleetError, match="published by someone else meanwhile"):
                await publish(transport, staged)
            await publish(transport, staged, after=offer.write)
            await pull(beta.activator, transport, beta.env)
            assert beta.in_force() == staged
            # A server that lies: its bundle is refused and reported, and the active one stays.
            await transport.fleet.put(BUNDLES, "guards.99", offer.raw.replace(b'"stage"', b'"stagf"'))
            await until(lambda: any("refused" in line for line in said))
            assert alpha.in_force() == staged
            await _until_reported(
                transport,
                "alpha: refused a bundle: published as guards.99: its content does not match its digest",
            )
            # What was taken off the server is not refused any more.
            await transport.fleet.streams.purge_stream(f"KV_{BUNDLES}", subject=f"$KV.{BUNDLES}.guards.99")
            await until(lambda: alpha.activator.store.report().refused == ())
            # A server that vanishes: the guards stay active.
            server.kill()
            engine = alpha.load()[0]
            assert (await alpha.dispatch(engine, "git push -f")).blocked
            assert not (await alpha.dispatch(engine, "ls")).blocked
            await engine.close()
        finally:
            follower.cancel()
            with suppress(asyncio.CancelledError, FleetError):
                await follower
    # One that comes back without its disk: nothing goes back, and the next revision is taken.
    server.restart(wiped=True)
    async with reached(server, "publisher") as transport:
        await publish(transport, 1)
        assert [each.what for each in await pull(alpha.activator, transport, alpha.env)] == ["waiting"]
        await publish(transport, staged + 1)
        await pull(alpha.activator, transport, alpha.env)
        assert alpha.in_force() == staged + 1
        found = await status(transport)
        assert [each.report.machine for each in found.machines] == ["alpha"]


async def _until_reported(transport: ServerTransport, problem: str) -> None:
    found: tuple[str, ...] = ()
    for _ in range(600):
        found = tuple(map(str, (await status(transport)).problems))
        if any(each.startswith(problem) for each in found):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(found)


def test_bundles_reach_machines_in_stages_and_hold_when_the_server_lies_or_vanishes(
    server: Server, tmp_path: Path
) -> None:
    asyncio.run(_scenario(server, tmp_path))
