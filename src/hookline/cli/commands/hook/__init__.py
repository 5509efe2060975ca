"""`hookline hook`: Hookline as one hook inside another agent."""

import argparse
from typing import Any, NoReturn

from hookline.cli.output import tell
from hookline.cli.parsers import command_parser

#: In every agent's terms: exit 2 stops what a guard is asked about.
CLOSED = 2
PROBLEM = 1

_DESCRIPTION = """Hookline as one hook inside another agent: reads that agent's payload from standard input, runs the
hooks configured for Hookline and for other agents, and answers with that agent's exit code and output.

NAME is claude-code, gen-code, codewhale, reasonix, docker-agent or native. EVENT is the agent's own name of
the event; where its payload names none (CodeWhale), it must be given. --print-config prints what to add to
the agent's configuration."""

_EPILOG = """examples:
  hookline hook --print-config claude-code
  hookline hook --print-config codewhale tool_call_before message_submit
  hookline hook --dialect claude-code PreToolUse < payload.json

exit status: what the agent expects of a hook; 2 as well when Hookline cannot tell what it was asked"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "hook", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="EVENT", help="the agent's own name of the event")
    parser.add_argument("--dialect", metavar="NAME", help="the agent that calls")
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="run exactly the hooks of these files (repeatable)"
    )
    parser.add_argument("--print-config", metavar="NAME", help="print the entries for this agent's own file")
    parser.set_defaults(run=run_command)
    _closed_when_misused(parser)


def _closed_when_misused(parser: Any) -> None:
    """A misspelt option stands in an agent's configuration, where the usual status would let everything pass."""
    read = parser.parse_known_args

    def strictly(words: list[str], namespace: Any = None) -> tuple[argparse.Namespace, list[str]]:
        args, rest = read(words, namespace)
        if unknown := [word for word in rest if word.startswith("-")]:
            refuse(f"unrecognized arguments: {' '.join(unknown)}")
        args.words = [*args.words, *rest]
        return args, []

    def refuse(message: str) -> NoReturn:
        from hookline.model.safe_text import printable

        tell(printable(f"{parser.format_usage()}{parser.prog}: {message}"))
        parser.exit(CLOSED)
        raise SystemExit(CLOSED)

    parser.parse_known_args = strictly
    parser.error = refuse


def run_command(args: argparse.Namespace) -> int:
    if args.print_config is not None:
        from hookline.cli.commands.hook.entries import print_entries

        return print_entries(args.print_config, args.words)
    try:
        from hookline.cli.commands.hook.run import serve

        return serve(args.dialect, args.words, args.config)
    except Exception as problem:  # noqa: BLE001 whatever is wrong with Hookline, a guard must not let things pass
        from hookline.model.safe_text import one_line

        tell(one_line(f"hookline hook: broke: {type(problem).__name__}: {problem}", 500))
        return CLOSED
