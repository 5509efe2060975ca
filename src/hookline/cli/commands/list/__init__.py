"""List the active hooks here, in the order they would run: `hookline list`."""

from typing import Any

from hookline.cli.main import add_json_option, add_source_options, add_trust_option, command_parser

_DESCRIPTION = """List the hooks that are configured for this directory and user, by event, in the order they would run:
what each one matches, what it runs, its mode, its timeout and where it is configured. Nothing is run.

EVENT is a name of the event table (`hookline events`) or an agent's own name for it."""

_EPILOG = """examples:
  hookline list
  hookline list PreToolUse
  hookline list --dialect reasonix
  hookline list --config hooks.toml --json

exit status: 0 fine, 1 nothing is configured, or something in it is wrong"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "list", _DESCRIPTION, _EPILOG)
    parser.add_argument("event", nargs="?", metavar="EVENT", help="only the hooks of this one")
    add_source_options(parser)
    add_trust_option(parser)
    add_json_option(parser, "the same facts as JSON")
