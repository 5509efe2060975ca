"""`hookline rule`: rules in the native file, from shadow to enforce."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

ACTIONS = ("add", "list", "promote", "demote", "off")

_DESCRIPTION = """Rules of Hookline's own file. A rule in shadow is asked and recorded, and stops nothing; `promote`
shows what it would have done since, asks, and puts it in force. The file keeps its comments and its layout.

  add NAME RULE    write a rule: deny, ask or allow, and a tool call or the name of a guard
  list             the rules and hooks of Hookline's own files here, and what they have said
  promote NAME     put it in force
  demote NAME      back to shadow
  off NAME         switch it off"""

_EPILOG = """examples:
  hookline rule add no-force-push 'deny Bash(git push --force*)' --mode shadow
  hookline rule add secrets 'ask secrets-read' --user
  hookline rule list
  hookline rule promote no-force-push
  hookline rule off no-force-push --json

exit status: 0 done, 1 nothing was changed, or a usage error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "rule", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="add|list|promote|demote|off [NAME] [RULE]")
    parser.add_argument("--mode", choices=("enforce", "shadow"), default="enforce", help="of a new rule")
    parser.add_argument("--user", action="store_true", help="in your own file instead of the project's")
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    parser.add_argument("--yes", action="store_true", help="promote without asking")
    add_json_option(parser, "what was done, or the list, as JSON")
