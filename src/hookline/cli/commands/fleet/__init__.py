"""Manage the machines of a team: `hookline fleet`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """The machines of a team, over a NATS server that fleet.toml names (in /etc/hookline, or in the user's
own directory). Each of them keeps accepted jobs in its own files: the server may be down.

  worker    run this machine's part: send its jobs and runs, run jobs of others, take bundles; Ctrl-C ends it
  keygen    make a key that bundles are signed with, in the file PATH
  publish   sign the hooks in PATH, a directory or a hooks file, and roll them out
  pull      take the newest bundle that is meant for this machine, once
  status    (or nothing) machines, their bundles, and errors: refused bundles, failures, calls that failed open"""

_EPILOG = """examples:
  hookline fleet worker
  hookline fleet worker --slots 0      only send what this machine has
  hookline fleet keygen ~/guards.key
  hookline fleet publish guards/ --key ~/guards.key --stage 10% --expires 7d
  hookline fleet publish guards/ --key ~/guards.key --scope group=backend --scope 'project=*/payments'
  hookline fleet pull --directory /mnt/share/hookline
  hookline fleet status --json

exit status: 0 fine, 1 something is wrong: the settings, a bundle, a machine; or nothing was published"""

#: Each is the module of that name beside this one.
ACTIONS = ("worker", "keygen", "publish", "pull", "status")


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "fleet", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, default="status", help="the action (default: status)"
    )
    parser.add_argument(
        "words", nargs="*", metavar="PATH", help="keygen, publish: the file to write, or the hooks to publish"
    )
    parser.add_argument(
        "--slots",
        type=int,
        metavar="N",
        help="worker: how many jobs to run at once (default: as in fleet.toml)",
    )
    parser.add_argument("--key", metavar="FILE", help="publish: the private key to sign with")
    parser.add_argument("--name", default="guards", help="publish: which bundle (default guards)")
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="WHAT=PATTERN",
        help="publish: only these, machine=, group= or project= (repeatable; default: all machines)",
    )
    parser.add_argument(
        "--stage", default="100%", metavar="SHARE", help="publish: to this share of them (default 100%%)"
    )
    parser.add_argument(
        "--expires",
        default="30d",
        metavar="TIME",
        help="publish: guards close after it: 12h, 7d (default 30d)",
    )
    parser.add_argument(
        "--revision",
        type=int,
        metavar="N",
        help="publish: the revision (default: the next, or that of the same hooks)",
    )
    parser.add_argument(
        "--directory",
        metavar="DIR",
        help="publish, pull, status: a directory that machines share, instead of the server",
    )
    parser.add_argument("--yes", action="store_true", help="publish: without a question")
    add_json_option(parser, "as JSON")
