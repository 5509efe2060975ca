"""Show and manage the queued work of durable hooks: `hookline jobs`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Show and manage the queue of durable hooks (`durable = true`): jobs that wait or run, and dead
letters, which failed
too often or can never run. The agent, the daemon and `hookline jobs run` work on it.

  list    (default) jobs that wait or run, and dead letters; with --all also finished ones
  show    everything about one job
  retry   try a dead letter again, or with --all, --hook or --since many of them
  drop    delete a dead letter, or a job that has not started; with --all, --hook or --since many dead letters
  run     run all waiting jobs, except those of other running processes, and exit

ID is the id of a job, or the beginning of it if that is unique."""

_EPILOG = """examples:
  hookline jobs
  hookline jobs show 5f2a
  hookline jobs retry 5f2a
  hookline jobs drop 5f2a
  hookline jobs retry --hook scan --since 2h      after an outage
  hookline jobs drop --all
  hookline jobs run

exit status: 0 fine, 1 there are dead letters, no such job, or the queue cannot be used"""

ACTIONS = ("list", "show", "retry", "drop", "run")


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "jobs", _DESCRIPTION, _EPILOG)
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="the action")
    parser.add_argument("words", nargs="*", metavar="ID", help="which job")
    parser.add_argument(
        "--all",
        action="store_true",
        help="list: also finished jobs of the last 7 days; retry, drop: all dead letters",
    )
    parser.add_argument("--hook", metavar="NAME", help="retry, drop: the dead letters of this hook")
    parser.add_argument(
        "--since", metavar="WHEN", help="retry, drop: those accepted since then: 90s, 2h, 7d, 2026-01-02"
    )
    add_json_option(parser, "as JSON")
