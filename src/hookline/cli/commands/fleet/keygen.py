"""Make a signing key: `hookline fleet keygen`."""

import argparse

from hookline.cli.commands.fleet.report import KeyDocument, as_json
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import RequestError
from hookline.team.fleet.bundles.keys import make_key


def run(args: argparse.Namespace) -> ExitStatus:
    if len(args.words) != 1:
        raise RequestError("say where the private key goes: hookline fleet keygen ~/guards.key")
    file = args.words[0]
    key = make_key(file)
    if args.json:
        return show(as_json(KeyDocument(file=file, id=key.id, public=key.text)), as_json=True)
    return show(
        f"{file} has the private key {key.id}: anyone who has this file can run hooks on your machines\n\n"
        "machines believe it with this in /etc/hookline/fleet.toml:\n\n"
        f'[bundles]\nkeys = ["{key.text}"]'
    )
