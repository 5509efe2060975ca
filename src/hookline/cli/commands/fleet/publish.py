"""Publish hooks: check them, show the changes, ask, sign, roll out: `hookline fleet publish`."""

import argparse
import asyncio
import os
import re

from hookline.cli.commands.fleet.report import PublishDocument, as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.commands.fleet.signing import (
    agreed,
    known_fleet,
    overruled,
    scope_of,
    seconds_of,
    stages_of,
)
from hookline.cli.engines import inspection_engine, report_diagnostics
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.config.bundles.format import NAME_PATTERN, WHOLE
from hookline.config.load import Loader
from hookline.model.safe_text import one_line, printable
from hookline.team.fleet.bundles.keys import SigningKey, read_signing_key
from hookline.team.fleet.bundles.publish import (
    BundleSource,
    KnownFleet,
    PublishOptions,
    PublishPlan,
    check,
    plan,
    read_source,
    require,
    verified,
)
from hookline.team.fleet.bundles.reissue import superseded
from hookline.team.fleet.bundles.transport import Transport, published
from hookline.team.fleet.rollout import LEAST_RUNS, judge_stage


async def run(args: argparse.Namespace) -> int:
    if len(args.words) != 1 or args.key is None:
        raise RequestError("give the hooks and the key: hookline fleet publish guards/ --key FILE")
    stages = stages_of(args.stage)
    pause = seconds_of(args.wait, "--wait")
    wanted = _wanted(args, stages[0])
    key = read_signing_key(args.key)
    source = read_source(args.words[0])
    loader = inspection_engine().loader
    _loaded, said = check(source, loader, os.environ)
    report_diagnostics([one for one in said if one.severity == "warning"])
    require(said)
    async with transport_of(args) as transport:
        status = await _publish(args, transport, source, wanted, key, loader)
    for stage in stages[1:]:
        if status != ExitStatus.OK:
            return status
        note(f"waiting {args.wait} before the stage of {stage * 100 / WHOLE:g} % ...")
        await asyncio.sleep(pause)
        args.yes = True  # the first question named all stages
        # A connection of its own: the wait may be long.
        async with transport_of(args) as transport:
            status = await _publish(args, transport, source, _wanted(args, stage), key, loader)
    return status


async def _publish(
    args: argparse.Namespace, transport: Transport, source: BundleSource, wanted: PublishOptions, key: SigningKey,
    loader: Loader,
) -> int:  # fmt: skip
    """Publish one stage. A gate that is closed, or another objection, halts it."""
    offers = await published(transport)
    known = await known_fleet(transport)
    own = verified(offers, key)
    planned = plan(
        source, wanted, own, loader, [each.key for each in offers], highest=known.highest(wanted.name)
    )
    meant = known.meant(planned.bundle)
    objections = [*known.objections(planned.bundle, key.id), *_gate(planned, known)]
    if not overruled(args, objections):
        return ExitStatus.PROBLEM
    lines = [*planned.lines(), _reach(meant, planned)]
    if not args.yes and not agreed("publish", lines, as_json=args.json):
        return ExitStatus.PROBLEM
    raw = key.sign(planned.bundle)
    await transport.put(planned.bundle, raw, planned.after)
    pruned = list(superseded({**own, (wanted.name, planned.bundle.revision): (planned.bundle, 0)}))
    for each in pruned:
        await transport.remove(each)
    if args.json:
        return show(as_json(_document(planned, source, key.id, len(raw), meant)), as_json=True)
    more = [f"published {planned.bundle.label}"]
    more += [f"took {', '.join(pruned)} off: no machine can need it"] if pruned else []
    return show(printable("\n".join([*(lines if args.yes else ()), *more])))


def _gate(planned: PublishPlan, known: KnownFleet) -> list[str]:
    """Return why a stage must not be widened."""
    before, bundle = planned.before, planned.bundle
    if before is None or not planned.again or bundle.stage <= before.stage or not known.machines:
        return []
    gate = judge_stage(before, known.machines)
    note(one_line(gate.line, 500))
    if not gate.is_known:
        note(f"these are too few runs to judge the stage by: at least {LEAST_RUNS}")
    return [f"the stage of {before.label} halts: {why}" for why in gate.halts]


def _reach(meant: list[str] | None, planned: PublishPlan) -> str:
    if meant is None:
        return "no machine has reported yet"
    if not meant:
        return "none of the machines that have reported is in this stage"
    more = f" and {len(meant) - 5} more" if len(meant) > 5 else ""
    return f"reaches {', '.join(meant[:5])}{more}" + (
        "" if planned.bundle.stage == WHOLE else ", in this stage"
    )


def _document(
    planned: PublishPlan, source: BundleSource, key: str, size: int, meant: list[str] | None
) -> PublishDocument:
    bundle = planned.bundle
    return PublishDocument(
        name=bundle.name,
        revision=bundle.revision,
        again=planned.again,
        issued=bundle.issued,
        expires=bundle.expires,
        stage=bundle.stage / 100,
        scope=bundle.scope,
        digest=bundle.digest,
        key=key,
        bytes=size,
        files=tuple(each.path for each in source.files),
        added=planned.added,
        removed=planned.removed,
        machines=None if meant is None else tuple(meant),
    )


def _wanted(args: argparse.Namespace, stage: int) -> PublishOptions:
    if not re.match(NAME_PATTERN, args.name):
        raise RequestError(f"--name {args.name[:80]!r}: small letters, digits, - and _, at most 64 of them")
    if args.revision is not None and args.revision < 1:
        raise RequestError("--revision: revisions begin with 1")
    return PublishOptions(
        args.name, scope_of(args), stage, seconds_of(args.expires, "--expires"), args.revision
    )
