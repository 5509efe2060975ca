"""Show every machine, its bundles, and problems: `hookline fleet status`."""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from hookline.cli.commands.fleet.report import as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import RequestError
from hookline.cli.text import count_of, paragraph, table, terminal_width
from hookline.config.bundles.settings import bundle_settings
from hookline.matching.nearest import nearest
from hookline.model.safe_text import one_line
from hookline.team.fleet.status import (
    LEVELS,
    FleetStatus,
    MachinePart,
    MachineStatus,
    PublishedBundle,
    read_status,
)

#: Machines write the reports, so their texts are shown with care.
_LONGEST, _LONGEST_CELL = 500, 80
_MARKS = {"error": "!", "warning": "~", "note": "·"}


async def run(args: argparse.Namespace) -> int:
    if len(args.words) > 1:
        raise RequestError("status takes at most one machine")
    settings = bundle_settings(os.environ)
    async with transport_of(args) as transport:
        keys = settings.keys if settings is not None else None
        found = await read_status(transport, keys, audit=args.audit)
    if args.words:
        found = _only(found, args.words[0])
    lines = _machine_lines if args.words else _lines
    text = as_json(found) if args.json else "\n".join(lines(found, terminal_width()))
    shown = show(text, as_json=args.json)
    return ExitStatus.PROBLEM if found.count("error") else shown


def _only(found: FleetStatus, machine: str) -> FleetStatus:
    machines = tuple(each for each in found.machines if each.report.machine == machine)
    if not machines:
        names = [each.report.machine for each in found.machines]
        near = nearest(machine[:100], names)
        raise RequestError(
            f"no machine {machine[:100]!r} has reported" + (f"; did you mean {near!r}?" if near else "")
        )
    problems = tuple(each for each in found.problems if each.about == machine)
    gaps = {name: count for name, count in found.gaps.items() if name == machine}
    return replace(found, machines=machines, problems=problems, gaps=gaps, gone=())


def _lines(found: FleetStatus, width: int) -> Iterator[str]:
    if found.bundles:
        yield _table(
            [("bundle", "stage", "active", "expires", "for"), *map(_bundle_row(found.at), found.bundles)],
            width,
        )
    else:
        yield "no bundle is published"
    yield ""
    if found.machines:
        head = ("machine", "seen", "version", "bundles", "runs", "failed", "failed open", "gaps", "groups")
        yield _table([head, *(_row(each, found.gaps, found.at) for each in found.machines)], width)
    else:
        yield "no machine has reported: `hookline fleet worker` or `hookline fleet pull` does"
    yield ""
    yield from (paragraph(line, width) for line in _rollout(found))
    yield from _problems(found, width)
    if found.gone:
        names = one_line(", ".join(found.gone), _LONGEST)
        yield paragraph(f"silent for more than 30 days, and left out: {names}", width)
        yield "hookline fleet forget MACHINE drops one for good"
    counts = [count_of(found.count(level), level) for level in LEVELS if found.count(level)]
    yield f"{count_of(len(found.machines), 'machine')}: {', '.join(counts) or 'nothing is wrong'}"


def _rollout(found: FleetStatus) -> Iterator[str]:
    """Yield what guards in shadow would have done, and how each stage compares with the rest."""
    for each in found.guards:
        if each.counts.would_block:
            of = f" ({each.counts.bundle} {each.counts.revision})" if each.counts.bundle else ""
            calls = count_of(each.counts.would_block, "call")
            machines = count_of(each.would_block_on, "machine")
            yield one_line(
                f"{each.counts.hook}{of} would have blocked {calls} on {machines} in the last day", _LONGEST
            )
    for each in found.bundles:
        if each.gate is not None:
            yield one_line(f"{each.name} {each.revision}, {each.gate.line}", _LONGEST)


def _problems(found: FleetStatus, width: int) -> Iterator[str]:
    for each in found.problems:
        yield paragraph(f"{_MARKS[each.level]} {one_line(str(each), _LONGEST)}", width)


def _machine_lines(found: FleetStatus, width: int) -> Iterator[str]:
    """Yield everything that is known about one machine."""
    (machine,) = found.machines
    report = machine.report
    day = report.last_day
    facts = [
        ("seen", _seen(machine, found.at)), ("version", ", ".join(machine.versions)),
        ("groups", ", ".join(report.groups)), ("keys", ", ".join(report.keys)),
        ("agents", ", ".join(report.agents or ())), ("that ask Hookline", ", ".join(report.asking)),
        ("runs, last day", f"{day.runs:,}, {day.failed:,} failed, {day.open_passes:,} failed open"),
    ]  # fmt: skip
    facts += [
        (f"bundle {each.name}", f"{each.revision}, expires {_until(each.expires, found.at)}")
        for each in report.bundles
    ]
    facts += [fact for part in machine.parts for fact in _part_facts(part, found.at)]
    yield from (f"{name:18} {one_line(value, _LONGEST)}" for name, value in facts if value)
    for each in day.guards:
        counts = f"{each.runs:,} runs, {each.denied:,} denied, {each.failed:,} failed"
        shadow = f", {each.would_block:,} would have been blocked" if each.would_block else ""
        yield f"{one_line(f'guard {each.hook}', 40):18} {counts}{shadow}"
    yield from _problems(found, width)


def _part_facts(part: MachinePart, now: float) -> Iterator[tuple[str, str]]:
    """Yield what is known about root's part of a machine, or about the worker of one of its users."""
    worker = part.worker
    if part.for_all:
        yield "bundles for all", f"taken by root's part, seen {_length(now - part.seen)} ago"
    if worker is None:
        return
    yield "user", f"{worker.user}{', who has left' if part.left else ''}"
    yield "jobs", f"{worker.waiting:,} wait, {worker.running:,} of others run here"
    yield "not sent", f"{worker.unsent:,} bytes of runs, {worker.wakes:,} wakes"
    yield "problem now", worker.problem or "none"
    if worker.last_problem:
        ago = _length(now - worker.last_problem_at)
        yield "last problem", f"{ago} ago: {worker.last_problem} ({worker.problems:,} since it started)"


def _bundle_row(now: float) -> Callable[[PublishedBundle], tuple[str, ...]]:
    def row(each: PublishedBundle) -> tuple[str, ...]:
        return (
            f"{each.name} {each.revision}",
            f"{each.stage:g} %",
            f"{each.machines} of {count_of(each.meant, 'machine')}",
            "removed" if each.removed else _until(each.expires, now),
            each.scope,
        )

    return row


def _table(rows: Sequence[Sequence[str]], width: int) -> str:
    return table([[one_line(cell, _LONGEST_CELL) for cell in row] for row in rows], width)


def _row(machine: MachineStatus, gaps: Mapping[str, int], now: float) -> tuple[str, ...]:
    report = machine.report
    day = report.last_day
    return (
        report.machine,
        _seen(machine, now),
        ", ".join(machine.versions),
        ", ".join(f"{each.name} {each.revision or '?'}" for each in report.bundles) or "none",
        f"{day.runs:,}",
        f"{day.failed:,}",
        f"{day.open_passes:,}",
        f"{gaps.get(report.machine, 0):,}",
        ", ".join(report.groups),
    )


def _seen(machine: MachineStatus, now: float) -> str:
    return "left" if machine.left else f"{_length(now - machine.seen)} ago"


def _until(expires: float, now: float) -> str:
    return f"in {_length(expires - now)}" if expires > now else "expired"


def _length(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
