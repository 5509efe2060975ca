"""Run one command from the words of a command line, and turn its result or error into an exit status.

The parsers of all commands share what is here. Every command imports this: nothing here may be slow.
"""

from collections.abc import Coroutine, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hookline.cli.output import ExitStatus, columns, note, open_standard_streams, show
from hookline.config.commands import COMMANDS, GROUPS, HELP

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from hookline.agent.user_interface import RunScreen
    from hookline.cli.commands.console.answers import ConsoleAnswers, ConsoleOptions
    from hookline.cli.parser import CommandParser
    from hookline.config.commands import Group

    RunConsole = Callable[[ConsoleOptions, ConsoleAnswers], int]

_DESCRIPTION = """Are my hooks alive, what would they do, and why?
"""

_EPILOG = """examples:
  hookline doctor                                            are my hooks alive?
  hookline guard add recommended                             five guards, each tried on a command
  hookline fire PreToolUse Bash command='git push --force'   what would my hooks say?
  hookline log --since 2h --decision deny                    what did they say?

`hookline COMMAND --help` shows the options of a command, with examples; so does `hookline help COMMAND`.
exit status: 0 fine, 1 an error, a finding or wrong usage, 2 `fire` was blocked, 130 interrupted"""

HOME_HELP = "your home directory, if it is not the one in the user database"
STRICT_HELP = (
    "every hook that can block fails closed, and rules of other agents are read as Hookline's own, too"
)

#: Processes that agents start: they find the home directory by other rules, and by themselves.
_FIND_HOME = ("hook", "daemon")


def help_format(prog: str) -> "argparse.HelpFormatter":
    """Return a formatter that keeps the line breaks of our texts, and does not ask shutil for the width."""
    import argparse

    return argparse.RawDescriptionHelpFormatter(prog, width=min(columns(100), 110))


def add_command_parser(name: str, commands: Any) -> None:
    """Add the parser of a command from its package, which imports fast; its work is in `run`."""
    import_module(f"hookline.cli.commands.{name}").add_parser(commands)


def build_parser(command: str | None = None) -> "CommandParser":
    """Build the parser with one command, or none: a command that runs does not load the others, nor does --help."""
    from hookline.cli.parser import CommandParser

    parser = CommandParser(
        prog="hookline",
        usage="hookline [-h] [--version] COMMAND ...",
        description="\n".join((_DESCRIPTION, *map(_group_lines, GROUPS[:-1]), _more_line())),
        epilog=_EPILOG,
        formatter_class=help_format,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    if command is not None:
        # Given prog, argparse need not format a usage line (and load shutil for it) to find it out.
        commands = parser.add_subparsers(metavar="COMMAND", prog="hookline")
        add_command_parser(command, commands)
        parser.of_command = commands.choices[command]
    return parser


def _group_lines(group: "Group") -> str:
    """Return the lines of one group of commands, with its name."""
    lines = (f"  {name:11} {each.line}" for name, each in COMMANDS.items() if each.group == group)
    return "\n".join((f"{group}:", *lines, ""))


def _more_line() -> str:
    names = ", ".join(name for name, each in COMMANDS.items() if each.group == GROUPS[-1])
    return f"{GROUPS[-1]}: `hookline help {GROUPS[-1]}` lists {names}"


def run(words: Sequence[str], screen: "RunScreen | None" = None, console: "RunConsole | None" = None) -> int:
    """Run one command. Whatever happens is one clear line and a status, never a traceback.

    `screen` shows the agent at a terminal; without it there are lines. `console` runs the local page.
    """
    open_standard_streams()
    if list(words[:1]) == [HELP]:
        topic = words[1] if len(words) > 1 else "--help"
        if topic == GROUPS[-1]:
            return show(_group_lines(GROUPS[-1]).rstrip("\n"))
        words = [topic] if topic.startswith("-") else [topic, "--help"]
    command = words[0] if words and words[0] in COMMANDS else None
    try:
        return _run(command, words, screen, console)
    except KeyboardInterrupt:
        note("hookline: interrupted")
        return ExitStatus.INTERRUPTED
    except Exception as problem:  # noqa: BLE001 - a command that breaks must still end in a status and a line
        return _failed(command, problem)


def _run(
    command: str | None, words: Sequence[str], screen: "RunScreen | None", console: "RunConsole | None"
) -> int:
    if command is None and words and not words[0].startswith("-"):
        return _no_such_command(words[0])
    parser = build_parser(command)
    args = parsed(parser, words)
    if args.version:
        from hookline import __version__

        return show(f"hookline {__version__}")
    if command is None:
        parser.print_help()
        return ExitStatus.PROBLEM
    if command not in _FIND_HOME or getattr(args, "action", "run") != "run":
        _find_home(getattr(args, "home", None))
    args.screen, args.console = screen, console
    status: int | Coroutine[Any, Any, int] = import_module(f"hookline.cli.commands.{command}.run").run(args)
    if isinstance(status, int):
        return status
    # Only here: not every command needs a loop.
    import asyncio

    return asyncio.run(status)


def _find_home(named: str | None) -> None:
    """Decide on the home directory before anything below it is read or written. Raises HomeError."""
    import os

    from hookline.config.home import home_by_hand, named_home

    home = home_by_hand(os.environ) if named is None else named_home(named)
    if home.remark:
        from hookline.model.safe_text import printable

        note(printable(f"hookline: {home.remark}"))
    os.environ["HOME"] = home.path


def parsed(parser: "CommandParser", words: Sequence[str]) -> "argparse.Namespace":
    """Parse the words. argparse takes positional words from one stretch only; those after an option count as well."""
    args, rest = parser.parse_known_args(words)
    if rest and (not hasattr(args, "words") or any(word.startswith("-") for word in rest)):
        (parser.of_command or parser).error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.words = [*args.words, *rest]
    return args


def _no_such_command(word: str) -> ExitStatus:
    from hookline.matching.nearest import nearest
    from hookline.model.safe_text import one_line

    meant = nearest(word[:100], COMMANDS)
    hint = f"did you mean {meant!r}?" if meant else "`hookline --help` lists them"
    note(one_line(f"hookline: unknown command {word[:100]!r}; {hint}", 300))
    return ExitStatus.PROBLEM


def _failed(command: str | None, problem: Exception) -> ExitStatus:
    """Report an impossible request, or a failure of Hookline itself."""
    from hookline.model.errors import ConfigError, HooklineError, UnknownEventError
    from hookline.model.safe_text import printable

    if not isinstance(problem, HooklineError):
        return _broke(problem)
    text = str(problem)
    if isinstance(problem, ConfigError) and not any(one.where.file for one in problem.diagnostics):
        text = "; ".join(one.message for one in problem.diagnostics)
    if isinstance(problem, UnknownEventError) and problem.nearest is None:
        text += "; `hookline events` lists them"
    note(printable(f"hookline {command}: {text}" if command else f"hookline: {text}"))
    return ExitStatus.PROBLEM


def _broke(problem: Exception) -> ExitStatus:
    import os
    import traceback

    from hookline.model.safe_text import one_line, printable

    if os.environ.get("HOOKLINE_TRACEBACK"):
        note(printable("".join(traceback.format_exception(problem)).rstrip()))
    last = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    what = f"{type(problem).__name__}: {problem}"
    note(
        one_line(
            f"hookline: broke ({where}: {what}); please report it, with the output of HOOKLINE_TRACEBACK=1",
            500,
        )
    )
    return ExitStatus.PROBLEM


def command_parser(commands: Any, name: str, description: str, epilog: str) -> Any:
    """Return the parser of one command; its line in `hookline --help` is in `config/commands.py`.

    A command may replace an option, such as `--help`, by one of its own.
    """
    return commands.add_parser(
        name, description=description, epilog=epilog, formatter_class=help_format, conflict_handler="resolve"
    )


def add_source_options(parser: Any) -> None:
    """Add --config, --dialect and --cwd, which choose hooks."""
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="read exactly these files (repeatable)"
    )
    parser.add_argument(
        "--dialect", metavar="NAME", help="only this agent's hooks, with its event names and tools"
    )
    parser.add_argument("--cwd", metavar="DIR", help="where the agent would be (default: here)")


