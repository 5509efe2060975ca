"""All MCP servers of a session: started together, waited for a little, called by tools and by hooks."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hookline.agent.mcp.connection import Connection, ServerError, Surroundings
from hookline.agent.mcp.questions import Answers, NobodyAnswers, ServerAnswer, ServerQuestion
from hookline.agent.mcp.specs import ServerSpec
from hookline.agent.mcp.tools import McpTool, tools_of
from hookline.handlers.mcp_tool import McpReply
from hookline.matching.nearest import nearest

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
