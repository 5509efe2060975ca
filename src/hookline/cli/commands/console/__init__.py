"""`hookline console`: what the hooks did, in a browser."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Opens a page of this machine in your browser: live runs, sessions from beginning to end, how long
hooks take, guards that passed something without an answer or were never asked, jobs of durable hooks, and
backtests. It only shows: nothing can be changed there. Ctrl-C ends it.

Only you can open it: it listens on this machine alone, and its link works once."""

_EPILOG = """examples:
  hookline console
  hookline console --port 8080 --no-open
  hookline console --fleet                  the runs of all machines, from the audit
  ssh -L 4665:127.0.0.1:4665 build-box      then open the link that `hookline console` prints there

exit status: 0 it was ended, or is running already and was opened; 1 it cannot be started"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "console", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "--port", type=int, metavar="N", help="where to listen (default 4665, or any if it is taken)"
    )
    parser.add_argument(
        "--fleet", action="store_true", help="also the runs of the other machines of the fleet of fleet.toml"
    )
    parser.add_argument("--no-open", action="store_true", help="print the link, and start no browser")
    parser.add_argument(
        "--host",
        metavar="NAME",
        help="by which others reach this machine; needs --cert and --key (default: only here)",
    )
    parser.add_argument("--cert", metavar="FILE", help="certificate for TLS, in PEM")
    parser.add_argument("--key", metavar="FILE", help="its key")
    add_json_option(parser, "print where it is as one line of JSON")
