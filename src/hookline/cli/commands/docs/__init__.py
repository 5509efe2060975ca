"""Print the pages of the documentation in the terminal: `hookline docs`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Print a page of the documentation of this version. Without TOPIC, list the pages.

TOPIC is the name of a page, or words that its title has."""

_EPILOG = """examples:
  hookline docs
  hookline docs first guard
  hookline docs reference/events

exit status: 0 fine, 1 no such page"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "docs", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="TOPIC", help="which page")
    add_json_option(parser, "the list of pages as JSON")
