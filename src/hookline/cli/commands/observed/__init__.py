"""`hookline observed`: whether hooks were asked about every call that concerned them."""

from typing import Any

from hookline.cli.main import add_history_options, add_json_option, command_parser

_DESCRIPTION = """Were your hooks asked about every call that they should have been? The transcripts of your agents say
which calls there were, the journal which hooks ran. A call that a guard is about and that it was not asked about
is a hole: it is listed with its session, its time and the likely cause. Nothing is run."""

_EPILOG = """examples:
  hookline observed
  hookline observed --since 24h --json
  hookline observed --except 'installed later'

exit status: 0 every guard was asked, 1 there are holes, or nothing to look at"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "observed", _DESCRIPTION, _EPILOG)
    add_history_options(parser, "7d")
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="the hooks of exactly these files (repeatable)"
    )
    parser.add_argument("--dialect", metavar="NAME", help="only this agent's hooks")
    parser.add_argument(
        "--except",
        action="append",
        dest="excused",
        metavar="CAUSE",
        help="holes with this cause are listed, and are no problem: 'installed later' (repeatable)",
    )
    parser.add_argument("--all", action="store_true", help="list every hole")
    add_json_option(parser, "the same facts as JSON")
