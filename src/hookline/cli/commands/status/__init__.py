"""`hookline status`: in which agents Hookline is installed, whether they run it, and when they last did."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """In which agents Hookline is installed, for you and in this project: the file and line, whether the
agent will run the entries, whether Hookline trusts them, and when the agent last asked. Nothing is run."""

_EPILOG = """examples:
  hookline status
  hookline status codex
  hookline status --json

exit status: 0 what is installed runs, 1 nothing is installed, or something of it will not run"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "status", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="AGENT", help="the agents, by their dialects")
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    add_json_option(parser, "the same facts as JSON")
