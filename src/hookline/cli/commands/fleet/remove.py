"""Make machines do without a bundle: `hookline fleet remove`."""

import argparse

from hookline.cli.commands.fleet.report import ReissueDocument, as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.commands.fleet.signing import agreed, known_fleet, overruled
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import RequestError
from hookline.model.safe_text import printable
from hookline.team.fleet.bundles.keys import read_signing_key
from hookline.team.fleet.bundles.publish import verified
from hookline.team.fleet.bundles.reissue import removed, superseded
from hookline.team.fleet.bundles.transport import published


async def run(args: argparse.Namespace) -> int:
    if len(args.words) != 1 or args.key is None:
        raise RequestError("give the bundle and the key: hookline fleet remove guards --key FILE")
    key, name = read_signing_key(args.key), args.words[0]
    async with transport_of(args) as transport:
        own = verified(await published(transport), key)
        known = await known_fleet(transport)
        planned = removed(own, name, known.highest(name))
        if not overruled(args, list(known.objections(planned.bundle, key.id))):
            return ExitStatus.PROBLEM
        lines = [planned.line, "its guards are gone on every machine that takes this revision"]
        if not args.yes and not agreed("remove", lines, as_json=args.json):
            return ExitStatus.PROBLEM
        await transport.put(planned.bundle, key.sign(planned.bundle), 0)
        for each in superseded({**own, (name, planned.bundle.revision): (planned.bundle, 0)}):
            await transport.remove(each)
    if args.json:
        return show(as_json(ReissueDocument(bundles=(planned.bundle.label,))), as_json=True)
    return show(printable(f"published {planned.line}"))
