"""All MCP servers of a session: started together, waited for a little, called by tools and by hooks."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.agent.mcp.config import ServerSpec
from hookline.agent.mcp.connection import Connection, ServerError, Surroundings
from hookline.agent.mcp.elicitation import Answers, NobodyAnswers, ServerAnswer, ServerQuestion
from hookline.agent.mcp.schema import arguments_problem
from hookline.agent.tools.base import Category, ToolError, ToolReply, Workplace
from hookline.handlers.mcp_tool import McpReply
from hookline.matching.nearest import nearest

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


_FIRST_WAIT = 5.0


def _ignore(_told: object) -> None:
    pass


class McpServers:
    """Hooks are made before the session that configures the servers, so these are told of them later."""

    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}
        self._report: Callable[[str], None] = _ignore
        #: Who answers what servers ask.
        self.answers: Answers = NobodyAnswers()
        #: The first prompt waits no longer for servers; the tools of slower ones come when they come.
        self.first_wait = _FIRST_WAIT
        self._following: set[asyncio.Task[None]] = set()

    def configure(
        self, specs: Sequence[ServerSpec], surroundings: Surroundings, report: Callable[[str], None]
    ) -> None:
        """For the session that begins; one that was before must have been closed."""
        self._report = report
        self._connections = {spec.name: Connection(spec, surroundings, self, report) for spec in specs}

    @property
    def connections(self) -> Sequence[Connection]:
        return tuple(self._connections.values())

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        return await self.answers.ask(question)

    def start(self, ready: Callable[[Sequence[McpTool]], None]) -> None:
        """All at once. `ready` is told the tools of each server as soon as it can be called."""
        for connection in self._connections.values():
            task = asyncio.create_task(self._follow(connection, ready))
            self._following.add(task)
            task.add_done_callback(self._following.discard)

    async def settle(self) -> None:
        """Wait until every server is there or has failed, but not for ever."""
        if not self._following:
            return
        # Servers are not to blame for how long our own packages take to load, which on a busy machine is seconds.
        await asyncio.gather(*(each.client_loaded.wait() for each in self._connections.values()))
        await asyncio.wait(self._following, timeout=self.first_wait)
        late = [each.spec.name for each in self._connections.values() if each.state == "connecting"]
        if late:
            self._report(f"not there yet: MCP {_plural(late)}; the tools come when it answers")

    async def call_tool(self, server: str, tool: str, arguments: Mapping[str, Any]) -> McpReply:
        """For hooks. Raises ServerError when the server is not there."""
        connection = self._connections.get(server)
        if connection is None:
            close = nearest(server, self._connections)
            known = ", ".join(self._connections) or "none"
            hint = f"did you mean {close!r}?" if close else f"configured: {known}"
            raise ServerError(f"the MCP server {server!r} is not connected: nothing configures it; {hint}")
        result = await connection.call(tool, arguments)
        return McpReply(result.text, result.is_error)

    async def close(self) -> None:
        for task in self._following:
            task.cancel()
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))

    async def _follow(self, connection: Connection, ready: Callable[[Sequence[McpTool]], None]) -> None:
        try:
            await asyncio.shield(connection.begin())
        except ServerError:
            return  # the connection has said why
        ready(tuple(tools_of(connection, self._report)))


def _plural(names: Sequence[str]) -> str:
    return f"server {names[0]}" if len(names) == 1 else f"servers {', '.join(names)}"
