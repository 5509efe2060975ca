"""Show what hooks would have done in past sessions: `hookline backtest`."""

from typing import Any

from hookline.cli.main import add_history_options, add_json_option, add_trust_option, command_parser

_DESCRIPTION = """Show what your hooks would have done in past sessions, from the transcripts of your agents.
Rules, guards and builtins judge every event. Command and http hooks run only if their entry says
side_effects = "none", or with --run; others are counted as not judged. Nothing that was recorded is executed."""

_EPILOG = """examples:
  hookline backtest --since 30d
  hookline backtest --rule 'deny force-push' --diff
  hookline backtest --config new-hooks.toml --diff .hookline/hooks.toml
  hookline backtest --since all --html report.html
  hookline backtest --from ~/.claude/projects --run lint.py --json

exit status: 0 fine, also without sessions, 1 a usage or configuration error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "backtest", _DESCRIPTION, _EPILOG)
    add_history_options(parser, "30d")
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="the hooks of exactly these files (repeatable)"
    )
    parser.add_argument("--dialect", metavar="NAME", help="only this agent's hooks")
    parser.add_argument(
        "--rule", action="append", metavar="RULE", help="one rule more: 'deny Bash(rm -rf *)' (repeatable)"
    )
    parser.add_argument(
        "--diff",
        nargs="?",
        const="",
        metavar="OLD",
        help="show what changes from the hooks of this file; without it, from those that are active now",
    )
    parser.add_argument(
        "--run", action="append", metavar="HOOK", help="this hook has no side effects: run it (repeatable)"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run scripts again, also where their answers are known"
    )
    parser.add_argument("--html", metavar="FILE", help="write a report with charts to this file")
    add_trust_option(parser)
    add_json_option(parser, "the same numbers as JSON")
