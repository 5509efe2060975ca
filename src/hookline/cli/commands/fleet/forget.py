"""Drop what is known about machines that are gone for good: `hookline fleet forget`."""

import argparse

from hookline.cli.commands.fleet.report import ForgetDocument, as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import count_of
from hookline.model.safe_text import one_line
from hookline.team.fleet.settings import is_worker_name


async def run(args: argparse.Namespace) -> int:
    if not args.words or not all(map(is_worker_name, args.words)):
        raise RequestError("give the machines: hookline fleet forget laptop-7")
    async with transport_of(args) as transport:
        deleted = sum([await transport.forget_runs(each) for each in args.words]) if args.runs else 0
        forgotten = [each for each in args.words if await transport.forget(each)]
    unknown = [each for each in args.words if each not in forgotten]
    for each in unknown:
        note(one_line(f"hookline fleet forget: no machine {each} has reported", 300))
    if args.json:
        document = ForgetDocument(forgotten=tuple(forgotten), deleted=deleted)
        status = show(as_json(document), as_json=True)
    else:
        lines = [f"forgot {each}" for each in forgotten]
        lines += [f"deleted {count_of(deleted, 'message')} with runs from the audit"] if args.runs else []
        status = show("\n".join(lines)) if lines else ExitStatus.OK
    return ExitStatus.PROBLEM if unknown and not deleted else status
