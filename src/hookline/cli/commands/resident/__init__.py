"""`hookline resident`: the server that makes calls of other agents cost milliseconds."""

from typing import Any

from hookline.cli.main import add_home_option, add_json_option, command_parser

_DESCRIPTION = """The resident answers the calls that `hookline-relay` brings from your agents, so that not every call
has to start Hookline. It is started by the first call that finds none, and ends after a while without calls.
Nothing depends on it: without one each call is answered by a process of its own.

  start   start it now
  status  is it running, since when, how many calls has it answered?
  stop    let it finish the calls that are under way, and end
  run     be the resident, in this terminal (Ctrl-C ends it)"""

_EPILOG = """examples:
  hookline resident status
  hookline resident stop
  hookline resident start --idle 4h
  hookline resident start --http 8977     with an http endpoint on loopback, for hooks of type http

exit status: 0 fine (status: it is running), 1 it is not running, or could not be started"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "resident", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "action",
        nargs="?",
        choices=("start", "status", "stop", "run"),
        default="status",
        help="what to do (status)",
    )
    parser.add_argument("--folder", metavar="DIR", help="the folder of its socket (default: one of the user)")
    parser.add_argument("--idle", metavar="TIME", default="30m", help="end after this time without calls")
    parser.add_argument("--http", metavar="PORT", type=int, help="also listen on this port of 127.0.0.1")
    add_home_option(parser)
    add_json_option(parser, "status as JSON")
