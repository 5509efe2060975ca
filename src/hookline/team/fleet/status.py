"""Judge the state of a fleet: its machines, the published bundles, and everything that is wrong."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.config.bundles.format import WHOLE, Bundle, BundleError, read_body, split, verify
from hookline.team.fleet.bundles.report import BundleState, MachineReport, merged
from hookline.team.fleet.bundles.transport import Offered, Transport, WorkerSeen
from hookline.team.fleet.counts import GuardCounts, slowest, sum_of
from hookline.team.fleet.machine import Presence
from hookline.team.fleet.rollout import Gate, judge_stage
from hookline.team.fleet.settings import machine_and_user

#: `error`: something is not guarded, or not seen; `warning`: it will be, or it may be; `note`: to know.
Level = Literal["error", "warning", "note"]
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")

_DAY: Final = 86_400.0
#: Seconds after which a machine counts as silent, after which that is more than a note, and after which it is left
#: out.
SILENT: Final = 3_600.0
LONG_SILENT: Final = 3 * _DAY
GONE: Final = 30 * _DAY
#: Seconds in which a machine should have taken a bundle.
_SETTLING: Final = 300.0
#: Seconds for which missing runs are a warning.
_MISSING: Final = 7 * _DAY
_MOST_NAMED: Final = 5


class FleetProblem(Struct, frozen=True, kw_only=True):
    """Something that is wrong, or good to know, in one line."""

    level: Level
    #: A machine, or a bundle; empty for the whole fleet.
    about: str = ""
    text: str

    def __str__(self) -> str:
        return f"{self.about}: {self.text}" if self.about else self.text


class PublishedBundle(Struct, frozen=True, kw_only=True):
    """Newest revision of a name."""

    name: str
    revision: int = 0
    issued: int = 0
    expires: int = 0
    stage: float = 100.0
    scope: str = ""
    #: Machines that report it active, of those it is meant for in this stage.
    machines: int = 0
    meant: int = 0
    #: True if machines shall do without it.
    removed: bool = False
    #: The stage beside the rest of its machines; null if all have it.
    gate: Gate | None = None


class MachinePart(Struct, frozen=True, kw_only=True):
    """One process of a machine: the worker of a user, or root's part, which takes the bundles for all users."""

    #: The user, where several of the machine have workers; empty if there is one.
    user: str = ""
    #: True for root's part.
    for_all: bool = False
    #: None if it has not reported: it takes no bundles.
    report: MachineReport | None = None
    #: The last status of the worker; None if it has none.
    worker: Presence | None = None
    #: When it was last heard of, in seconds since the epoch.
    seen: float = 0.0

    @property
    def version(self) -> str:
        """The version of Hookline there; empty if it did not say so."""
        own = self.worker.hookline if self.worker is not None else ""
        return own or (self.report.hookline if self.report is not None else "")

    @property
    def left(self) -> bool:
        """True if the worker has ended, and said so."""
        return self.worker is not None and not self.worker.file

    @property
    def who(self) -> str:
        """The start of a sentence about it, where a machine has several."""
        return "root's part: " if self.for_all else f"{self.user}: " if self.user else ""


