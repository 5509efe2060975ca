"""What the parsers of all commands have in common. Imported by `hookline --help`, so nothing here may be slow."""

import argparse
from typing import Any

from hookline.cli.output import columns


def help_format(prog: str) -> argparse.HelpFormatter:
    """Keeps the line breaks of our texts, and does not ask shutil for the width."""
    return argparse.RawDescriptionHelpFormatter(prog, width=min(columns(100), 110))


def command_parser(commands: Any, name: str, description: str, epilog: str) -> Any:
    """The parser of one command; its line in `hookline --help` is in `main.COMMANDS`."""
    return commands.add_parser(name, description=description, epilog=epilog, formatter_class=help_format)


def add_source_options(parser: Any) -> None:
    """--config, --dialect and --cwd: which hooks a command is about."""
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="read exactly these files (repeatable)"
    )
    parser.add_argument("--dialect", metavar="NAME", help="only this agent's hooks, and its event names")
    parser.add_argument("--cwd", metavar="DIR", help="where the agent would be (default: here)")


def add_event_options(parser: Any) -> None:
    """EVENT [TOOL] [key=value ...] and --payload: one event with its payload, as `requests` reads it."""
    parser.add_argument("words", nargs="*", metavar="EVENT [TOOL] [key=value | key:=JSON ...]")
    parser.add_argument("--payload", metavar="FILE", help="the event as JSON; - reads standard input")


def add_hook_option(parser: Any) -> None:
    parser.add_argument(
        "--hook", action="append", metavar="EVENT=COMMAND", help="one more command hook (repeatable)"
    )


def add_model_option(parser: Any) -> None:
    parser.add_argument("--model", metavar="NAME", help="answers prompt hooks; scripted:FILE plays a list")


def add_json_option(parser: Any, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=what)
