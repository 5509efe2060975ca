"""Start the console. The entry point passes in the page itself, which the command line does not import."""

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from hookline.cli.commands.console.answers import ConsoleAnswers, ConsoleOptions
from hookline.cli.output import ExitStatus
from hookline.cli.requests import RequestError
from hookline.config.console_address import console_directory
from hookline.journal.file import journal_path

if TYPE_CHECKING:
    from hookline.team.fleet.audit.copy import AuditCopy


def run(args: argparse.Namespace) -> int:
    if args.console is None:
        raise RequestError("the console can only be started by the command `hookline`")
    if args.port is not None and not 0 <= args.port < 65536:
        raise RequestError(f"--port {args.port}: say a number from 1 to 65535, or 0 for any that is free")
    answers = ConsoleAnswers(opens=not args.no_open, as_json=args.json, fleet=args.fleet)
    team = _team(answers.say) if args.fleet else None
    options = ConsoleOptions(
        directory=console_directory(os.environ, fleet=team is not None),
        journal=journal_path(os.environ),
        machine=team.machine if team else os.uname().nodename,
        team=team,
        port=args.port,
        host=args.host,
        cert=os.path.abspath(args.cert) if args.cert else "",
        key=os.path.abspath(args.key) if args.key else "",
    )
    return args.console(options, answers) or ExitStatus.OK


def _team(say: Callable[[str], None]) -> "AuditCopy":
    """Return the copy of the fleet's audit. Raises SettingsError if this machine is in no fleet."""
    from hookline.team.fleet.audit.copy import AuditCopy
    from hookline.team.fleet.settings import read_settings

    return AuditCopy(read_settings(os.environ), os.environ, say)