class MachineStatus(Struct, frozen=True, kw_only=True):
    #: What all parts say together. Empty but for its name if none has reported: it takes no bundles.
    report: MachineReport
    #: When it was last heard of, in seconds since the epoch.
    seen: float = 0.0
    #: Root's part first, then one for each user who has a worker.
    parts: tuple[MachinePart, ...] = ()

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of Hookline there, as far as it said so."""
        return tuple(sorted({each.version for each in self.parts if each.version}, key=_version))

    @property
    def left(self) -> bool:
        """True if the workers of all users have ended, and said so."""
        users = [each for each in self.parts if not each.for_all]
        return bool(users) and all(each.left for each in users)


class FleetStatus(Struct, frozen=True, kw_only=True):
    at: float
    bundles: tuple[PublishedBundle, ...] = ()
    machines: tuple[MachineStatus, ...] = ()
    #: Runs that are missing in the audit, by machine.
    gaps: Mapping[str, int] = {}
    #: What guards did on all machines in the last day: those of bundles, and those that would have blocked something.
    guards: tuple["FleetGuard", ...] = ()
    #: Machines that have been silent for so long that they are left out.
    gone: tuple[str, ...] = ()
    #: The worst first.
    problems: tuple[FleetProblem, ...] = ()

    def count(self, level: Level) -> int:
        return sum(each.level == level for each in self.problems)


class FleetGuard(Struct, frozen=True, kw_only=True):
    """The effects of one guard on all machines in the last day."""

    counts: GuardCounts
    #: Machines where it ran, and where it would have blocked something.
    machines: int
    would_block_on: int
    #: The time in milliseconds that 95 of 100 runs keep; null without runs, or beyond the longest that is counted.
    p95_ms: int | None = None


async def read_status(
    transport: Transport, keys: Mapping[str, bytes] | None, *, audit: bool = False
) -> FleetStatus:
    """Read the state of the fleet. Raises FleetError.

    `audit`: count missing runs by reading all of the audit, instead of believing the machines' own counts.
    """
    offers = await newest_offers(transport, keys)
    seen = await transport.machines()
    gaps = await transport.gaps() if audit else None
    return fleet_status(offers, seen.reports, keys, seen.workers, gaps, for_all=seen.for_all)


async def newest_offers(transport: Transport, keys: Mapping[str, bytes] | None) -> list[Offered]:
    """Return the published revisions that still matter: of each name down to the first that is for every machine.

    So the cost does not grow with the number of revisions.
    """
    by_name: dict[str, list[tuple[int, str]]] = {}
    for key in await transport.names():
        name, _, number = key.rpartition(".")
        by_name.setdefault(name, []).append((int(number) if number.isdecimal() else 0, key))
    found: list[Offered] = []
    for some in by_name.values():
        for _, key in sorted(some, reverse=True):
            there = await transport.fetch((key,))
            found += there
            if any(_supersedes_all(each, keys) for each in there):
                break
    return found


def _supersedes_all(offer: Offered, keys: Mapping[str, bytes] | None) -> bool:
    try:
        envelope = split(offer.raw)
        if keys is not None:
            verify(envelope, keys, "the settings of this machine")
        return is_whole(read_body(envelope.body))
    except BundleError:
        return False


def is_whole(bundle: Bundle) -> bool:
    """Return True if a bundle is for every machine, so that none needs a lower revision."""
    return bundle.stage == WHOLE and not bundle.scope.machines and not bundle.scope.groups


def fleet_status(
    offers: Sequence[Offered],
    reports: Mapping[str, bytes],
    keys: Mapping[str, bytes] | None,
    workers: Mapping[str, WorkerSeen] | None = None,
    gaps: Mapping[str, int] | None = None,
    now: float | None = None,
    *,
    for_all: Mapping[str, bytes] | None = None,
) -> FleetStatus:
    """Judge the state of the fleet.

    `reports` and `workers` are by the names of workers, `for_all` are the reports of root's parts by machine.
    `keys`: trusted keys; None: this machine has none, and signatures are not checked. `gaps`: missing runs as
    a person counted them in the audit; None: as the machines say.
    """
    now = time.time() if now is None else now
    found, refused = _published(offers, keys)
    unread: list[FleetProblem] = []
    users, roots = (dict(_read(each, unread)) for each in (reports, for_all or {}))
    machines, gone = _machines(users, roots, workers or {}, now)
    known = [each.report for each in machines]
    bundles = tuple(_summary(name, own, known, now) for name, own in sorted(found.items()))
    missing = _missing(machines) if gaps is None else _by_machine(gaps)
    problems = [
        *refused,
        *(one for name, own in sorted(found.items()) for one in _about_bundle(name, own, now)),
        *(one for each in bundles for one in _about_stage(each)),
        *unread,
        *(one for each in machines for one in _about_machine(each, found, now)),
        *_about_gaps(machines, missing, now),
        *_about_versions(machines),
    ]
    return FleetStatus(
        at=now,
        bundles=bundles,
        machines=machines,
        gaps=missing,
        guards=tuple(_guards(known)),
        gone=gone,
        problems=tuple(sorted(problems, key=lambda each: LEVELS.index(each.level))),
    )


def _machines(
    users: Mapping[str, MachineReport],
    roots: Mapping[str, MachineReport],
    workers: Mapping[str, WorkerSeen],
    now: float,
) -> tuple[tuple[MachineStatus, ...], tuple[str, ...]]:
    """Return every machine that has reported or has a worker, and the names of those that are long gone.

    Of a machine that is there, a user who is long gone is left out.
    """
    parts: dict[str, list[MachinePart]] = {
        name: [MachinePart(for_all=True, report=each, seen=each.at)] for name, each in roots.items()
    }
    for name in sorted({*users, *workers}):
        machine, user = machine_and_user(name)
        parts.setdefault(machine, []).append(_part(user, users.get(name), workers.get(name)))
    found = [_machine(name, own, now) for name, own in sorted(parts.items())]
    gone = tuple(each.report.machine for each in found if now - each.seen > GONE)
    return tuple(each for each in found if each.report.machine not in gone), gone


def _part(user: str, report: MachineReport | None, worker: WorkerSeen | None) -> MachinePart:
    return MachinePart(
        user=user,
        report=report,
        worker=worker.presence if worker is not None else None,
        seen=max(report.at if report is not None else 0.0, worker.at if worker is not None else 0.0),
    )


def _machine(name: str, parts: Sequence[MachinePart], now: float) -> MachineStatus:
    there = [each for each in parts if now - each.seen <= GONE] or parts
    root = next((each.report for each in there if each.for_all), None)
    users = [each.report for each in there if each.report is not None and not each.for_all]
    return MachineStatus(
        report=merged(root, users) if root is not None or users else MachineReport(machine=name),
        seen=max(each.seen for each in there),
        parts=tuple(there),
    )


def _published(
    offers: Iterable[Offered], keys: Mapping[str, bytes] | None
) -> tuple[dict[str, dict[int, Bundle]], list[FleetProblem]]:
    """Return valid bundles by name and revision, and a problem for each invalid one."""
    found: dict[str, dict[int, Bundle]] = {}
    refused: list[FleetProblem] = []
    for each in offers:
        try:
            envelope = split(each.raw)
            if keys is not None:
                verify(envelope, keys, "the settings of this machine")
            bundle = read_body(envelope.body)
        except BundleError as problem:
            text = f"published as {each.key[:80]}, and every machine refuses it: {problem}"
            refused.append(FleetProblem(level="error", text=text))
            continue
        found.setdefault(bundle.name, {})[bundle.revision] = bundle
    return found, refused


def _read(reports: Mapping[str, bytes], unread: list[FleetProblem]) -> Iterator[tuple[str, MachineReport]]:
    """Yield the reports that can be read. The key says of which machine each is: its rights are for that alone."""
    for name, raw in sorted(reports.items()):
        try:
            report = msgspec.json.decode(raw, type=MachineReport)
        except (msgspec.DecodeError, UnicodeDecodeError):
            text = "its report cannot be read; it may be of another version"
            unread.append(FleetProblem(level="warning", about=name[:80], text=text))
            continue
        yield name, replace(report, machine=machine_and_user(name)[0])


# -- bundles


def _summary(
    name: str, own: Mapping[int, Bundle], machines: Sequence[MachineReport], now: float
) -> PublishedBundle:
    bundle = own[max(own)]
    meant = [each for each in machines if bundle.is_for(each.machine, each.groups, now)]
    return PublishedBundle(
        name=name,
        revision=bundle.revision,
        issued=bundle.issued,
        expires=bundle.expires,
        stage=bundle.stage / 100,
        scope=str(bundle.scope),
        machines=sum(_has(each, bundle) for each in meant),
        meant=len(meant),
        removed=bundle.removed,
        gate=judge_stage(bundle, machines) if bundle.stage < WHOLE else None,
    )


def _has(machine: MachineReport, bundle: Bundle) -> bool:
    state = _state(machine, bundle.name)
    return state is None if bundle.removed else state is not None and state.revision >= bundle.revision


def _state(machine: MachineReport, name: str) -> BundleState | None:
    return next((each for each in machine.bundles if each.name == name), None)


def _about_bundle(name: str, own: Mapping[int, Bundle], now: float) -> Iterator[FleetProblem]:
    """Yield the problems of the newest revision."""
    bundle = own[max(own)]
    if bundle.removed:
        return
    left, half = bundle.expires - now, (bundle.expires - bundle.issued) / 2
    if left <= 0:
        text = "it has expired, and its guards deny: hookline fleet renew"
        yield FleetProblem(level="error", about=bundle.label, text=text)
    elif left < half:
        text = f"half of its life is over, and it expires in {_length(left)}: hookline fleet renew {name}"
        yield FleetProblem(level="warning", about=bundle.label, text=text)
    for each in bundle.scope.exceptions:
        until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(each.until))
        if each.until > now:
            text = f"{each.machine} does without it until {until}: {each.reason}"
        else:
            text = f"the exception of {each.machine} ended {until}: publish it without"
        yield FleetProblem(level="note", about=bundle.label, text=text)


def _about_stage(bundle: PublishedBundle) -> Iterator[FleetProblem]:
    if bundle.gate is not None:
        about = f"{bundle.name} {bundle.revision}"
        yield from (
            FleetProblem(level="error", about=about, text=f"its stage: {why}") for why in bundle.gate.halts
        )


# -- machines


def _about_machine(
    status: MachineStatus, found: Mapping[str, Mapping[int, Bundle]], now: float
) -> Iterator[FleetProblem]:
    for level, text in (*_about_presence(status, now), *_about_parts(status, found, now)):
        yield FleetProblem(level=level, about=status.report.machine, text=text)


_Judged = Iterator[tuple[Level, str]]


def _about_presence(status: MachineStatus, now: float) -> _Judged:
    """Yield what is silent: the machine, or a part of it; without root's part nothing takes its bundles."""
    quiet = now - status.seen
    if quiet > SILENT:
        if not status.left:
            yield _silence(quiet), f"silent for {_length(quiet)}"
    else:
        for each in status.parts:
            if now - each.seen > SILENT and not each.left:
                level = "warning" if each.for_all else _silence(now - each.seen)
                yield level, f"{each.who}silent for {_length(now - each.seen)}"
    for each in status.parts:
        if each.worker is not None and each.worker.problem and not each.left:
            yield "error", f"{each.who}its worker says: {each.worker.problem}"


