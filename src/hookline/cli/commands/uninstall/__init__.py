"""`hookline uninstall`: take Hookline out of the files of agents."""

from typing import Any

from hookline.cli.commands.install import add_install_options
from hookline.cli.main import command_parser

_DESCRIPTION = """Take Hookline's entries out of the files of agents. A file that nobody else has changed since becomes
what it was, byte for byte; from others only our entries are removed. Hooks of your own keep working.
Without AGENT, every agent it is installed in. The change is shown and asked about.

Entries that you wrote yourself, with options or as part of a longer line, are left and named."""

_EPILOG = """examples:
  hookline uninstall
  hookline uninstall codex --yes
  hookline uninstall --project

exit status: 0 it is not installed any more, 1 something still is, or a usage error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "uninstall", _DESCRIPTION, _EPILOG)
    add_install_options(parser, "remove without a question")
