"""`hookline install`: put Hookline into the files of the agents that are there."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Make the agents on this machine ask Hookline: entries are added to their own files, so that the hooks
configured for Hookline hold in each of them. Without AGENT, every agent that is there. The change is
shown as a diff and asked about; what the files were is kept, and `hookline uninstall` restores it.

Running it again changes nothing, or updates the entries after Hookline has moved; the events stay those
that were chosen. Without a terminal nothing is asked; --yes writes."""

_EPILOG = """examples:
  hookline install
  hookline install claude-code codex --yes
  hookline install --project
  hookline install gemini-cli --events PreToolUse,SessionStart

exit status: 0 installed, 1 something is not, or was not agreed to, or a usage error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "install", _DESCRIPTION, _EPILOG)
    add_install_options(parser, "write without a question")
    parser.add_argument(
        "--events",
        action="append",
        metavar="EVENT,...",
        help="ask at these events only (repeatable); all: at the usual ones",
    )
    parser.add_argument(
        "--no-relay", action="store_true", help="write entries that start hookline itself, not hookline-relay"
    )


def add_install_options(parser: Any, yes: str) -> None:
    parser.add_argument("words", nargs="*", metavar="AGENT", help="the agents, by their dialects")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="for all your projects (the default)")
    scope.add_argument("--project", action="store_true", help="for this project alone")
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    parser.add_argument("--yes", action="store_true", help=yes)
    add_json_option(parser, "print what would change, or with --yes what did, as JSON")
