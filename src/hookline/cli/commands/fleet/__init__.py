"""`hookline fleet`: what the machines of a team do together."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """The machines of a team, over a NATS server that fleet.toml names (in /etc/hookline, or in the user's
own folder). Each of them keeps what it has accepted in files of its own: the server may be down.

  worker    be this machine in the fleet: send its jobs and its runs, run jobs of others (Ctrl-C ends it)"""

_EPILOG = """examples:
  hookline fleet worker
  hookline fleet worker --slots 0      only send what this machine has

exit status: 0 fine, 1 the settings are wrong, or another machine has this name"""

#: Each is the module of that name beside this one.
ACTIONS = ("worker",)


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "fleet", _DESCRIPTION, _EPILOG)
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument(
        "--slots",
        type=int,
        metavar="N",
        help="worker: how many jobs to run at once (default: as in fleet.toml)",
    )
    add_json_option(parser, "as JSON")
