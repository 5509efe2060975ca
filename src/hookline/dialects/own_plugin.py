"""Describe Hookline as a plugin of an agent: its hooks, a skill to write hooks, and an MCP server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.dialects.entries import as_json

NAME = "hookline"
_DESCRIPTION = "Guards for this agent, and a skill to write and test hooks"
_SKILL = "write-hooks"


class OwnPlugin(Struct, frozen=True):
    """The layout of a plugin in an agent's own form."""

    #: Below the agent's directory in the user's home.
    directory: str
    #: The file that makes it a plugin, and its content, by the version and the MCP servers.
    manifest: str
    manifest_value: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
    hooks: str = "hooks/hooks.json"
    #: The file for MCP servers, where the manifest does not hold them.
    servers: str = ""

    def texts(self, program: Sequence[str]) -> Mapping[str, str]:
        """Return its files but for the hooks, by path. `program` starts Hookline."""
        from importlib.resources import files  # noqa: PLC0415 only to install: it loads a dozen modules

        from hookline import __version__  # noqa: PLC0415 only to install

        command, *words = program or (NAME,)
        servers = {NAME: {"command": command, "args": [*words, "mcp"]}}
        found = {
            self.manifest: f"{as_json(self.manifest_value(__version__, servers))}\n",
            f"skills/{_SKILL}/SKILL.md": files("hookline.dialects")
            .joinpath("write_hooks_skill.md")
            .read_text("utf-8"),
        }
        return found | ({self.servers: f"{as_json({'mcpServers': servers})}\n"} if self.servers else {})


def about(version: str) -> dict[str, Any]:
    """Return the fields that every manifest has."""
    return {"name": NAME, "version": version, "description": _DESCRIPTION, "author": {"name": "Hookline"}}
