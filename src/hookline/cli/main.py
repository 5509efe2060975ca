"""From words on the command line to one command, and from whatever happens there to an exit status."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

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
        self.print_usage(sys.stderr)
        self.exit(PROBLEM, f"{self.prog}: {message}\n")


#: A command is the module of that name.
COMMANDS = ("fire", "events")


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """With the commands that are wanted: one that runs does not pay for the others."""
    parser = _Parser(
        prog="hookline",
        description="Are my hooks alive, what would they do, and why?",
        epilog=_EPILOG,
        formatter_class=help_format,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    # With prog said, argparse need not format a usage line (and load shutil for it) to find it out.
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", prog="hookline")
    for command in commands:
        import_module(f"hookline.cli.{command}").add_parser(subparsers)
    return parser


def run(words: Sequence[str]) -> int:
    """Run one command. Expected trouble is one clear line and a status, never a traceback."""
    named = [words[0]] if words and words[0] in COMMANDS else COMMANDS
    parser = build_parser(named)
    args = parser.parse_args(words)
    if args.version:
        from importlib.metadata import version

        print(f"hookline {version('hookline')}")
        return FINE
    if not hasattr(args, "run"):
        parser.print_help()
        return PROBLEM
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("hookline: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output had enough; a second failure while Python shuts down must stay silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    return status
