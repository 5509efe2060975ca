"""Manage the daemon that speeds up hooks: `hookline daemon`."""

from typing import Any

from hookline.cli.main import add_home_option, add_json_option, command_parser

_DESCRIPTION = """Manage the daemon, a local server that answers the calls `hookline-relay` brings from your
agents, so that not every call has to start Hookline. The first call that finds no daemon starts one; it ends
after a while without calls. Nothing depends on it: without a daemon each call starts a new process.

  start   start it now
  status  is it running, since when, how many calls has it answered?
  stop    let it finish the running calls, then end it
  run     run it in this terminal (Ctrl-C ends it)"""

_EPILOG = """examples:
  hookline daemon status
  hookline daemon stop
  hookline daemon start --idle 4h
  hookline daemon start --http 8977     with an http endpoint on loopback, for hooks of type http

exit status: 0 fine (status: it is running), 1 it is not running, or could not be started"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "daemon", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "action",
        nargs="?",
        choices=("start", "status", "stop", "run"),
        default="status",
        help="the action (default: status)",
    )
    parser.add_argument(
        "--directory", metavar="DIR", help="the directory of its socket (default: one of the user)"
    )
    parser.add_argument("--idle", metavar="TIME", default="30m", help="end after this time without calls")
    parser.add_argument("--http", metavar="PORT", type=int, help="also listen on this port of 127.0.0.1")
    add_home_option(parser)
    add_json_option(parser, "status as JSON")
