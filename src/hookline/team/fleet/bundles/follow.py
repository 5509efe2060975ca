"""Take the newest bundle meant for this machine, keep it intact, and report.

`pull` takes what is offered now; `follow_fleet` continues for as long as the worker runs.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from hookline.config.bundles.format import BundleError
from hookline.config.bundles.settings import bundle_settings
from hookline.config.load import Loader
from hookline.dialects.registry import home_dialect
from hookline.handlers.registry import standard_handlers
from hookline.model.errors import HooklineError
from hookline.team.fleet.bundles.activate import ActivationResult, Activator, UnwritableStoreError
from hookline.team.fleet.bundles.report import MachineReport, own_report
from hookline.team.fleet.bundles.transport import ServerTransport, Transport
from hookline.team.fleet.connection import Fleet, FleetError

#: Seconds over which the machines of a fleet spread when there is something new.
_SPREAD = 1.0
#: Seconds between two looks; of each, a part is left to chance, so that machines do not look at once.
LOOK_EVERY = 60.0
_CHANCE = 0.2
#: Seconds after which a report is sent though nothing has changed, and refused bundles are offered again.
_AT_LEAST = 900.0


class NotInFleetError(HooklineError):
    """An error for a machine that takes no bundles; the message says how to change that."""


def activator(env: Mapping[str, str], *, for_all: bool = False) -> Activator:
    """Return the activator of this machine, by its settings. Raises NotInFleetError."""
    settings = bundle_settings(env)
    if settings is None:
        raise NotInFleetError(
            "this machine takes no bundles: write [bundles] with keys = [...] into /etc/hookline/fleet.toml "
            "or ~/.config/hookline/fleet.toml"
        )
    return Activator(settings, Loader(home_dialect(), standard_handlers(env=env), env), for_all=for_all)


async def take(activator: Activator, transport: Transport) -> list[ActivationResult]:
    """Fetch and offer bundles, of each name the newest first, until one is active. Keys only decide the order.

    Revisions below the active one are not fetched. Raises FleetError.
    """
    by_name: dict[str, list[tuple[int, str]]] = {}
    for key in await transport.names():
        name, _, number = key.rpartition(".")
        revision = int(number) if number.isascii() and number.isdecimal() and len(number) < 16 else 0
        by_name.setdefault(name, []).append((revision, key))
    results: list[ActivationResult] = []
    for name, some in sorted(by_name.items()):
        lowest = _revision_in_force(activator, name)
        if max(some)[0] < lowest:
            why = f"this machine has {lowest} already, and takes none that is lower"
            results.append(ActivationResult("waiting", name, max(some)[0], why))
        for revision, key in sorted(some, reverse=True):
            if revision < lowest:
                break  # its past
            results += [activator.offer(each.raw, each.key) for each in await transport.fetch((key,))]
            if results and results[-1].name == name and results[-1].what in _DONE:
                break
    return results


#: Results after which lower revisions do not matter.
_DONE = frozenset(("activated", "renewed", "unchanged", "released"))


def _revision_in_force(activator: Activator, name: str) -> int:
    try:
        known = activator.store.in_force().bundles.get(name)
    except BundleError:
        return 0
    return known.revision if known is not None else 0


async def pull(activator: Activator, transport: Transport, env: Mapping[str, str]) -> list[ActivationResult]:
    """Take bundles once. Raises FleetError if the transport cannot be reached; this machine's report says so, too."""
    try:
        results = await take(activator, transport)
    except UnwritableStoreError:
        raise
    except FleetError as problem:
        activator.asked(str(problem), looked=False)
        raise
    for _ in activator.repair():
        pass
    activator.asked()
    await _Reporter(transport, env).send(activator)
    return results


