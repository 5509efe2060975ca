"""Let agents check and write hooks, as an MCP server: `hookline mcp`."""

from typing import Any

from hookline.cli.main import command_parser

_DESCRIPTION = """Run an MCP server on standard input and output. An agent that is asked to write a hook can look up
events and formats, see what is wrong, ask what would run, and test a guard before a person adds it.

It changes nothing: `write_guard` returns a proposal, and a person adds and trusts it. `fire` runs hooks for real, so it
is only there with `mcp_fire = true` in your own settings.toml."""

_EPILOG = """examples:
  hookline mcp              what an agent starts: add this command to the MCP servers in its settings

exit status: 0 the client left, 1 it could not be started"""


def add_parser(commands: Any) -> None:
    command_parser(commands, "mcp", _DESCRIPTION, _EPILOG)
