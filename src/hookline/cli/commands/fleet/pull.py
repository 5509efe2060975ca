"""`hookline fleet pull`: take what is published for this machine, once."""

import argparse
import os

from hookline.cli.commands.fleet.reach import transport_of
from hookline.cli.commands.fleet.report import PullDocument, as_json
from hookline.cli.output import ExitStatus, note, show
from hookline.fleet.access import FleetError
from hookline.fleet.bundles.activate import Result
from hookline.fleet.bundles.follow import activator, pull
from hookline.model.safe_text import one_line

_LONGEST = 500


async def run(args: argparse.Namespace) -> int:
    own = activator(os.environ)
    for each in own.settings.problems:
        note(one_line(str(each), _LONGEST))
    try:
        async with transport_of(args) as transport:
            results = await pull(own, transport, os.environ)
    except FleetError as problem:
        own.asked(str(problem))
        note(one_line(f"hookline fleet pull: {problem}; what is in force stays, until it expires", _LONGEST))
        return ExitStatus.PROBLEM
    refused = any(each.what == "refused" for each in results)
    status = _shown(results, own.settings.machine, json=args.json)
    return ExitStatus.PROBLEM if refused or own.settings.problems else status


def _shown(results: list[Result], machine: str, *, json: bool) -> ExitStatus:
    if json:
        return show(as_json(PullDocument(machine=machine, bundles=tuple(results))), as_json=True)
    if not results:
        return show(f"nothing new is published for {machine}")
    return show("\n".join(one_line(each.line, _LONGEST) for each in results))