def _silence(seconds: float) -> Level:
    return "warning" if seconds > LONG_SILENT else "note"


def _about_parts(status: MachineStatus, found: Mapping[str, Mapping[int, Bundle]], now: float) -> _Judged:
    """Yield what each part reports; root's part and the users see one directory of bundles, which is said once.

    What a user has said of bundles is past when the worker is silent and root's part takes them.
    """
    rooted, shown = status.parts[0].for_all, set[str]()
    for part in status.parts:
        report = part.report
        if report is None:
            continue
        if part.for_all or not rooted or now - part.seen <= SILENT:
            for level, text in (*_about_state(report, now), *_behind(report, found, now)):
                if text not in shown:
                    yield level, f"{'' if part.for_all else part.who}{text}"
                shown.update((text,) if part.for_all else ())
        if not part.for_all:
            for level, text in (*_about_agents(report), *_about_switches(report), *_about_day(report)):
                yield level, f"{part.who}{text}"


def _about_state(machine: MachineReport, now: float) -> _Judged:
    for each in machine.bundles:
        if each.problem or each.expires <= now:
            why = each.problem or "it has expired"
            yield (
                "error",
                f"the bundle {each.name}{f' {each.revision}' if each.revision else ''} is closed: {why}",
            )
    for one in machine.refused:
        yield "error", f"refused {f'{one.name} {one.revision}' if one.name else 'a bundle'}: {one.why}"


