"""The tools of servers as tools of the agent: `mcp__server__tool`."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.agent.mcp.arguments import arguments_problem
from hookline.agent.mcp.connection import Connection, ServerError
from hookline.agent.tooling import Category, ToolError, ToolReply, Workplace

if TYPE_CHECKING:
    from hookline.agent.mcp.client import Offered

_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
#: No provider takes longer names.
_LONGEST_NAME = 128
_LONGEST_DESCRIPTION = 8000
_LARGEST_SCHEMA = 100_000
_MOST_TOOLS = 500
_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}


class McpTool:
    """A tool of a server. It holds no connection: calls go to whatever the server's connection is then."""

    category: Category = "mcp"
    callers: frozenset[str] | None = None

    def __init__(self, name: str, connection: Connection, offered: "Offered") -> None:
        self.name = name
        self.description = (
            offered.description[:_LONGEST_DESCRIPTION] or f"{offered.name} of {connection.spec.name}"
        )
        self.schema: Mapping[str, Any] = offered.schema or _NO_ARGUMENTS
        self._connection = connection
        self._called = offered.name

    @property
    def mcp_server(self) -> Mapping[str, Any]:
        """Whose it is, for hooks."""
        return {"name": self._connection.spec.name, "source": self._connection.spec.source}

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        return arguments_problem(self.schema, arguments)

    async def run(self, arguments: Mapping[str, Any], place: Workplace) -> ToolReply:
        del place
        try:
            result = await self._connection.call(self._called, arguments)
        except ServerError as problem:
            raise ToolError(str(problem)) from None
        if result.is_error:
            raise ToolError(result.text or f"{self.name} reports an error and says nothing about it")
        return ToolReply(text=result.text or "(no output)", response=list(result.blocks))


def tools_of(connection: Connection, report: Callable[[str], None]) -> Iterator[McpTool]:
    """What the agent can offer of a server's tools; what it cannot is said."""
    server = connection.spec.name
    taken: set[str] = set()
    for offered in connection.tools[:_MOST_TOOLS]:
        name = full_name(server, offered.name)
        if name in taken:
            report(
                f"the MCP server {server} has two tools that come to be called {name}; the second is left out"
            )
        elif len(name) > _LONGEST_NAME:
            report(f"the tool {name[:60]}… of the MCP server {server} is left out: its name is too long")
        elif not _fits(offered.schema):
            report(f"the tool {name} is left out: its schema is no object, or too large")
        else:
            taken.add(name)
            yield McpTool(name, connection, offered)
    if len(connection.tools) > _MOST_TOOLS:
        report(
            f"the MCP server {server} has {len(connection.tools)} tools; the first {_MOST_TOOLS} are offered"
        )


def full_name(server: str, tool: str) -> str:
    return f"mcp__{_UNFIT.sub('_', server)}__{_UNFIT.sub('_', tool)}"


def _fits(schema: Mapping[str, Any]) -> bool:
    try:
        return (
            len(msgspec.json.encode(schema)) <= _LARGEST_SCHEMA and schema.get("type", "object") == "object"
        )
    except (TypeError, ValueError, RecursionError):
        return False
