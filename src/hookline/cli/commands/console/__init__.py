"""Show what the hooks did, in a browser: `hookline console`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Open a local page in your browser: live runs, timelines of sessions, how long hooks take, guards that
failed open or missed calls, jobs of durable hooks, and backtests. It is read-only.
Ctrl-C stops it.

Only you can open it: it listens on loopback, and its link works once."""

_EPILOG = """examples:
  hookline console
  hookline console --port 8080 --no-open
  hookline console --fleet                  the runs of all machines, from the audit
  ssh -L 4665:127.0.0.1:4665 build-box      then open the link that `hookline console` prints there

exit status: 0 it was stopped, or one was already running and was opened; 1 it could not be started"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "console", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "--port", type=int, metavar="N", help="port to listen on (default 4665, or any free one)"
    )
    parser.add_argument(
        "--fleet", action="store_true", help="also show runs of the other machines in the fleet (fleet.toml)"
    )
    parser.add_argument("--no-open", action="store_true", help="print the link and do not start a browser")
    parser.add_argument(
        "--host",
        metavar="NAME",
        help="name of this machine for other machines; needs --cert and --key (default: loopback only)",
    )
    parser.add_argument("--cert", metavar="FILE", help="certificate for TLS, in PEM")
    parser.add_argument("--key", metavar="FILE", help="its key")
    add_json_option(parser, "print address and link as one line of JSON")
