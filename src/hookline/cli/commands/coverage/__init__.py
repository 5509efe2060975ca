"""Find tool calls that hooks missed: `hookline coverage`."""

from typing import Any

from hookline.cli.main import add_history_options, add_json_option, command_parser

_DESCRIPTION = """Find tool calls that your hooks missed. The transcripts of your agents say which calls there were, the
journal says which hooks ran. A call that concerns a guard and that the guard did not see is a missed call: it is
listed with its session, its time and the likely cause. No hook is run."""

_EPILOG = """examples:
  hookline coverage
  hookline coverage --since 24h --json
  hookline coverage --except 'installed later'

exit status: 0 no guard missed a call, also without sessions, 1 a guard missed some"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "coverage", _DESCRIPTION, _EPILOG)
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
        help="list missed calls with this cause, but do not fail for them: 'installed later' (repeatable)",
    )
    parser.add_argument("--all", action="store_true", help="list every missed call")
    add_json_option(parser, "the same facts as JSON")
