"""Show what a project would run, and let the user trust it: `hookline trust`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Show everything of this project and its active plugins that runs something or loosens your
settings, with what each may do, and ask once if you trust it. Nothing is run. Your trust covers
exactly what was shown: when an entry or a script that it names changes, Hookline asks about that
entry again. Your own hooks and those of --config need no trust.

Without a terminal it asks nothing; --yes HASHES, as printed, trusts exactly what was shown."""

_EPILOG = """examples:
  hookline trust
  hookline trust --diff
  hookline trust --yes 1f0c…,9b3e…
  hookline trust --list
  hookline trust --revoke ../old-project

exit status: 0 everything is trusted, 1 something is not, or a usage or configuration error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "trust", _DESCRIPTION, _EPILOG)
    parser.add_argument("--cwd", metavar="DIR", help="the project (default: here)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--yes", metavar="HASHES", help="trust the items with these hashes, without a question")
    what.add_argument("--diff", action="store_true", help="show what changed since you trusted it")
    what.add_argument("--list", action="store_true", help="the projects in which you trusted something")
    what.add_argument("--revoke", nargs="?", const="", metavar="DIR", help="withdraw your trust in a project")
    add_json_option(parser, "print the same as JSON, and ask nothing")
