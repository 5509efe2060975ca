"""Issue published bundles again: `hookline fleet renew`."""

import argparse

from hookline.cli.commands.fleet.report import ReissueDocument, as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.commands.fleet.signing import (
    agreed,
    exceptions_of,
    known_fleet,
    overruled,
    seconds_of,
    stages_of,
)
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import RequestError
from hookline.model.safe_text import printable
from hookline.team.fleet.bundles.keys import read_signing_key
from hookline.team.fleet.bundles.publish import verified
from hookline.team.fleet.bundles.reissue import newest, renewed
from hookline.team.fleet.bundles.transport import published
from hookline.team.fleet.rollout import judge_stage


async def run(args: argparse.Namespace) -> int:
    if args.key is None:
        raise RequestError("give the key: hookline fleet renew guards --key FILE")
    stage = stages_of(args.stage)[-1] if args.stage is not None else None
    key = read_signing_key(args.key)
    async with transport_of(args) as transport:
        own = verified(await published(transport), key)
        names = args.words or sorted({name for name, _ in own if not newest(own, name)[0].removed})
        if not names:
            raise RequestError(f"no bundle of the key {key.id} is published")
        known = await known_fleet(transport)
        given = (seconds_of(args.expires, "--expires"), stage, exceptions_of(args))
        planned = [renewed(own, name, *given) for name in names]
        objections = [
            *(one for each in planned for one in known.objections(each.bundle, key.id)),
            *(
                f"the stage of {each.before.label} halts: {why}"
                for each in planned
                if each.bundle.stage > each.before.stage
                for why in judge_stage(each.before, known.machines).halts
            ),
        ]
        if not overruled(args, objections):
            return ExitStatus.PROBLEM
        lines = [each.line for each in planned]
        if not args.yes and not agreed("renew", lines, as_json=args.json):
            return ExitStatus.PROBLEM
        for each in planned:
            await transport.put(each.bundle, key.sign(each.bundle), each.after)
    if args.json:
        return show(
            as_json(ReissueDocument(bundles=tuple(each.bundle.label for each in planned))), as_json=True
        )
    return show(printable("\n".join(f"published {line}" for line in lines)))
