"""Remove Hookline from the files of agents: `hookline uninstall`."""

from typing import Any

from hookline.cli.commands.install import add_install_options
from hookline.cli.main import command_parser

_DESCRIPTION = """Remove Hookline's entries from the files of agents. A file without other changes since is restored
byte for byte; from others only our entries are removed. Your own hooks keep working.
Without AGENT, every agent it is installed in. Hookline shows the change and asks.

Entries that you wrote yourself, with options or as part of a longer line, are left and named."""

_EPILOG = """examples:
  hookline uninstall
  hookline uninstall codex --yes
  hookline uninstall --project

exit status: 0 it is not installed any more, 1 something still is, or a usage error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "uninstall", _DESCRIPTION, _EPILOG)
    add_install_options(parser, "remove without a question")
