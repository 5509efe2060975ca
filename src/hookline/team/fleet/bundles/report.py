"""Report a machine's active bundles, its refusals, and how its hooks fared in a day."""

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from hookline import __version__
from hookline.config.bundles.format import BundleError
from hookline.config.bundles.store import RejectedBundle
from hookline.journal.file import journal_path
from hookline.journal.reader import scan_journal
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.team.fleet.bundles.activate import Activator

_DAY = 86_400.0
_FAILED = frozenset(("failed", "timed_out", "not_started"))


class BundleState(Struct, frozen=True, kw_only=True):
    """State of one bundle on a machine."""

    name: str
    revision: int = 0
    digest: str = ""
    issued: int = 0
    expires: int = 0
    #: Why its guards are closed; empty if it counts.
    problem: str = ""


class LastDay(Struct, frozen=True):
    """Runs of hooks in the last 24 hours."""

    runs: int = 0
    failed: int = 0
    #: Failures that let something pass which a hook should have judged.
    open_passes: int = 0
    #: Records that the journal could not keep.
    lost: int = 0
    #: Agents that asked Hookline.
    agents: tuple[str, ...] = ()


class MachineReport(Struct, frozen=True, kw_only=True):
    machine: str
    groups: tuple[str, ...] = ()
    #: Seconds since the epoch, by the machine's own clock.
    at: float = 0.0
    hookline: str = ""
    bundles: tuple[BundleState, ...] = ()
    refused: tuple[RejectedBundle, ...] = ()
    last_day: LastDay = LastDay()


def own_report(activator: "Activator", env: Mapping[str, str], now: float | None = None) -> bytes:
    now = time.time() if now is None else now
    settings = activator.settings
    report = MachineReport(
        machine=settings.machine,
        groups=settings.groups,
        at=now,
        hookline=__version__,
        bundles=bundle_states(activator, now),
        refused=activator.place.report().refused,
        last_day=last_day(journal_path(env), now),
    )
    return msgspec.json.encode(report)


def bundle_states(activator: "Activator", now: float) -> tuple[BundleState, ...]:
    try:
        names = activator.place.names()
    except BundleError as problem:
        return (BundleState(name="?", problem=str(problem)),)
    return tuple(_state(activator, name, now) for name in names)


def _state(activator: "Activator", name: str, now: float) -> BundleState:
    try:
        bundle = activator.place.active(name, activator.settings)
    except BundleError as problem:
        return BundleState(name=name, problem=str(problem))
    changed = activator.place.changed_file(bundle)
    problem = "it expired" if bundle.expires <= now else f"{changed} was changed" if changed else ""
    return BundleState(
        name=name,
        revision=bundle.revision,
        digest=bundle.digest,
        issued=bundle.issued,
        expires=bundle.expires,
        problem=problem,
    )


def last_day(path: str, now: float) -> LastDay:
    """Count the runs of the last day in this user's journal. A missing journal has no runs."""
    if not os.path.exists(path):
        return LastDay()
    runs = failed = opened = lost = 0
    agents: set[str] = set()
    for each in scan_journal(path):
        if not isinstance(each, Run):
            lost += 1
        elif each.at >= now - _DAY:
            runs += 1
            failed += each.status in _FAILED
            opened += each.failed_open
            agents.add(each.call.caller)
    return LastDay(runs, failed, opened, lost, tuple(sorted(agents - {""})))
