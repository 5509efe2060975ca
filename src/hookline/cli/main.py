"""From words on the command line to one command, and from whatever happens there to an exit status."""

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from hookline.cli.output import settle_streams, show, tell
from hookline.cli.width import help_format

#: 0 fine; 1 a problem found, or a usage or configuration error; 2 `fire` was blocked; 130 interrupted.
FINE, PROBLEM, BLOCKED, INTERRUPTED = 0, 1, 2, 130

_EPILOG = """examples:
  hookline fire PreToolUse Bash command='git push --force'
  hookline fire SessionStart source=resume --json
  hookline events PreToolUse
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] argparse says NoReturn; so do we, with our own status
        tell(f"{self.format_usage()}{self.prog}: {message}")
        self.exit(PROBLEM)

    def print_help(self, file: Any = None) -> None:
        del file  # help is what was asked for, so it is always the answer on stdout
        if status := show(self.format_help().rstrip("\n")):
            self.exit(status)


#: A command is the module of that name; its line here is all that `hookline --help` needs of it.
COMMANDS: Mapping[str, str] = {
    "fire": "run the hooks on one event",
    "events": "list the events, or show all about one",
}


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """With the command that is wanted: one that runs does not pay for the others, nor does --help."""
    parser = _Parser(
        prog="hookline",
        description="Are my hooks alive, what would they do, and why?",
        epilog=_EPILOG,
        formatter_class=help_format,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    # With prog said, argparse need not format a usage line (and load shutil for it) to find it out.
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", prog="hookline")
    if command is not None:
        import_module(f"hookline.cli.{command}").add_parser(subparsers)
        return parser
    for name, line in COMMANDS.items():
        subparsers.add_parser(name, help=line, add_help=False)
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
    """Run one command. Expected trouble is one clear line and a status, never a traceback."""
    settle_streams()
    parser = build_parser(words[0] if words and words[0] in COMMANDS else None)
    args = _parsed(parser, words)
    if args.version:
        from importlib.metadata import version

        return show(f"hookline {version('hookline')}")
    if not hasattr(args, "run"):
        parser.print_help()
        return PROBLEM
    try:
        return int(args.run(args))
    except KeyboardInterrupt:
        tell("hookline: interrupted")
        return INTERRUPTED
