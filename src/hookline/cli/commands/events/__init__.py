"""`hookline events`: every event, or everything about one."""

import argparse
from typing import Any

from hookline.cli.parsers import command_parser

_DESCRIPTION = """The events hooks can react to, when each one fires and what hooks may do there.
With EVENT: what the agents call it, its payload, its answers and how it behaves, with examples.

EVENT is a name of the table, or an agent's own name: then it says which event that is."""

_EPILOG = """examples:
  hookline events
  hookline events PreToolUse
  hookline events before_llm_call
  hookline events PreToolUse --json

exit status: 0 fine, 1 no event is called that"""


def add_parser(subparsers: Any) -> None:
    parser = command_parser(subparsers, "events", _DESCRIPTION, _EPILOG)
    parser.add_argument("event", nargs="?", metavar="EVENT", help="show everything about this one")
    parser.add_argument("--json", action="store_true", help="the same facts as JSON")
    parser.set_defaults(run=run_command)


def run_command(args: argparse.Namespace) -> int:
    from hookline.dialects.native.events import NativePolicies
    from hookline.model.events import EVENTS

    policies = NativePolicies(EVENTS.values())
    if args.event is None:
        from hookline.cli.commands.events.report import show_table

        return show_table(policies, as_json=args.json)
    # Only here: what agents call an event is asked of all of them.
    from hookline.cli.commands.events.report import show_event
    from hookline.cli.problems import tell_problem
    from hookline.model.errors import UnknownEventError

    try:
        return show_event(args.event, policies, as_json=args.json)
    except UnknownEventError as error:
        return tell_problem("events", error)
