"""Show and manage the queued work of durable hooks: `hookline jobs`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Show and manage the queue of durable hooks (`durable = true`): jobs that wait or run, and dead
letters, which failed three times or can never run. The agent, the daemon and `hookline jobs run` work on it.

  list    (default) jobs that wait or run, and dead letters; with --all also finished ones
  show    everything about one job
  retry   try a dead letter again
  drop    delete a dead letter, or a job that has not started
  run     run all waiting jobs, except those of other running processes, and exit

ID is the id of a job, or the beginning of it if that is unique."""

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
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="the action")
    parser.add_argument("words", nargs="*", metavar="ID", help="which job")
    parser.add_argument("--all", action="store_true", help="also list finished jobs of the last 7 days")
    add_json_option(parser, "as JSON")
