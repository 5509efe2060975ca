"""`hookline init`: a first guard, written and shown at work."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Write a first guard into .hookline/hooks.toml and show what it says to two commands.
With --tests, also a first test of it. A file that exists is not changed."""

_EPILOG = """examples:
  hookline init
  hookline init --user      for every project of yours
  hookline init --tests     and tests/test_hooks.py, for pytest
  hookline init --json

exit status: 0 written, and the guard works; 1 there is a file already, or it cannot be written"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "init", _DESCRIPTION, _EPILOG)
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    parser.add_argument("--user", action="store_true", help="write it for you, not for this project")
    parser.add_argument(
        "--tests",
        action="store_true",
        help="also write tests/test_hooks.py; if there are hooks already, only that",
    )
    add_json_option(parser, "print what was done as JSON")
