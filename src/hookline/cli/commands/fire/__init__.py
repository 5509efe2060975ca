"""`hookline fire`: run the real hooks on one event and show what they did."""

from typing import Any

from hookline.cli.main import (
    add_event_options,
    add_hook_option,
    add_json_option,
    add_model_option,
    add_source_options,
    add_strict_option,
    add_trust_option,
    command_parser,
)

_DESCRIPTION = """Run the real hooks on one event and show each hook, why it ran or did not, and the outcome.

EVENT is a name of the event table; with --payload it may be left out. After TOOL, key=value sets
tool_input.key, otherwise a field of the payload. Text stays the text as typed, unless the field
takes none (turn=3); key:=JSON sets a number, a list, an object, true, false or null anywhere."""

_EPILOG = """examples:
  hookline fire PreToolUse Bash command='git push --force'
  hookline fire PreToolUse Read file_path=notes.md limit:=20
  hookline fire UserPromptSubmit prompt='hello'
  hookline fire --payload event.json --config hooks.toml --json
  hookline fire Stop --hook Stop='notify-send done'
  hookline fire PreToolUse Bash command='rm -rf /' --dry-run
  hookline fire PreToolUse read_file path=.env --as reasonix

exit status: 0 fine, 2 blocked or denied, 1 a usage or configuration error, or a hook that is not
trusted would have run (`hookline trust`)"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "fire", _DESCRIPTION, _EPILOG)
    add_event_options(parser)
    add_source_options(parser)
    add_trust_option(parser)
    add_model_option(parser)
    add_hook_option(parser)
    add_strict_option(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and run nothing")
    add_json_option(parser, "print the outcome as JSON")
