"""Explain why each hook of an event would run or would not: `hookline explain`."""

from typing import Any

from hookline.cli.main import (
    add_event_options,
    add_hook_option,
    add_json_option,
    add_source_options,
    add_strict_option,
    add_trust_option,
    command_parser,
)

_DESCRIPTION = """Explain why each hook would run on one event or would not: which files were read and which of them
decide, what each matcher is compared with, conditions, once, duplicates, and the rules each hook is
run by (its policy). Nothing is run.

The words are those of `hookline fire`: EVENT, for tool events TOOL, then key=value or key:=JSON. The last
lines say in which agents on this machine that holds; --dialect NAME takes an agent's own names."""

_EPILOG = """examples:
  hookline explain PreToolUse Bash command='git push --force'
  hookline explain Stop
  hookline explain turn_start
  hookline explain --payload event.json --json

exit status: 0 fine, 1 nothing is configured, a usage or configuration error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "explain", _DESCRIPTION, _EPILOG)
    add_event_options(parser)
    add_source_options(parser)
    add_trust_option(parser)
    add_hook_option(parser)
    add_strict_option(parser)
    add_json_option(parser, "the same facts as JSON")
