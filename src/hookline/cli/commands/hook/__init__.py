"""Run as one hook inside another agent: `hookline hook`."""

from typing import TYPE_CHECKING, Any, NoReturn

from hookline.cli.main import HOME_HELP, STRICT_HELP, command_parser
from hookline.cli.output import ExitStatus, note
from hookline.config.commands import HOOK_OPTIONS

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

_HELP = {
    "--dialect": "the agent that calls",
    "--config": "run exactly the hooks of these files (repeatable)",
    "--from": "whose files they are, if their paths do not say",
    "--hooks": "which hooks answer: Hookline's own, or also those written for other agents (all: the default)",
    "--scope": "whose file has this entry, for an agent that runs equal entries twice",
    "--home": HOME_HELP,
    "--strict": STRICT_HELP,
    "--print-config": "print the entries for this agent's own file",
}


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "hook", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="EVENT", help="the agent's own name of the event")
    for name, option in HOOK_OPTIONS.items():
        facts: dict[str, Any] = {"dest": option.field, "help": _HELP[name]}
        if not option.value:
            facts["action"] = "store_true"
        elif option.choices:
            facts["choices"] = option.choices
        else:
            facts |= {"metavar": option.value, "action": "append" if option.repeatable else "store"}
        parser.add_argument(name, **facts)
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
