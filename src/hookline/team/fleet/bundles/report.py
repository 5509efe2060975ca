"""Report a machine's active bundles, its refusals, its agents, and what its hooks did in a day."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from msgspec import Struct
from msgspec.structs import replace

from hookline import __version__
from hookline.checks.switches import switched_off_here
from hookline.config.bundles.format import BundleError
from hookline.config.bundles.store import RejectedBundle
from hookline.config.install.plan import installed_entries, is_there
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import InstallError, InstallScope, Site
from hookline.dialects.registry import every_dialect
from hookline.team.fleet.counts import LastDay, last_day, total_of
from hookline.trust.sessions import SessionStore

if TYPE_CHECKING:
    from hookline.team.fleet.bundles.activate import Activator


class BundleState(Struct, frozen=True, kw_only=True):
    """State of one bundle on a machine."""

    name: str
    revision: int = 0
    digest: str = ""
    issued: int = 0
    expires: int = 0
    #: Why its guards are closed; empty if it counts.
    problem: str = ""


class MachineReport(Struct, frozen=True, kw_only=True):
    machine: str
    groups: tuple[str, ...] = ()
    #: Seconds since the epoch, by the machine's own clock.
    at: float = 0.0
    hookline: str = ""
    bundles: tuple[BundleState, ...] = ()
    refused: tuple[RejectedBundle, ...] = ()
    last_day: LastDay = LastDay()
    #: The ids of the keys that it trusts.
    keys: tuple[str, ...] = ()
    #: The agents of this user that are there, and those that ask Hookline; None if that is unknown.
    agents: tuple[str, ...] | None = None
    asking: tuple[str, ...] = ()
    #: Agents that ask, and whose hooks a project there switches off: by title, in how many projects.
    switched_off: dict[str, int] = {}


def own_report(
    activator: "Activator", env: Mapping[str, str], now: float | None = None, *, for_all: bool = False
) -> MachineReport:
    """Make the report of this machine. `for_all`: of its bundles alone, by the process that takes them for all."""
    now = time.time() if now is None else now
    settings = activator.settings
    agents, asking = _agents(env) if not for_all else (None, ())
    return MachineReport(
        machine=settings.machine,
        groups=settings.groups,
        at=now,
        hookline=__version__,
        bundles=bundle_states(activator, now),
        refused=activator.store.report().refused,
        last_day=last_day(env, settings.directory, now) if not for_all else LastDay(),
        keys=tuple(sorted(settings.keys)),
        agents=agents,
        asking=asking,
        switched_off=switched_off(env) if not for_all else {},
    )


def switched_off(env: Mapping[str, str]) -> dict[str, int]:
    """Count the projects of remembered sessions that switch the hooks of an agent off. Their names stay here."""
    roots = SessionStore(env.get("HOME", "")).roots()
    return dict(Counter(title for root in roots for title, _ in switched_off_here(root, env)))


def _agents(env: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the agents of this user that are there, and those that ask Hookline in every project."""
    sites = [Site(scope, "", env) for scope in get_args(InstallScope) if scope != "project"]
    dialects = [each for each in every_dialect() if each.installer is not None]
    asking = [each.title for each in dialects if any(_has_entries(each, site) for site in sites)]
    there = [each.title for each in dialects if any(is_there(each, site) for site in sites)]
    return tuple(sorted({*there, *asking})), tuple(asking)


def _has_entries(dialect: Dialect, site: Site) -> bool:
    try:
        return bool(installed_entries(dialect, site))
    except (InstallError, OSError):  # it has no such file, or one that it cannot read itself
        return False


def bundle_states(activator: "Activator", now: float) -> tuple[BundleState, ...]:
    try:
        names = activator.store.names()
    except BundleError as problem:
        return (BundleState(name="?", problem=str(problem)),)
    return tuple(_state(activator, name, now) for name in names)


def _state(activator: "Activator", name: str, now: float) -> BundleState:
    try:
        bundle = activator.store.active(name, activator.settings)
    except BundleError as problem:
        return BundleState(name=name, problem=str(problem))
    changed = activator.store.changed_file(bundle)
    problem = "it expired" if bundle.expires <= now else f"{changed} was changed" if changed else ""
    return BundleState(
        name=name,
        revision=bundle.revision,
        digest=bundle.digest,
        issued=bundle.issued,
        expires=bundle.expires,
        problem=problem,
    )


def merged(root: MachineReport | None, users: Sequence[MachineReport]) -> MachineReport:
    """Return one report of a machine: its bundles as root's part has them, what happened as its users say.

    Without root's part every user has bundles of his own, and the machine has those that all of them have.
    """
    last = root or max(users, key=lambda each: each.at)
    known = [each.agents for each in users if each.agents is not None]
    return replace(
        last,
        at=max(each.at for each in (last, *users)),
        bundles=last.bundles if root is not None else tuple(_of_all(users)),
        refused=last.refused if root is not None else tuple(one for each in users for one in each.refused),
        last_day=total_of([each.last_day for each in users]),
        agents=tuple(sorted({agent for some in known for agent in some})) if known else None,
        asking=tuple(sorted({agent for each in users for agent in each.asking})),
        switched_off=dict(sum((Counter(each.switched_off) for each in users), Counter[str]())),
    )


def _of_all(users: Sequence[MachineReport]) -> Iterator[BundleState]:
    """Yield the bundles that all users have, each as the one who is most behind has it."""
    for each in users[0].bundles:
        same = [one for user in users for one in user.bundles if one.name == each.name]
        if len(same) == len(users):
            yield min(same, key=lambda one: (not one.problem, one.revision))
