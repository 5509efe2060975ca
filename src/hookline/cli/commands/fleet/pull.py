"""Take the bundles published for this machine, once: `hookline fleet pull`."""

import argparse
import os

from hookline.cli.commands.fleet.report import PullDocument, as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.output import ExitStatus, note, show
from hookline.model.safe_text import one_line
from hookline.team.fleet.access import FleetError
from hookline.team.fleet.bundles.activate import ActivationResult, UnwritableStoreError
from hookline.team.fleet.bundles.follow import activator, pull

_LONGEST = 500


async def run(args: argparse.Namespace) -> int:
    own = activator(os.environ)
    for each in own.settings.problems:
        note(one_line(str(each), _LONGEST))
    try:
        async with transport_of(args) as transport:
            results = await pull(own, transport, os.environ)
    except FleetError as problem:
        if not isinstance(problem, UnwritableStoreError):
            own.asked(str(problem), looked=False)
        note(one_line(f"hookline fleet pull: {problem}; the active bundles stay until they expire", _LONGEST))
        return ExitStatus.PROBLEM
    refused = any(each.what == "refused" for each in results)
    status = _shown(results, own.settings.machine, json=args.json)
    return ExitStatus.PROBLEM if refused or own.settings.problems else status


def _shown(results: list[ActivationResult], machine: str, *, json: bool) -> ExitStatus:
    if json:
        return show(as_json(PullDocument(machine=machine, bundles=tuple(results))), as_json=True)
    if not results:
        return show(f"nothing new is published for {machine}")
    return show("\n".join(one_line(each.line, _LONGEST) for each in results))
