"""Manage all MCP servers of a session, and their tools: `mcp__server__tool`. Hooks call them, too."""

import asyncio
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.agent.mcp.config import ServerSpec
from hookline.agent.mcp.connection import ServerConnection, ServerError, ServerSetup
from hookline.agent.mcp.schema import arguments_problem
from hookline.agent.tools.base import Category, ToolOutput, Workplace
from hookline.handlers.mcp_tool import McpReply
from hookline.matching.nearest import nearest
from hookline.model.errors import ToolError

if TYPE_CHECKING:
    from hookline.agent.mcp.client import OfferedTool


_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
#: No provider takes longer names.
_LONGEST_NAME = 128
_LONGEST_DESCRIPTION = 8000
_LARGEST_SCHEMA = 100_000
_MOST_TOOLS = 500
#: Seconds.
_FIRST_WAIT = 5.0
_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}


class McpTool:
    """A tool of a server. A call goes through the server's connection, whatever state that is in."""

    category: Category = "mcp"
    callers: frozenset[str] | None = None

    def __init__(self, name: str, connection: ServerConnection, offered: "OfferedTool") -> None:
        self.name = name
        self.description = (
            offered.description[:_LONGEST_DESCRIPTION] or f"{offered.name} of {connection.spec.name}"
        )
        self.schema: Mapping[str, Any] = offered.schema or _NO_ARGUMENTS
        self._connection = connection
        self._called = offered.name

    @property
    def mcp_server(self) -> Mapping[str, Any]:
        """The server of the tool, as hooks get it."""
        return {"name": self._connection.spec.name, "source": self._connection.spec.source}

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        return arguments_problem(self.schema, arguments)

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        del workplace
        try:
            result = await self._connection.call(self._called, arguments)
        except ServerError as problem:
            raise ToolError(str(problem)) from None
        if result.is_error:
            raise ToolError(result.text or f"{self.name} reports an error without a message")
        return ToolOutput(text=result.text or "(no output)", response=list(result.blocks))


def tools_of(connection: ServerConnection) -> Iterator[McpTool]:
    """Yield the tools of a server that can be offered; the others are reported."""
    server, report = connection.spec.name, connection.report
    taken: set[str] = set()
    for offered in connection.tools[:_MOST_TOOLS]:
        name = full_name(server, offered.name)
        if name in taken:
            report(f"the MCP server {server} has two tools named {name}; the second is not offered")
        elif len(name) > _LONGEST_NAME:
            report(f"the tool {name[:60]}… of the MCP server {server} is not offered: its name is too long")
        elif not _usable(offered.schema):
            report(f"the tool {name} is not offered: its schema is not an object, or too large")
        else:
            taken.add(name)
            yield McpTool(name, connection, offered)
    if len(connection.tools) > _MOST_TOOLS:
        report(
            f"the MCP server {server} has {len(connection.tools)} tools; the first {_MOST_TOOLS} are offered"
        )


def full_name(server: str, tool: str) -> str:
    return f"mcp__{_UNFIT.sub('_', server)}__{_UNFIT.sub('_', tool)}"


def _usable(schema: Mapping[str, Any]) -> bool:
    try:
        return (
            len(msgspec.json.encode(schema)) <= _LARGEST_SCHEMA and schema.get("type", "object") == "object"
        )
    except (TypeError, ValueError, RecursionError):
        return False


class McpServers:
    """Servers of a session. Made before it, because the handlers of hooks need it; the session configures it."""

    def __init__(self) -> None:
        self._connections: dict[str, ServerConnection] = {}
        self._untrusted: frozenset[str] = frozenset()
        self._setup: ServerSetup | None = None
        #: Seconds that the first prompt waits for servers. The tools of slower ones join later.
        self.first_wait = _FIRST_WAIT
        self._following: set[asyncio.Task[None]] = set()

    def configure(
        self, specs: Sequence[ServerSpec], setup: ServerSetup, untrusted: Collection[str] = ()
    ) -> None:
        """Configure a new session. The servers of an earlier session must have been closed.

        `untrusted` are the names of servers that are not started, because the user has not trusted them.
        """
        self._setup = setup
        self._untrusted = frozenset(untrusted)
        self._connections = {spec.name: ServerConnection(spec, setup) for spec in specs}

    @property
    def untrusted(self) -> frozenset[str]:
        """The names of servers that are not started for lack of trust."""
        return self._untrusted

    @property
    def connections(self) -> Sequence[ServerConnection]:
        return tuple(self._connections.values())

    def start(self, ready: Callable[[Sequence[McpTool]], None]) -> None:
        """Start all at once. `ready` is called with the tools of each server once it is connected."""
        for connection in self._connections.values():
            task = asyncio.create_task(self._follow(connection, ready))
            self._following.add(task)
            task.add_done_callback(self._following.discard)

    async def settle(self) -> None:
        """Wait until every server is connected or has failed, at most `first_wait` seconds."""
        if not self._following:
            return
        # The time our own packages take to load does not count: on a busy machine it is seconds.
        await asyncio.gather(*(each.client_loaded.wait() for each in self._connections.values()))
        if self._following:  # those that cannot be started are done already
            await asyncio.wait(self._following, timeout=self.first_wait)
        late = [each.spec.name for each in self._connections.values() if each.state == "connecting"]
        if late and self._setup is not None:
            self._setup.report(f"not connected yet: MCP {_plural(late)}; the tools join when it answers")

    async def call_tool(self, server: str, tool: str, arguments: Mapping[str, Any]) -> McpReply:
        """Call a tool for a hook. Raises ServerError when the server cannot be called."""
        connection = self._connections.get(server)
        if connection is None and server in self._untrusted:
            raise ServerError(
                f"the MCP server {server!r} is not started: you have not trusted it; run `hookline trust`"
            )
        if connection is None:
            close = nearest(server, self._connections)
            known = ", ".join(self._connections) or "none"
            hint = f"did you mean {close!r}?" if close else f"configured: {known}"
            raise ServerError(f"the MCP server {server!r} is not configured; {hint}")
        result = await connection.call(tool, arguments)
        return McpReply(result.text, result.is_error)

    async def close(self) -> None:
        for task in self._following:
            task.cancel()
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))

    async def _follow(self, connection: ServerConnection, ready: Callable[[Sequence[McpTool]], None]) -> None:
        try:
            await asyncio.shield(connection.begin())
        except ServerError:
            return  # the connection has reported why
        ready(tuple(tools_of(connection)))


def _plural(names: Sequence[str]) -> str:
    return f"server {names[0]}" if len(names) == 1 else f"servers {', '.join(names)}"