def _about_agents(machine: MachineReport) -> _Judged:
    """Yield agents past which the bundles have no effect."""
    if not machine.bundles or machine.agents is None:
        return
    silent = [each for each in machine.agents if each not in machine.asking]
    if not machine.agents and not machine.last_day.agents:
        yield "note", "its bundles are active, and no agent was found there"
    elif not machine.asking and not machine.last_day.agents:
        yield "error", "its bundles are active, and no agent asks them: run hookline install there"
    elif silent:
        yield "warning", f"{', '.join(silent)} is there and does not ask Hookline: run hookline install there"


def _about_switches(machine: MachineReport) -> _Judged:
    """Yield agents in which no guard holds, in some projects."""
    for title, count in sorted(machine.switched_off.items()):
        where = f"{count:,} projects" if count > 1 else "a project"
        yield (
            "error",
            f"the settings of {where} there switch the hooks of {title} off: hookline doctor names them",
        )


def _behind(machine: MachineReport, found: Mapping[str, Mapping[int, Bundle]], now: float) -> _Judged:
    """Yield bundles that it should have taken by now."""
    for name, own in found.items():
        meant = [
            revision
            for revision, each in own.items()
            if each.is_for(machine.machine, machine.groups, now) and (each.removed or each.expires > now)
        ]
        newest = max(meant, default=0)
        if not newest or _has(machine, own[newest]) or machine.at <= own[newest].issued + _SETTLING:
            continue
        state = _state(machine, name)
        has = f"has {name} {state.revision if state else 'not at all'}"
        yield (
            "error",
            f"{has}, and {newest} is meant for it"
            if not own[newest].removed
            else f"{has}, and it was removed",
        )


