"""Take superseded revisions off the server: `hookline fleet prune`."""

import argparse

from hookline.cli.commands.fleet.report import PruneDocument, as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.output import show
from hookline.cli.requests import RequestError
from hookline.team.fleet.bundles.keys import read_signing_key
from hookline.team.fleet.bundles.publish import verified
from hookline.team.fleet.bundles.reissue import superseded
from hookline.team.fleet.bundles.transport import published


async def run(args: argparse.Namespace) -> int:
    if args.key is None:
        raise RequestError("give the key whose bundles to prune: hookline fleet prune --key FILE")
    key = read_signing_key(args.key)
    async with transport_of(args) as transport:
        pruned = tuple(superseded(verified(await published(transport), key)))
        for each in pruned:
            await transport.remove(each)
    if args.json:
        return show(as_json(PruneDocument(removed=pruned)), as_json=True)
    return show(f"took off {', '.join(pruned)}" if pruned else "every published revision may be needed")
