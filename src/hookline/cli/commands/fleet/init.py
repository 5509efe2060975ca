"""Create the streams and buckets of the fleet, or print the rights of a role: `hookline fleet init`."""

import argparse
import os

from hookline.cli.commands.fleet.report import InitDocument, as_json
from hookline.cli.output import show
from hookline.cli.requests import RequestError
from hookline.team.fleet.connection import connected
from hookline.team.fleet.permissions import rights_of
from hookline.team.fleet.settings import is_name, read_settings, worker_name


async def run(args: argparse.Namespace) -> int:
    if args.permissions is not None:
        return _permissions(args)
    settings = read_settings(os.environ)
    async with connected(settings) as fleet:
        await fleet.prepare(update=True)
        server = fleet.server
    if args.json:
        return show(as_json(InitDocument(server=server, audit_days=settings.audit_days)), as_json=True)
    return show(
        f"{server} has the streams and buckets of the fleet; the audit keeps runs for {settings.audit_days:g} days"
    )


def _permissions(args: argparse.Namespace) -> int:
    name = args.machine or args.permissions
    if not is_name(name):
        raise RequestError(f"--machine {name[:80]!r} is not a valid machine name")
    if args.permissions == "machine" and args.machine is None:
        raise RequestError("each machine has rights of its own: --machine NAME, as `name` of its fleet.toml")
    if args.user is not None and args.permissions != "machine":
        raise RequestError("--user is a user of a machine: --permissions machine --machine NAME --user USER")
    rights = rights_of(args.permissions, worker_name(name, args.user) if args.user else name)
    return show(as_json(rights) if args.json else rights.config(), as_json=args.json)
