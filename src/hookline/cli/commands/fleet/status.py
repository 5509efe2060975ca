"""Show every machine, its bundles, and problems: `hookline fleet status`."""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence

from hookline.cli.commands.fleet.report import as_json
from hookline.cli.commands.fleet.transport import transport_of
from hookline.cli.output import ExitStatus, show
from hookline.cli.text import count_of, paragraph, table, terminal_width
from hookline.config.bundles.settings import bundle_settings
from hookline.model.safe_text import one_line
from hookline.team.fleet.status import FleetStatus, MachineStatus, read_status

#: Machines write the reports, so their texts are shown with care.
_LONGEST, _LONGEST_CELL = 500, 80


async def run(args: argparse.Namespace) -> int:
    settings = bundle_settings(os.environ)
    async with transport_of(args) as transport:
        found = await read_status(transport, settings.keys if settings is not None else None)
    text = as_json(found) if args.json else "\n".join(_lines(found, terminal_width()))
    shown = show(text, as_json=args.json)
    return ExitStatus.PROBLEM if found.problems else shown


def _lines(found: FleetStatus, width: int) -> Iterator[str]:
    if found.bundles:
        rows = [("bundle", "stage", "active", "expires", "for")]
        rows += [
            (
                f"{each.name} {each.revision}",
                f"{each.stage:g} %",
                f"{each.machines} of {count_of(each.meant, 'machine')}",
                _until(each.expires, found.at),
                each.scope,
            )
            for each in found.bundles
        ]
        yield _table(rows, width)
    else:
        yield "no bundle is published"
    yield ""
    if found.machines:
        head = ("machine", "seen", "bundles", "runs", "failed", "failed open", "gaps", "groups")
        yield _table([head, *(_row(each, found.gaps, found.at) for each in found.machines)], width)
    else:
        yield "no machine has reported: `hookline fleet worker` or `hookline fleet pull` does"
    yield ""
    yield from (paragraph(f"! {one_line(each, _LONGEST)}", width) for each in found.problems)
    if found.gone:
        names = one_line(", ".join(found.gone), _LONGEST)
        yield paragraph(f"silent for more than 30 days, and left out: {names}", width)
    wrong = count_of(len(found.problems), "problem") if found.problems else "nothing is wrong"
    yield f"{count_of(len(found.machines), 'machine')}: {wrong}"


def _table(rows: Sequence[Sequence[str]], width: int) -> str:
    return table([[one_line(cell, _LONGEST_CELL) for cell in row] for row in rows], width)


def _row(machine: MachineStatus, gaps: Mapping[str, int], now: float) -> tuple[str, ...]:
    report = machine.report
    day = report.last_day
    return (
        report.machine,
        "left"
        if machine.worker is not None and not machine.worker.file
        else f"{_length(now - machine.seen)} ago",
        ", ".join(f"{each.name} {each.revision or '?'}" for each in report.bundles) or "none",
        f"{day.runs:,}",
        f"{day.failed:,}",
        f"{day.open_passes:,}",
        f"{gaps.get(report.machine, 0):,}",
        ", ".join(report.groups),
    )


def _until(expires: float, now: float) -> str:
    return f"in {_length(expires - now)}" if expires > now else "expired"


def _length(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
