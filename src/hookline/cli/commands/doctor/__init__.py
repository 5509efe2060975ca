"""`hookline doctor`: are my hooks alive? Looks at every configuration there is, runs nothing, changes nothing."""

from typing import Any

from hookline.cli.main import add_json_option, add_source_options, add_trust_option, command_parser

_DESCRIPTION = """Find every configuration of every agent for this directory and user, and say what is wrong with it:
hooks that never run, that cannot start, that fail open. No hook is run and no file is changed."""

_EPILOG = """examples:
  hookline doctor
  hookline doctor --dialect claude-code
  hookline doctor --config .claude/settings.json --json

A finding that is fine can be accepted by its name, in ~/.config/hookline/hooks.toml:
  accept = ["fails-open:audit"]

exit status: 0 no errors (there may be warnings), 1 an error was found or nothing is configured; with
--cwd only errors in files of that project count"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "doctor", _DESCRIPTION, _EPILOG)
    add_source_options(parser)
    add_trust_option(parser)
    parser.add_argument("--strict-warnings", action="store_true", help="exit 1 for warnings as well")
    add_json_option(parser, "print the findings as JSON")
