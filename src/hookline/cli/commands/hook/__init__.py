"""Run as one hook inside another agent: `hookline hook`."""

from typing import TYPE_CHECKING, Any, NoReturn

from hookline.cli.main import add_home_option, add_strict_option, command_parser
from hookline.cli.output import ExitStatus, note

if TYPE_CHECKING:
    import argparse

_DESCRIPTION = """Run as one hook inside another agent: read that agent's payload from standard input, run the hooks
configured for Hookline and for other agents (--hooks own: Hookline's alone), and answer with that
agent's exit code and output.

NAME is the dialect of the agent, as in the examples; a name that does not exist lists them all. EVENT is the
agent's own name of the event; it must be given if the payload does not name it. --print-config prints the
entries for the agent's configuration."""

_EPILOG = """examples:
  hookline hook --print-config claude-code
  hookline hook --print-config codewhale tool_call_before message_submit
  hookline hook --dialect claude-code PreToolUse < payload.json

exit status: what the agent expects of a hook; 2 as well when Hookline cannot read the call"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "hook", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="EVENT", help="the agent's own name of the event")
    parser.add_argument("--dialect", metavar="NAME", help="the agent that calls")
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="run exactly the hooks of these files (repeatable)"
    )
    parser.add_argument(
        "--from", dest="source", metavar="NAME", help="whose files they are, if their paths do not say"
    )
    parser.add_argument(
        "--hooks",
        choices=("own", "all"),
        help="which hooks answer: Hookline's own, or also those written for other agents (all: the default)",
    )
    parser.add_argument(
        "--scope",
        metavar="NAME",
        help="whose file has this entry, for an agent that runs equal entries twice",
    )
    add_home_option(parser)
    add_strict_option(parser)
    parser.add_argument("--print-config", metavar="NAME", help="print the entries for this agent's own file")
    _block_when_misused(parser)


def _block_when_misused(parser: Any) -> None:
    """Make usage errors block: a misspelt option is in an agent's configuration, where status 1 would let
    everything pass.
    """
    parse_known_args = parser.parse_known_args

    def parse_strictly(words: list[str], namespace: Any = None) -> "tuple[argparse.Namespace, list[str]]":
        args, rest = parse_known_args(words, namespace)
        if unknown := [word for word in rest if word.startswith("-")]:
            refuse(f"unrecognized arguments: {' '.join(unknown)}")
        args.words = [*args.words, *rest]
        return args, []

    def refuse(message: str) -> NoReturn:
        from hookline.model.safe_text import printable

        note(printable(f"{parser.format_usage()}{parser.prog}: {message}"))
        parser.exit(ExitStatus.BLOCKED)
        raise SystemExit(ExitStatus.BLOCKED)

    parser.parse_known_args = parse_strictly
    parser.error = refuse
