"""`hookline jobs`: what durable hooks still have to do, and what became of it."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """The jobs of durable hooks (`durable = true`): those that wait or run, and the dead letters, which were
tried three times, or can never run. They are in one file of the user; whichever Hookline process comes next runs them.

  list    (or nothing) the jobs that are not over, and the dead letters; with --all also those that are over
  show    all about one job
  retry   try a dead letter again
  drop    forget a dead letter, or a job that has not begun
  run     run what waits, until nothing is left that another process does not have

ID is the id of a job, or as much of its beginning as no other has."""

_EPILOG = """examples:
  hookline jobs
  hookline jobs show 5f2a
  hookline jobs retry 5f2a
  hookline jobs drop 5f2a
  hookline jobs run

exit status: 0 fine, 1 there are dead letters, no such job, or the queue cannot be used"""

ACTIONS = ("list", "show", "retry", "drop", "run")


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "jobs", _DESCRIPTION, _EPILOG)
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="what to do")
    parser.add_argument("words", nargs="*", metavar="ID", help="the job that is meant")
    parser.add_argument(
        "--all", action="store_true", help="list also the jobs of the last days that are over"
    )
    add_json_option(parser, "as JSON")