def add_event_options(parser: Any) -> None:
    """Add EVENT [TOOL] [key=value ...] and --payload: one event with its payload, as `requests` reads it."""
    parser.add_argument("words", nargs="*", metavar="EVENT [TOOL] [key=value | key:=JSON ...]")
    parser.add_argument("--payload", metavar="FILE", help="the event as JSON; - reads standard input")
    parser.add_argument("--as", dest="caller", metavar="NAME", help="a call with this agent's tools")


def add_history_options(parser: Any, since: str) -> None:
    """Add --since and --from, which choose past sessions."""
    parser.add_argument(
        "--since", metavar="WHEN", default=since, help=f"90s, 2h, 7d, 2026-01-02, or all (default {since})"
    )
    parser.add_argument(
        "--from",
        action="append",
        dest="sources",
        metavar="PATH",
        help="these transcripts or directories of them, instead of those that your agents keep (repeatable)",
    )


def add_host_option(parser: Any) -> None:
    """Add the option that puts the network wall around commands."""

    def host(text: str) -> str:
        from argparse import ArgumentTypeError

        from hookline.execguard.walls.network import wrong_host

        if wrong := wrong_host([text]):
            raise ArgumentTypeError(wrong)
        return text

    what = "commands connect to loopback and to this host only (repeatable; Linux 6.7)"
    parser.add_argument("--only-host", action="append", type=host, metavar="HOST", help=what)


def add_hook_option(parser: Any) -> None:
    parser.add_argument(
        "--hook", action="append", metavar="EVENT=COMMAND", help="one more command hook (repeatable)"
    )


def add_home_option(parser: Any) -> None:
    parser.add_argument("--home", metavar="DIR", help=HOME_HELP)


def add_strict_option(parser: Any) -> None:
    parser.add_argument("--strict", action="store_true", help=STRICT_HELP)


def add_operations_options(parser: Any) -> None:
    """Add --ops-port, --ops-host and --log."""
    parser.add_argument(
        "--ops-port",
        metavar="N",
        type=int,
        help="answer /healthz, /readyz and /metrics there, without a token",
    )
    parser.add_argument(
        "--ops-host", metavar="ADDRESS", default="127.0.0.1", help="at this address (127.0.0.1)"
    )
    parser.add_argument(
        "--log", choices=("text", "json"), default="text", help="how to write what happens (default text)"
    )


def add_trust_option(parser: Any) -> None:
    parser.add_argument("--trust", action="store_true", help="trust this project for this run")


def add_model_option(parser: Any) -> None:
    parser.add_argument("--model", metavar="NAME", help="answers prompt hooks; scripted:FILE plays a list")


def add_json_option(parser: Any, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=what)
