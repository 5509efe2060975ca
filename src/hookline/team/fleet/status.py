"""Judge the state of a fleet: its machines, the published bundles, and everything that is wrong."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct

from hookline.config.bundles.format import WHOLE, Bundle, BundleError, read_body, split, verify
from hookline.team.fleet.bundles.report import BundleState, MachineReport
from hookline.team.fleet.bundles.transport import Offered, Transport, WorkerSeen
from hookline.team.fleet.counts import GuardCounts, slowest, sum_of
from hookline.team.fleet.machine import Presence
from hookline.team.fleet.rollout import Gate, judge_stage

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


class MachineStatus(Struct, frozen=True, kw_only=True):
    #: Empty but for its name if it has not reported: it takes no bundles.
    report: MachineReport
    #: The last status of its worker; None if it has none.
    worker: Presence | None = None
    #: When it was last heard of, in seconds since the epoch.
    seen: float = 0.0

    @property
    def version(self) -> str:
        """The version of Hookline there; empty if it did not say so."""
        return (
            self.worker.hookline if self.worker is not None and self.worker.hookline else self.report.hookline
        )

    @property
    def left(self) -> bool:
        """True if its worker has ended, and said so."""
        return self.worker is not None and not self.worker.file


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
    reports, workers = await transport.machines()
    gaps = await transport.gaps() if audit else None
    return fleet_status(offers, reports, keys, workers, gaps)


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
) -> FleetStatus:
    """Judge the state of the fleet.

    `keys`: trusted keys; None: this machine has none, and signatures are not checked. `gaps`: missing runs as
    somebody counted them in the audit; None: as the machines say.
    """
    now = time.time() if now is None else now
    found, refused = _published(offers, keys)
    read = [_read(machine, raw) for machine, raw in sorted(reports.items())]
    machines, gone = _machines([each for each in read if isinstance(each, MachineReport)], workers or {}, now)
    known = [each.report for each in machines]
    bundles = tuple(_summary(name, own, known, now) for name, own in sorted(found.items()))
    missing = (
        _missing(machines) if gaps is None else {name: count for name, count in sorted(gaps.items()) if count}
    )
    problems = [
        *refused,
        *(one for name, own in sorted(found.items()) for one in _about_bundle(name, own, now)),
        *(one for each in bundles for one in _about_stage(each)),
        *(each for each in read if isinstance(each, FleetProblem)),
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
    reports: Sequence[MachineReport], workers: Mapping[str, WorkerSeen], now: float
) -> tuple[tuple[MachineStatus, ...], tuple[str, ...]]:
    """Return every machine that has reported or has a worker, and the names of those that are long gone."""
    by_name = {each.machine: each for each in reports}
    found = [_machine(name, by_name.get(name), workers.get(name)) for name in sorted({*by_name, *workers})]
    gone = tuple(each.report.machine for each in found if now - each.seen > GONE)
    return tuple(each for each in found if each.report.machine not in gone), gone


def _machine(name: str, report: MachineReport | None, worker: WorkerSeen | None) -> MachineStatus:
    return MachineStatus(
        report=report or MachineReport(machine=name),
        worker=worker.presence if worker is not None else None,
        seen=max(report.at if report is not None else 0.0, worker.at if worker is not None else 0.0),
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


def _read(machine: str, raw: bytes) -> MachineReport | FleetProblem:
    try:
        return msgspec.json.decode(raw, type=MachineReport)
    except (msgspec.DecodeError, UnicodeDecodeError):
        text = "its report cannot be read; it may be of another version"
        return FleetProblem(level="warning", about=machine[:80], text=text)


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
    for level, text in (
        *_about_presence(status, now),
        *_about_state(status.report, now),
        *_about_agents(status.report),
        *_behind(status.report, found, now),
        *_about_day(status.report),
    ):
        yield FleetProblem(level=level, about=status.report.machine, text=text)


_Judged = Iterator[tuple[Level, str]]


def _about_presence(status: MachineStatus, now: float) -> _Judged:
    quiet = now - status.seen
    if quiet > SILENT and not status.left:
        yield "warning" if quiet > LONG_SILENT else "note", f"silent for {_length(quiet)}"
    if status.worker is not None and status.worker.problem and not status.left:
        yield "error", f"its worker says: {status.worker.problem}"


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
    return {
        each.report.machine: each.worker.missing
        for each in machines
        if each.worker is not None and each.worker.missing
    }


def _about_gaps(
    machines: Iterable[MachineStatus], missing: Mapping[str, int], now: float
) -> Iterator[FleetProblem]:
    found = {each.report.machine: each.worker.missed for each in machines if each.worker is not None}
    for machine, count in missing.items():
        at = found.get(machine, 0.0)
        level: Level = "note" if at and now - at > _MISSING else "warning"
        yield FleetProblem(level=level, about=machine, text=f"{count:,} runs are missing in the audit")


def _about_versions(machines: Iterable[MachineStatus]) -> Iterator[FleetProblem]:
    by_version: dict[str, list[str]] = {}
    for each in machines:
        if each.version:
            by_version.setdefault(each.version, []).append(each.report.machine)
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
