"""`hookline bench`: what the user's own hooks cost."""

from typing import Any

from hookline.cli.main import (
    add_json_option,
    add_model_option,
    add_source_options,
    add_trust_option,
    command_parser,
)

_DESCRIPTION = """Run your hooks again and again on sample payloads and say how long they take: each hook, and
each event as a whole. The hooks really run, with all they do: --dry-run lists them, --only picks
some. Nothing is written to the journal. What takes long is measured fewer times (30 seconds for
each event, three rounds at least)."""

_EPILOG = """examples:
  hookline bench
  hookline bench PreToolUse --times 50
  hookline bench --only 'force push'
  hookline bench --dry-run
  hookline bench --config .claude/settings.json --json

exit status: 0 fine, 1 a hook failed, timed out or is not trusted, or a usage or configuration error,
130 interrupted"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "bench", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="EVENT", help="these events only, by any agent's name")
    add_source_options(parser)
    add_trust_option(parser)
    parser.add_argument(
        "--times", type=int, default=20, metavar="N", help="rounds (default 20, after 2 to warm up)"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="TEXT",
        help="hooks with this in their name; with / or : also in file:line",
    )
    parser.add_argument("--dry-run", action="store_true", help="list what would run, and on which payload")
    add_model_option(parser)
    add_json_option(parser, "print the figures as JSON")
