"""What the parsers of all commands have in common. Nothing here may be slow to import."""

from typing import Any

from hookline.cli.terminal import help_format


def command_parser(subparsers: Any, name: str, description: str, epilog: str) -> Any:
    """The parser of one command; the line that `hookline --help` shows of it stands in `main.COMMANDS`."""
    return subparsers.add_parser(name, description=description, epilog=epilog, formatter_class=help_format)


def add_source_options(parser: Any) -> None:
    """--config, --dialect and --cwd, with the same meaning everywhere."""
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="read exactly these files (repeatable)"
    )
    parser.add_argument("--dialect", metavar="NAME", help="only this agent's hooks, and its event names")
    parser.add_argument("--cwd", metavar="DIR", help="where the agent would be (default: here)")
