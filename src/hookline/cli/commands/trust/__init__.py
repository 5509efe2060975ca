"""`hookline trust`: what a project would run, and the user's yes to it."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Show everything that this project and the plugins in use bring that runs something or loosens what you
decided, what each may do, and ask once whether you trust it. Nothing is run. What you trusted is
trusted exactly as it was: when an entry or a script that it names changes, that entry is asked about
again. Hooks of your own and those of --config need no trust.

Without a terminal nothing is asked; --yes HASHES, as printed, trusts exactly what was shown."""

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
    what.add_argument("--yes", metavar="HASHES", help="trust what these hashes name, without a question")
    what.add_argument("--diff", action="store_true", help="what changed since you trusted it")
    what.add_argument("--list", action="store_true", help="the projects in which you trusted something")
    what.add_argument(
        "--revoke", nargs="?", const="", metavar="DIR", help="forget what you trusted in a project"
    )
    add_json_option(parser, "the same facts as JSON; nothing is asked")
