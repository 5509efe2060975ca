"""Run a command while rules hold for every program that it starts: `hookline run`."""

import argparse
from typing import Any

from hookline.cli.main import add_host_option, command_parser

_DESCRIPTION = """Run a command under the exec guard: each program that it starts is judged by the deny and ask rules
and the built-in guards that are active here, and by hooks of ExecStart.

A denied program fails with "Operation not permitted"; the reason goes to standard error and to the journal.
Questions go to your terminal; without one they are denials. Where this machine has no exec guard, nothing runs."""

_EPILOG = """examples:
  hookline run -- make test
  hookline run --deny 'Bash(curl *)' -- npm install
  hookline run --walls --only-host localhost -- make test

exit status: that of the command; 128 and the number of its signal; 126 if it was denied; 127 if there is no
such program; 1 without an exec guard here"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "run", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "--session", metavar="ID", default="", help="the session that it belongs to, in the journal"
    )
    parser.add_argument(
        "--walls", action="store_true", help="the kernel refuses what guards over files forbid (Landlock)"
    )
    add_host_option(parser)
    for name in ("deny", "ask"):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="RULE",
            help=f"one more {name} rule (repeatable)",
        )
    parser.add_argument(
        "--shell",
        metavar="NAME",
        help="be this shell (bash or zsh) for an agent that lets you choose one: the words are the shell's",
    )
    parser.add_argument("--shell-server", type=int, metavar="PID", help=argparse.SUPPRESS)
    parser.add_argument("command_words", nargs=argparse.REMAINDER, metavar="-- COMMAND")
