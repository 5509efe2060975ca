"""Start the console. The page itself is handed in by the entry point: the command line knows nothing of it."""

import argparse
import os

from hookline.cli.commands.console.answers import ConsoleAnswers, ConsoleOptions
from hookline.cli.output import ExitStatus
from hookline.cli.requests import RequestError
from hookline.journal.file import journal_path, state_dir


def run(args: argparse.Namespace) -> int:
    if args.console is None:
        raise RequestError("the console can only be started by the command `hookline`")
    if args.port is not None and not 0 <= args.port < 65536:
        raise RequestError(f"--port {args.port}: say a number from 1 to 65535, or 0 for any that is free")
    options = ConsoleOptions(
        folder=os.path.join(state_dir(os.environ), "console"),
        journal=journal_path(os.environ),
        machine=os.uname().nodename,
        port=args.port,
        host=args.host,
        cert=os.path.abspath(args.cert) if args.cert else "",
        key=os.path.abspath(args.key) if args.key else "",
    )
    return args.console(options, ConsoleAnswers(opens=not args.no_open, as_json=args.json)) or ExitStatus.OK