def _about_day(machine: MachineReport) -> _Judged:
    day = machine.last_day
    counts = (
        (day.failed, f"{day.failed:,} of {day.runs:,} runs failed in the last day"),
        (day.open_passes, f"{day.open_passes:,} times a guard failed open in the last day"),
        (day.lost, f"{day.lost:,} records of its journal are damaged or missing"),
    )
    for count, text in counts:
        if count:
            yield "warning", text


def _missing(machines: Iterable[MachineStatus]) -> dict[str, int]:
    """Return the missing runs by machine, as they say themselves."""
    found = {
        each.report.machine: sum(part.worker.missing for part in each.parts if part.worker is not None)
        for each in machines
    }
    return {name: count for name, count in found.items() if count}


def _by_machine(gaps: Mapping[str, int]) -> dict[str, int]:
    """Add up the missing runs of the workers of each machine."""
    found: dict[str, int] = {}
    for worker, count in sorted(gaps.items()):
        machine = machine_and_user(worker)[0]
        found[machine] = found.get(machine, 0) + count
    return {name: count for name, count in found.items() if count}


def _about_gaps(
    machines: Iterable[MachineStatus], missing: Mapping[str, int], now: float
) -> Iterator[FleetProblem]:
    found = {
        each.report.machine: max(
            (part.worker.missed for part in each.parts if part.worker is not None), default=0.0
        )
        for each in machines
    }
    for machine, count in missing.items():
        at = found.get(machine, 0.0)
        level: Level = "note" if at and now - at > _MISSING else "warning"
        yield FleetProblem(level=level, about=machine, text=f"{count:,} runs are missing in the audit")


def _about_versions(machines: Iterable[MachineStatus]) -> Iterator[FleetProblem]:
    by_version: dict[str, list[str]] = {}
    for each in machines:
        for version in each.versions:
            by_version.setdefault(version, []).append(each.report.machine)
    newest = max(by_version, key=_version, default="")
    for version, names in sorted(by_version.items()):
        if version != newest:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            text = f"Hookline {version} on {', '.join(names[:_MOST_NAMED])}{more}, and others have {newest}"
            yield FleetProblem(level="warning", text=text)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


# -- guards


def _guards(machines: Sequence[MachineReport]) -> Iterator[FleetGuard]:
    by_guard: dict[tuple[str, int, str], list[GuardCounts]] = {}
    for machine in machines:
        for each in machine.last_day.guards:
            by_guard.setdefault((each.bundle, each.revision, each.hook), []).append(each)
    for same in by_guard.values():
        (counts,) = sum_of(same)
        yield FleetGuard(
            counts=counts,
            machines=len(same),
            would_block_on=sum(bool(each.would_block) for each in same),
            p95_ms=slowest(counts.durations),
        )


def _length(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
