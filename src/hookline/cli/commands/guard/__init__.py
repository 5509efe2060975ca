"""Add, watch, enforce and remove guards: `hookline guard`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Change the guards in Hookline's own file. The file keeps its comments and its layout, and Hookline
trusts what it writes.

  add                 list the built-in guards, with what each would have stopped in your past sessions
  add recommended     add the guards that stop most for the fewest false alarms
  add BUILTIN [ARG …] add a built-in guard, and show its decision on two commands
  add forbid-path PATH …, forbid-host HOST …, forbid-command COMMAND …
                      forbid them to every tool and the shell
  add NAME RULE       add a rule of your own: deny, ask or allow, and a tool call or a built-in guard
  test LINE           what would the guards here say about this shell line?
  list                the hooks of Hookline's own files here, and their decisions
  promote NAME        enforce it: shows what it would have done in shadow, and asks
  demote NAME         to shadow: it runs and is recorded, but stops nothing
  off NAME            switch it off
  remove NAME         take it out of the file
  pause NAME          let calls past it for a while: asks you at a terminal, is recorded, ends by itself
  resume NAME         end the pause

NAME may be recommended: all of those that are here."""

_EPILOG = """examples:
  hookline guard add                              which ones are there?
  hookline guard add recommended --user           five of them, in every project
  hookline guard add recommended --shadow         only record what they would stop
  hookline guard test 'git push --force'
  hookline guard add secrets-read ask --user      ask you, in every project
  hookline guard add forbid-path ~/.ssh ~/.aws --read --write --user
  hookline guard add clusters 'ask Bash(kubectl *)' --shadow
  hookline guard add force-push --tests           and tests/test_hooks.py, for pytest
  hookline guard list
  hookline guard promote clusters
  hookline guard remove clusters --json
  hookline guard pause force-push --for 10m

exit status: 0 done, 1 nothing was changed, the guard does not work, or a usage error, 2 test: it is denied"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "guard", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "words",
        nargs="*",
        metavar="add|test|list|promote|demote|off|remove|pause|resume [NAME] [RULE | ARG ...]",
    )
    parser.add_argument("--user", action="store_true", help="in your own file instead of the project's")
    parser.add_argument(
        "--read", action="store_true", help="add forbid-path: only reading, or both with --write"
    )
    parser.add_argument(
        "--write", action="store_true", help="add forbid-path: only writing and deleting, or both"
    )
    parser.add_argument("--shadow", action="store_true", help="add: run and record it, but stop nothing")
    parser.add_argument(
        "--tests",
        action="store_true",
        help="add: also write tests/test_hooks.py; without a guard, only that",
    )
    parser.add_argument(
        "--for",
        dest="duration",
        metavar="TIME",
        help="pause: for this long, such as 90s, 10m or 2h (default 10m)",
    )
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    parser.add_argument("--yes", action="store_true", help="promote: do not ask")
    add_json_option(parser, "the change, or the list, as JSON")
