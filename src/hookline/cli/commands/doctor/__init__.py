"""Check that hooks are alive: `hookline doctor`. It runs no hook, and changes files only with --fix."""

from typing import Any

from hookline.cli.main import add_json_option, add_source_options, add_trust_option, command_parser

_DESCRIPTION = """Show in which agents Hookline is installed and when they last called it. Then find every configuration
of every agent for this directory and user, and report findings: hooks that never run, that cannot
start, that guard nothing. No hook is run, and no file is changed without --fix."""

_EPILOG = """examples:
  hookline doctor
  hookline doctor --dialect claude-code
  hookline doctor --config .claude/settings.json --json
  hookline doctor --fix
  hookline doctor --ci --format github --baseline doctor.json

A finding that is fine can be accepted by its name, in ~/.config/hookline/hooks.toml:
  accept = ["fails-open:audit"]

exit status: 0 no errors (there may be warnings), 1 an error was found, or nothing is configured and it is
not --ci; with --cwd only errors in files of that project count"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "doctor", _DESCRIPTION, _EPILOG)
    add_source_options(parser)
    add_trust_option(parser)
    parser.add_argument("--strict-warnings", action="store_true", help="exit 1 for warnings as well")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--fix", action="store_true", help="mend what is certain: shows the change, and asks"
    )
    instead.add_argument("--undo", action="store_true", help="restore the files of the last --fix")
    add_json_option(instead, "print the findings as JSON")
    instead.add_argument(
        "--format",
        choices=("text", "sarif", "github", "junit"),
        default="text",
        help="how findings are printed (default text)",
    )
    parser.add_argument("--ci", action="store_true", help="check only files of the project, not this machine")
    parser.add_argument(
        "--baseline", metavar="FILE", help="leave out findings that an earlier document of --json has"
    )
    parser.add_argument("--yes", action="store_true", help="with --fix: write without a question")
