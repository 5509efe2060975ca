"""From words on the command line to one command, and from whatever happens there to an exit status."""

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from hookline.cli.output import settle_streams, show, tell
from hookline.cli.terminal import help_format

#: 0 fine; 1 a problem found, or a usage or configuration error; 2 `fire` was blocked; 130 interrupted.
FINE, PROBLEM, BLOCKED, INTERRUPTED = 0, 1, 2, 130

_DESCRIPTION = """Are my hooks alive, what would they do, and why?

commands:
{commands}"""

_EPILOG = """examples:
  hookline doctor                                            are my hooks alive?
  hookline init                                              a first guard, shown at work
  hookline fire PreToolUse Bash command='git push --force'   what would my hooks say?
  hookline log --since 2h --decision deny                    what did they say?

`hookline COMMAND --help` shows the options of a command, with examples.
exit status: 0 fine, 1 a problem or a usage error, 2 `fire` was blocked, 130 interrupted"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] argparse says NoReturn; so do we, with our own status
        from hookline.model.safe_text import printable

        tell(printable(f"{self.format_usage()}{self.prog}: {message}"))
        self.exit(PROBLEM)

    def print_help(self, file: Any = None) -> None:
        del file  # help is what was asked for, so it is always the answer on stdout
        if status := show(self.format_help().rstrip("\n")):
            self.exit(status)


#: A command is the module of that name; its line here is all that `hookline --help` needs of it.
COMMANDS: Mapping[str, str] = {
    "doctor": "find every hook, and what is wrong with it",
    "list": "the hooks in force here, in the order they run",
    "fire": "run the hooks on one event",
    "explain": "why each hook would run, or would not",
    "events": "list the events, or show all about one",
    "schema": "the JSON Schemas of payloads, answers and config",
    "hook": "be one hook inside another agent",
    "init": "write a first guard and show it at work",
    "log": "what the hooks did, from the journal",
    "bench": "how long your hooks take",
    "agent": "a coding agent that fires every event",
    "completion": "print a completion script for your shell",
}


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """With the command that is wanted: one that runs does not pay for the others, nor does --help."""
    parser = _Parser(
        prog="hookline",
        usage="hookline [-h] [--version] COMMAND ...",
        description=_DESCRIPTION.format(
            commands="\n".join(f"  {name:11} {line}" for name, line in COMMANDS.items())
        ),
        epilog=_EPILOG,
        formatter_class=help_format,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    if command is not None:
        # With prog said, argparse need not format a usage line (and load shutil for it) to find it out.
        subparsers = parser.add_subparsers(metavar="COMMAND", prog="hookline")
        import_module(f"hookline.cli.commands.{command}").add_parser(subparsers)
    return parser


def _parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """argparse takes words for one stretch only; those after an option are words all the same."""
    args, rest = parser.parse_known_args(words)
    if rest and (not hasattr(args, "words") or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.words = [*args.words, *rest]
    return args


def run(words: Sequence[str]) -> int:
    """Run one command. Whatever happens is one clear line and a status, never a traceback."""
    settle_streams()
    try:
        return _run(words)
    except KeyboardInterrupt:
        tell("hookline: interrupted")
        return INTERRUPTED
    except Exception as problem:  # noqa: BLE001 - a command that breaks must still end in a status and a line
        return _broke(problem)


def _run(words: Sequence[str]) -> int:
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        return _no_such_command(words[0])
    parser = build_parser(words[0] if words and words[0] in COMMANDS else None)
    args = _parsed(parser, words)
    if args.version:
        from hookline import __version__

        return show(f"hookline {__version__}")
    if not hasattr(args, "run"):
        parser.print_help()
        return PROBLEM
    return int(args.run(args))


def _no_such_command(word: str) -> int:
    from hookline.matching.nearest import nearest
    from hookline.model.safe_text import one_line

    meant = nearest(word[:100], COMMANDS)
    hint = f"did you mean {meant!r}?" if meant else "`hookline --help` lists them"
    tell(one_line(f"hookline: there is no command {word[:100]!r}; {hint}", 300))
    return PROBLEM


def _broke(problem: Exception) -> int:
    import os
    import traceback

    from hookline.model.safe_text import one_line, printable

    if os.environ.get("HOOKLINE_TRACEBACK"):
        tell(printable("".join(traceback.format_exception(problem)).rstrip()))
    last = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    what = f"{type(problem).__name__}: {problem}"
    tell(
        one_line(
            f"hookline: broke ({where}: {what}); please report it, with what HOOKLINE_TRACEBACK=1 shows", 500
        )
    )
    return PROBLEM
