"""Publish hooks: check them, show the changes, ask, sign, roll out: `hookline fleet publish`."""

import argparse
import os
import re
import sys

from hookline.cli.commands.fleet.report import PublishDocument, as_json
from hookline.cli.commands.fleet.transport import transport_of
from hookline.cli.engines import inspection_engine, report_diagnostics
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.config.bundles.format import NAME_PATTERN, WHOLE, BundleScope
from hookline.model.safe_text import printable
from hookline.team.fleet.access import FleetError
from hookline.team.fleet.bundles.keys import read_signing_key
from hookline.team.fleet.bundles.publish import (
    BundleSource,
    PublishOptions,
    PublishPlan,
    check,
    plan,
    read_source,
    require,
    verified,
)
from hookline.team.fleet.bundles.transport import Transport
from hookline.team.fleet.status import MachineStatus, fleet_status

_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SCOPES = {"machine": "machines", "group": "groups", "project": "projects"}


async def run(args: argparse.Namespace) -> int:
    if len(args.words) != 1 or args.key is None:
        raise RequestError("give the hooks and the key: hookline fleet publish guards/ --key FILE")
    wanted = _wanted(args)
    key = read_signing_key(args.key)
    source = read_source(args.words[0])
    loader = inspection_engine().loader
    _loaded, said = check(source, loader, os.environ)
    report_diagnostics([one for one in said if one.severity == "warning"])
    require(said)
    async with transport_of(args) as transport:
        offers = await transport.bundles()
        planned = plan(source, wanted, verified(offers, key), loader, [each.key for each in offers])
        meant = await _meant(transport, planned)
        lines = [*planned.lines(), _reach(meant, planned)]
        if not args.yes and not _agreed(lines, as_json=args.json):
            return ExitStatus.PROBLEM
        raw = key.sign(planned.bundle)
        await transport.put(planned.bundle, raw, planned.after)
    if args.json:
        return show(as_json(_document(planned, source, key.id, len(raw), meant)), as_json=True)
    return show(printable("\n".join([*(lines if args.yes else ()), f"published {planned.bundle.label}"])))


async def _meant(transport: Transport, planned: PublishPlan) -> list[str] | None:
    """Return the machines known so far that this stage reaches; None if none has reported yet."""
    try:
        reports = await transport.reports()
    except FleetError:
        return None
    machines: tuple[MachineStatus, ...] = fleet_status((), reports, {}).machines
    bundle = planned.bundle
    found = [each.report for each in machines]
    if not found:
        return None
    return [
        each.machine
        for each in found
        if bundle.scope.includes(each.machine, each.groups) and bundle.in_stage(each.machine)
    ]


def _reach(meant: list[str] | None, planned: PublishPlan) -> str:
    if meant is None:
        return "no machine has reported yet"
    if not meant:
        return "none of the machines that have reported is in this stage"
    more = f" and {len(meant) - 5} more" if len(meant) > 5 else ""
    return f"reaches {', '.join(meant[:5])}{more}" + (
        "" if planned.bundle.stage == WHOLE else ", in this stage"
    )


def _agreed(lines: list[str], *, as_json: bool) -> bool:
    text = printable("\n".join(lines))
    if as_json or not sys.stdin.isatty():
        note(text)
        note("hookline fleet publish: nothing was published; say --yes to publish without a question")
        return False
    show(text)
    sys.stdout.write("Sign and publish it? [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    show("nothing was published")
    return False


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


def _wanted(args: argparse.Namespace) -> PublishOptions:
    if not re.match(NAME_PATTERN, args.name):
        raise RequestError(f"--name {args.name[:80]!r}: small letters, digits, - and _, at most 64 of them")
    if args.revision is not None and args.revision < 1:
        raise RequestError("--revision: revisions begin with 1")
    return PublishOptions(
        args.name, _scope(args.scope), _stage(args.stage), _seconds(args.expires), args.revision
    )


def _scope(texts: list[str]) -> BundleScope:
    found: dict[str, list[str]] = {}
    for text in texts:
        what, _, pattern = text.partition("=")
        if what not in _SCOPES or not pattern:
            raise RequestError(
                f"--scope {text[:80]!r} is none of machine=NAME, group=NAME, project=DIRECTORY"
            )
        found.setdefault(_SCOPES[what], []).append(pattern)
    return BundleScope(**{name: tuple(each) for name, each in found.items()})


def _stage(text: str) -> int:
    number = re.fullmatch(r"(\d{1,3}(?:\.\d{1,2})?)\s*%?", text.strip())
    if number is None or not 0 <= float(number[1]) <= 100:
        raise RequestError(f"--stage {text[:40]!r} is no share: say 10%")
    return round(float(number[1]) * WHOLE / 100)


def _seconds(text: str) -> float:
    given = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if given is None or not int(given[1]):
        raise RequestError(f"--expires {text[:40]!r} is no time: say 12h, 7d or 4w")
    return float(int(given[1]) * _UNITS[given[2]])
