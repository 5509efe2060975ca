"""Answer calls that wait for a person: `hookline approvals`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Calls that a hook asks about, and that no user at the agent can answer. They
wait here if settings.toml says so (approvals = 300: seconds, at most 600), and are denied then.

  list          (or nothing) who asks, the call, which guard, since when
  show ID       one call in full
  allow ID      let it run
  deny ID       deny it, with --message for the agent

ID is the id of a call, or the beginning of it if that is unique. The first answer counts."""

_EPILOG = """examples:
  hookline approvals
  hookline approvals show 5f2a
  hookline approvals allow 5f2a
  hookline approvals deny 5f2a --message 'use the test account'
  hookline approvals --fleet            the calls of all machines

exit status: 0 fine, 1 nothing waits by this id, or it was answered meanwhile"""

ACTIONS = ("list", "show", "allow", "deny")


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "approvals", _DESCRIPTION, _EPILOG)
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="the action")
    parser.add_argument("words", nargs="*", metavar="ID", help="which call")
    parser.add_argument("--message", default="", metavar="TEXT", help="words for the agent")
    parser.add_argument("--fleet", action="store_true", help="of all machines of the fleet")
    parser.add_argument("--yes", action="store_true", help="allow: do not ask")
    add_json_option(parser, "as JSON")
