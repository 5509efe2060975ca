"""`hookline init`: a first guard, written and shown at work."""

import argparse
from typing import Any

from hookline.cli.parsers import command_parser

_DESCRIPTION = """Write a first guard into .hookline/hooks.toml and show what it says to two commands.
A file that is there is left as it is."""

_EPILOG = """examples:
  hookline init
  hookline init --user      for every project of yours
  hookline init --json

exit status: 0 written, and the guard works; 1 there is a file already, or it cannot be written"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "init", _DESCRIPTION, _EPILOG)
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    parser.add_argument("--user", action="store_true", help="write it for you, not for this project")
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    parser.set_defaults(run=run_command)


def run_command(args: argparse.Namespace) -> int:
    import asyncio

    from hookline.cli.commands.init.run import as_text, first_guard
    from hookline.cli.output import PROBLEM, show, tell
    from hookline.cli.requests import RequestError
    from hookline.cli.text import json_lines
    from hookline.model.safe_text import printable

    try:
        document = asyncio.run(first_guard(args.cwd, user=args.user))
    except RequestError as problem:
        tell(printable(f"hookline init: {problem}"))
        return PROBLEM
    status = show(json_lines(document) if args.json else as_text(document), as_json=args.json)
    if document.problem is not None:
        tell(printable(f"hookline init: {document.problem}"))
        return PROBLEM
    return status
