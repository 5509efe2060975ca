"""Take the newest bundle meant for this machine, keep it intact, and report.

`pull` takes what is offered now; `follow_fleet` continues for as long as the worker runs.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from hookline.config.bundles.format import BundleError
from hookline.config.bundles.settings import bundle_settings
from hookline.config.load import Loader
from hookline.dialects.registry import home_dialect
from hookline.handlers.registry import standard_handlers
from hookline.model.errors import HooklineError
from hookline.team.fleet.bundles.activate import ActivationResult, Activator
from hookline.team.fleet.bundles.report import own_report
from hookline.team.fleet.bundles.transport import Offered, ServerTransport, Transport
from hookline.team.fleet.connection import Fleet, FleetError

#: Seconds for which offers are gathered, so that a machine that was away takes the newest revision only.
_GATHER = 0.1
#: Seconds between two reports.
REPORT_EVERY = 60.0


class NotInFleetError(HooklineError):
    """An error for a machine that takes no bundles; the message says how to change that."""


def activator(env: Mapping[str, str]) -> Activator:
    """Return the activator of this machine, by its settings. Raises NotInFleetError."""
    settings = bundle_settings(env)
    if settings is None:
        raise NotInFleetError(
            "this machine takes no bundles: write [bundles] with keys = [...] into /etc/hookline/fleet.toml "
            "or ~/.config/hookline/fleet.toml"
        )
    return Activator(settings, Loader(home_dialect(), standard_handlers(env=env), env))


def take(activator: Activator, offers: Iterable[Offered]) -> list[ActivationResult]:
    """Offer bundles, of each name the newest first, until one is active. Keys only decide the order."""
    by_name: dict[str, list[tuple[int, Offered]]] = {}
    for each in offers:
        name, _, number = each.key.rpartition(".")
        revision = int(number) if number.isascii() and number.isdecimal() and len(number) < 16 else 0
        by_name.setdefault(name, []).append((revision, each))
    results: list[ActivationResult] = []
    for name, some in sorted(by_name.items()):
        lowest = _revision_in_force(activator, name)
        for revision, each in sorted(some, key=lambda one: one[0], reverse=True):
            if revision < lowest:
                break  # its past
            result = activator.offer(each.raw, each.key)
            results.append(result)
            if result.what in ("activated", "renewed", "unchanged"):
                break
    return results


def _revision_in_force(activator: Activator, name: str) -> int:
    try:
        known = activator.place.in_force().bundles.get(name)
    except BundleError:
        return 0
    return known.revision if known is not None else 0


async def pull(activator: Activator, transport: Transport, env: Mapping[str, str]) -> list[ActivationResult]:
    """Take bundles once. Raises FleetError if the transport cannot be reached; this machine's report says so, too."""
    try:
        results = take(activator, await transport.bundles())
    except FleetError as problem:
        activator.asked(str(problem))
        raise
    for _ in activator.repair():
        pass
    activator.asked()
    await _report(activator, transport, env)
    return results


async def follow_fleet(
    fleet: Fleet, env: Mapping[str, str], say: Callable[[str], None], every: float = REPORT_EVERY
) -> None:
    """Take bundles over the worker's connection, until cancelled. Raises FleetError when the server goes
    away.

    Settings are read again each time: a machine may begin to take bundles, or to trust another key.
    """
    while True:
        with suppress(NotInFleetError):
            await _follow(ServerTransport(fleet), env, say, every)
        await asyncio.sleep(every)


async def _follow(
    transport: Transport, env: Mapping[str, str], say: Callable[[str], None], every: float
) -> None:
    """Take bundles as they arrive, and poll from time to time, because a server may forget its listeners."""
    own = activator(env)
    changed: dict[str, Offered] = {}
    there = asyncio.Event()

    async def listen() -> None:
        async for each in transport.changes():
            changed[each.key] = each
            there.set()

    listening = asyncio.ensure_future(listen())
    try:
        while not listening.done():
            there.clear()
            own = activator(env)
            # Not earlier offers: they may have been withdrawn.
            there_now = {each.key: each for each in await transport.bundles()}
            offers = changed | there_now
            changed.clear()
            _take_and_say(own, offers, say)
            own.asked()
            await _report(own, transport, env)
            waiting = asyncio.ensure_future(there.wait())
            await asyncio.wait({waiting, listening}, timeout=every, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            await asyncio.sleep(_GATHER)
        listening.result()
    except FleetError as problem:
        own.asked(str(problem))
        raise
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError, FleetError):
            await listening


def _take_and_say(activator: Activator, offers: Mapping[str, Offered], say: Callable[[str], None]) -> None:
    for result in take(activator, offers.values()):
        if result.what in ("activated", "renewed", "refused"):
            say(f"bundle {result.line}")
    for line in activator.repair():
        say(line)


async def _report(activator: Activator, transport: Transport, env: Mapping[str, str]) -> None:
    # A journal may be large, and the worker has jobs to look after.
    raw = await asyncio.to_thread(own_report, activator, env)
    await transport.report(activator.settings.machine, raw)
