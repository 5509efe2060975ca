"""Options that mean the same in every command. Nothing here may be slow to import."""

from typing import Any


def add_source_options(parser: Any) -> None:
    """--config, --dialect and --cwd, with the same meaning everywhere."""
    parser.add_argument(
        "--config", action="append", metavar="FILE", help="read exactly these files (repeatable)"
    )
    parser.add_argument("--dialect", metavar="NAME", help="only this agent's hooks, and its event names")
    parser.add_argument("--cwd", metavar="DIR", help="where the agent would be (default: here)")