async def follow_fleet(
    fleet: Fleet, env: Mapping[str, str], say: Callable[[str], None], every: float = LOOK_EVERY
) -> None:
    """Take bundles over the worker's connection, until cancelled. Raises FleetError when the server goes
    away.

    Settings are read again each time: a machine may begin to take bundles, or to trust another key. A user who
    may not write the directory of bundles loses nothing else by that: another process keeps it.
    """
    said = ""
    transport = ServerTransport(fleet)
    reporter = _Reporter(transport, env)
    while True:
        with suppress(NotInFleetError):
            try:
                await _Follower(transport, env, say, every).run()
            except UnwritableStoreError as problem:
                if str(problem) != said:
                    said = str(problem)
                    say(f"another process takes the bundles of this machine, as it must: {said}")
                await reporter.send(activator(env))
        await asyncio.sleep(_about(every))


async def keep_bundles(fleet: Fleet, env: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Take the bundles of this machine for all of its users, until cancelled. Raises FleetError, NotInFleetError.

    That is root's part, in a directory that only root writes. What hooks did, and for which agents, is the users'.
    """
    await _Follower(ServerTransport(fleet), env, say, LOOK_EVERY, for_all=True).run()


class _Follower:
    """Follower of one transport, with what it has seen there."""

    def __init__(
        self, transport: Transport, env: Mapping[str, str], say: Callable[[str], None], every: float, *,
        for_all: bool = False,
    ) -> None:  # fmt: skip
        self._transport = transport
        self._env = env
        self._say = say
        self._every = every
        self._for_all = for_all
        self._reporter = _Reporter(transport, env, for_all=for_all)
        #: The offers and the settings that were looked at last, and when.
        self._seen: object = None
        self._looked = float("-inf")

    async def run(self) -> None:
        """Take bundles when there is something new, and look from time to time, because hints get lost."""
        own = activator(self._env, for_all=self._for_all)
        try:
            async with self._transport.changes() as changed:
                while True:
                    changed.clear()
                    own = activator(self._env, for_all=self._for_all)
                    await self._look(own)
                    await self._reporter.send(own)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_about(self._every)):
                            await changed.wait()
                            await asyncio.sleep(random.uniform(0.1, _SPREAD))  # noqa: S311 not a secret
        except UnwritableStoreError:
            raise
        except FleetError as problem:
            own.asked(str(problem), looked=False)
            raise

    async def _look(self, own: Activator) -> None:
        """Fetch and offer what may be new. Nothing is fetched while neither offers nor settings change."""
        now = (await self._transport.version(), own.settings)
        stale = time.monotonic() - self._looked > _AT_LEAST and bool(own.store.report().refused)
        damaged = False
        for line in own.repair():
            damaged = True
            self._say(line)
        looked = now != self._seen or stale or damaged or not _is_complete(own)
        if looked:
            for result in await take(own, self._transport):
                if result.what not in ("waiting", "unchanged"):
                    self._say(f"bundle {result.line}")
            self._seen, self._looked = now, time.monotonic()
        own.asked(looked=looked)


def _is_complete(activator: Activator) -> bool:
    """Return True if every bundle that must be active here is; an exception that is over makes it False."""
    try:
        return all(name in activator.store.names_there() for name in activator.store.names())
    except BundleError:
        return False


class _Reporter:
    """Sender of this machine's report: when it has changed, and from time to time."""

    def __init__(self, transport: Transport, env: Mapping[str, str], *, for_all: bool = False) -> None:
        self._transport = transport
        self._env = env
        self._for_all = for_all
        self._sent: MachineReport | None = None

    async def send(self, activator: Activator) -> None:
        # A journal may have grown by much, and the worker has jobs to look after.
        report = await asyncio.to_thread(own_report, activator, self._env, for_all=self._for_all)
        before = self._sent
        if before is None or replace(report, at=before.at) != before or report.at - before.at > _AT_LEAST:
            await self._transport.report(report.machine, msgspec.json.encode(report), for_all=self._for_all)
            self._sent = report


def _about(seconds: float) -> float:
    return seconds * random.uniform(1 - _CHANCE, 1 + _CHANCE)  # noqa: S311 not a secret
