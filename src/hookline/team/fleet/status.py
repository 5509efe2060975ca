"""Judge the state of a fleet: its machines, the published bundles, and everything that is wrong."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.config.bundles.format import Bundle, BundleError, read_body, split, verify
from hookline.team.fleet.bundles.report import BundleState, MachineReport
from hookline.team.fleet.bundles.transport import Offered, Transport, WorkerSeen
from hookline.team.fleet.machine import Presence

#: Seconds after which a machine counts as silent, and after which it is left out.
SILENT = 3_600.0
GONE = 30 * 86_400.0
#: Seconds in which a machine should have taken a bundle.
_SETTLING = 300.0


class PublishedBundle(Struct, frozen=True, kw_only=True):
    """Newest revision of a name, or why it is invalid."""

    name: str
    revision: int = 0
    issued: int = 0
    expires: int = 0
    stage: float = 100.0
    scope: str = ""
    #: Machines that report it active, of those it is meant for in this stage.
    machines: int = 0
    meant: int = 0
    problem: str = ""


class MachineStatus(Struct, frozen=True, kw_only=True):
    #: Empty but for its name if it has not reported: it takes no bundles.
    report: MachineReport
    #: The last status of its worker; None if it has none.
    worker: Presence | None = None
    #: When it was last heard of, in seconds since the epoch.
    seen: float = 0.0
    problems: tuple[str, ...] = ()


class FleetStatus(Struct, frozen=True, kw_only=True):
    at: float
    bundles: tuple[PublishedBundle, ...] = ()
    machines: tuple[MachineStatus, ...] = ()
    #: Runs that are missing in the audit, by machine.
    gaps: Mapping[str, int] = {}
    #: Machines that have been silent for so long that they are left out.
    gone: tuple[str, ...] = ()
    #: Problems, one line each.
    problems: tuple[str, ...] = ()


async def read_status(transport: Transport, keys: Mapping[str, bytes] | None) -> FleetStatus:
    """Read the state of the fleet. Raises FleetError."""
    return fleet_status(
        await transport.bundles(),
        await transport.reports(),
        keys,
        await transport.workers(),
        await transport.gaps(),
    )


def fleet_status(
    offers: Sequence[Offered],
    reports: Mapping[str, bytes],
    keys: Mapping[str, bytes] | None,
    workers: Mapping[str, WorkerSeen] | None = None,
    gaps: Mapping[str, int] | None = None,
    now: float | None = None,
) -> FleetStatus:
    """Judge the state of the fleet.

    `keys`: trusted keys; None: this machine has none, and signatures are not checked.
    """
    now = time.time() if now is None else now
    found, refused = _published(offers, keys)
    read = [_read(machine, raw) for machine, raw in sorted(reports.items())]
    machines, gone = _machines([each for each in read if isinstance(each, MachineReport)], workers or {}, now)
    known = [each.report for each in machines]
    published = tuple(_summary(name, own, known, now) for name, own in sorted(found.items()))
    machines = tuple(replace(each, problems=tuple(_about(each, found, now))) for each in machines)
    lost = {machine: count for machine, count in sorted((gaps or {}).items()) if count}
    problems = [
        *refused,
        *(f"{each.name} {each.revision}: {each.problem}" for each in published if each.problem),
        *(each for each in read if isinstance(each, str)),
        *(f"{each.report.machine}: {one}" for each in machines for one in each.problems),
        *(f"{machine}: {count:,} runs are missing in the audit" for machine, count in lost.items()),
    ]
    return FleetStatus(
        at=now, bundles=published, machines=machines, gaps=lost, gone=gone, problems=tuple(problems)
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
) -> tuple[dict[str, dict[int, Bundle]], list[str]]:
    """Return valid bundles by name and revision, and a line for each invalid one."""
    found: dict[str, dict[int, Bundle]] = {}
    refused: list[str] = []
    for each in offers:
        try:
            envelope = split(each.raw)
            if keys is not None:
                verify(envelope, keys, "the settings of this machine")
            bundle = read_body(envelope.body)
        except BundleError as problem:
            refused.append(f"published as {each.key[:80]}, and every machine refuses it: {problem}")
            continue
        found.setdefault(bundle.name, {})[bundle.revision] = bundle
    return found, refused


def _read(machine: str, raw: bytes) -> MachineReport | str:
    try:
        return msgspec.json.decode(raw, type=MachineReport)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return f"{machine[:80]}: its report cannot be read; it may be of another version"


def _summary(
    name: str, own: Mapping[int, Bundle], machines: Sequence[MachineReport], now: float
) -> PublishedBundle:
    bundle = own[max(own)]
    meant = [each for each in machines if _is_meant(bundle, each)]
    have = [each for each in meant if (state := _state(each, name)) and state.revision >= bundle.revision]
    return PublishedBundle(
        name=name,
        revision=bundle.revision,
        issued=bundle.issued,
        expires=bundle.expires,
        stage=bundle.stage / 100,
        scope=str(bundle.scope),
        machines=len(have),
        meant=len(meant),
        problem="it has expired: publish it again" if bundle.expires <= now else "",
    )


def _is_meant(bundle: Bundle, machine: MachineReport) -> bool:
    return bundle.scope.includes(machine.machine, machine.groups) and bundle.in_stage(machine.machine)


def _state(machine: MachineReport, name: str) -> BundleState | None:
    return next((each for each in machine.bundles if each.name == name), None)


def _about(status: MachineStatus, found: Mapping[str, Mapping[int, Bundle]], now: float) -> Iterator[str]:
    """Yield the problems of a machine."""
    machine, worker = status.report, status.worker
    left = worker is not None and not worker.file
    if now - status.seen > SILENT and not left:
        yield f"silent for {_length(now - status.seen)}"
    if worker is not None and worker.problem:
        yield f"its worker says: {worker.problem}"
    for each in machine.bundles:
        if each.problem or each.expires <= now:
            why = each.problem or "it has expired"
            yield f"the bundle {each.name}{f' {each.revision}' if each.revision else ''} is closed: {why}"
    for one in machine.refused:
        yield f"refused {f'{one.name} {one.revision}' if one.name else 'a bundle'}: {one.why}"
    yield from _behind(machine, found, now)
    day = machine.last_day
    counts = (
        (day.failed, f"{day.failed:,} of {day.runs:,} runs failed in the last day"),
        (day.open_passes, f"{day.open_passes:,} times a guard failed open in the last day"),
        (day.lost, f"{day.lost:,} records of its journal are damaged or missing"),
    )
    yield from (text for count, text in counts if count)


def _behind(machine: MachineReport, found: Mapping[str, Mapping[int, Bundle]], now: float) -> Iterator[str]:
    """Yield bundles that it should have taken by now."""
    for name, own in found.items():
        meant = [
            revision for revision, each in own.items() if _is_meant(each, machine) and each.expires > now
        ]
        newest = max(meant, default=0)
        state = _state(machine, name)
        behind = newest and (state is None or state.revision < newest)
        if behind and machine.at > own[newest].issued + _SETTLING:
            yield f"has {name} {state.revision if state else 'not at all'}, and {newest} is meant for it"


def _length(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
