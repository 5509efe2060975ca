"""Show what the hooks did, from the user's journal: `hookline log`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

DECISIONS = ("block", "would_block", "deny", "ask", "defer", "allow", "pass")
STATUSES = (
    "ok", "blocked", "failed", "timed_out", "not_started", "cancelled", "untrusted", "skipped", "background",
    "failed_open",
)  # fmt: skip

_DESCRIPTION = """Show what the hooks did, newest last. Every run that Hookline makes is in the journal.
Filters can be repeated; one of each kind must match. The last line counts how often
a guard failed open: its failure let the action proceed."""

_EPILOG = """examples:
  hookline log --since 2h --decision deny
  hookline log --follow --hook force-push
  hookline log --status failed_open --since 2026-01-02
  hookline log --call 'git push' --from .
  hookline log --counts --since 7d
  hookline log --times --event PreToolUse      how long the hooks took, the most time first
  hookline log --limit 0 --json

exit status: 0 fine (also when there is no journal yet), 1 it cannot be read, or a usage error, 130 interrupted"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "log", _DESCRIPTION, _EPILOG)
    parser.add_argument("-f", "--follow", action="store_true", help="then print new runs as they happen")
    parser.add_argument(
        "--hook",
        action="append",
        metavar="TEXT",
        help="hooks with this in their name; with / or : also in file:line",
    )
    parser.add_argument(
        "--event", action="append", metavar="NAME", help="this event, by any agent's name for it"
    )
    parser.add_argument(
        "--decision", action="append", choices=DECISIONS, metavar="WORD", help=", ".join(DECISIONS)
    )
    parser.add_argument(
        "--status", action="append", choices=STATUSES, metavar="WORD", help=", ".join(STATUSES)
    )
    parser.add_argument(
        "--call", action="append", metavar="TEXT", help="calls with this in their tool or input"
    )
    parser.add_argument(
        "--from",
        action="append",
        dest="origin",
        metavar="WHO",
        help="an agent (its dialect, or 'hookline agent'), a project (its directory or name), or fire",
    )
    parser.add_argument("--session", action="append", metavar="ID", help="sessions whose id begins so")
    parser.add_argument(
        "--id",
        action="append",
        dest="ids",
        metavar="ID",
        help="the run, or the decision of a server, of this id",
    )
    parser.add_argument("--since", metavar="WHEN", help="90s, 30m, 2h, 7d, 2026-01-02 or 2026-01-02T15:04")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="show the newest N (default 50, 10 with --follow; 0: all)"
    )
    tables = parser.add_mutually_exclusive_group()
    tables.add_argument("--counts", action="store_true", help="a table of the hooks instead of their runs")
    tables.add_argument("--times", action="store_true", help="the same, with how long they took")
    add_json_option(parser, "as JSON; with --follow, one run per line")
