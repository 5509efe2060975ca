"""Add Hookline to the files of the agents on this machine: `hookline install`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Make the agents on this machine call Hookline: add entries to their own files. Without AGENT, every
agent that is found. Hookline shows which files change (--diff: how) and asks; it keeps the old files,
and `hookline uninstall` restores them.

Hookline's own guards run in these agents then. --hooks all also brings the hooks that were written for
other agents; Hookline lists which hooks would run where they did not before, and asks.

The entries say so if Hookline is gone one day. --if-missing chooses what happens to calls then: allow lets
them pass, block refuses them; without it they are refused only if a guard is required or managed.

Running it again changes nothing, or updates the entries after Hookline has moved; your choices stay.
Without a terminal it asks nothing; --yes writes."""

_EPILOG = """examples:
  hookline install
  hookline install claude-code codex --yes
  hookline install --project
  hookline install --hooks all --diff
  hookline install claude-code --exec-guard
  sudo hookline install --managed --if-missing block --yes
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
        "--hooks",
        choices=("own", "all"),
        help="run Hookline's own guards only (own, the default), or also hooks written for other agents",
    )
    parser.add_argument(
        "--actions",
        choices=("all", "named"),
        help="ask hooks about files in other agents' formats about shell lines, too (all), or as their agents do "
        "(named, the default)",
    )
    parser.add_argument(
        "--if-missing",
        choices=("allow", "block"),
        help="let calls pass or refuse them when Hookline is not installed any more",
    )
    parser.add_argument(
        "--mod",
        action="store_true",
        help="also run as a mod inside the agent, before other plugins; agents that cannot get entries alone",
    )
    parser.add_argument(
        "--exec-guard",
        action="store_true",
        help="run the agent's shell commands under the exec guard; refused for an agent whose users cannot choose "
        "its shell",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="with --project: trust the project in an agent that reads no hooks of projects it does not trust",
    )
    parser.add_argument(
        "--no-relay", action="store_true", help="write entries that start hookline itself, not hookline-relay"
    )


def add_install_options(parser: Any, yes: str) -> None:
    parser.add_argument("words", nargs="*", metavar="AGENT", help="the agents, by their dialects")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="for all your projects (the default)")
    scope.add_argument(
        "--as-plugin",
        dest="plugin",
        action="store_true",
        help="as a plugin of the agent: the hooks in one directory, a skill to write hooks, and the MCP server",
    )
    scope.add_argument("--project", action="store_true", help="for this project alone")
    scope.add_argument(
        "--managed", action="store_true", help="for everybody on this machine, in the administrator's files"
    )
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    parser.add_argument("--yes", action="store_true", help=yes)
    parser.add_argument("--diff", action="store_true", help="show how each file changes")
    add_json_option(parser, "print the planned change, or with --yes the change made, as JSON")
