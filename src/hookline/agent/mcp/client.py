"""Use the `mcp` package; no other module does. Imported with the first server: it takes a second.

A client lives in one task from beginning to end; calls come from any task. The package's own link to a
process is not used: it keeps lines of any length, stops at the first byte that is not text, and hands servers
the environment of this process.
"""

import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    Implementation,
    jsonrpc_message_adapter,
)

from hookline.agent.mcp.config import ServerSpec
from hookline.agent.mcp.connection import ServerResult, call_result
from hookline.agent.mcp.elicitation import ElicitationHandler, ServerAnswer, ServerQuestion
from hookline.agent.mcp.server_process import ServerEndedError, ServerProcess
from hookline.handlers.failures import shortened

_LONGEST_SHOWN = 120
#: Of a line that is not a message, only the beginning is read.
_CHUNK = 1 << 16
_MOST_GARBAGE = 4 << 20

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class StrayOutput:
    """Output of a server that is not a message: often a greeting, sometimes the reason why it does not work."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        self._hide = hide
        #: Its first line, without secrets.
        self.first = ""
        self._bytes = 0

    def message_seen(self) -> None:
        """Reset the limit at each message: a session may last for days."""
        self._bytes = 0

    def add(self, line: bytes) -> None:
        """Add a line. Raises ServerEndedError when it is too much."""
        if not self.first:
            self.first = shortened(self._hide(line[:_CHUNK].decode("utf-8", "replace")), _LONGEST_SHOWN)
        self._bytes += len(line) + 1
        if self._bytes > _MOST_GARBAGE:
            raise ServerEndedError(f"it printed more than {_MOST_GARBAGE >> 20} MB that is not a message")


@asynccontextmanager
async def process_streams(process: ServerProcess, stray: StrayOutput) -> AsyncGenerator[Streams]:
    """Return streams for a client. They close when the process ends, so that no call waits for ever."""
    arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with arrived, aclosing(process.lines()) as lines:
            try:
                async for line in lines:
                    message = _message(line, stray)
                    if message is not None:
                        await arrived.send(message)
            except ServerEndedError as problem:
                stray.first = f"{stray.first!r}; {problem}" if stray.first else str(problem)
                process.kill()
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return

    async def write() -> None:
        async with leaving:
            async for message in leaving:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await process.write(text.encode() + b"\n")
                except ServerEndedError:
                    await arrived.aclose()
                    return

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        try:
            yield incoming, outgoing
        finally:
            group.cancel_scope.cancel()
            for stream in (arrived, incoming, outgoing, leaving):
                stream.close()


def _message(line: bytes, stray: StrayOutput) -> SessionMessage | None:
    if not line.strip():
        return None
    if not line.lstrip().startswith(b"{"):
        stray.add(line)
        return None
    try:
        message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        stray.add(line)
        return None
    stray.message_seen()
    return message


_MOST_PAGES = 50


class OfferedTool:
    """A tool as a server describes it."""

    def __init__(self, tool: Any) -> None:
        self.name: str = tool.name
        self.description: str = tool.description or ""
        self.schema: Mapping[str, Any] = dict(tool.input_schema or {})


class ServerSession:
    """An open session with one server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> list[OfferedTool]:
        found: list[OfferedTool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found.extend(OfferedTool(tool) for tool in page.tools)
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ServerResult:
        return call_result(await self._client.call_tool(tool, dict(arguments)))


@contextlib.asynccontextmanager
async def connect(
    spec: ServerSpec, process: ServerProcess | None, stray: StrayOutput, answers: ElicitationHandler
) -> AsyncGenerator[ServerSession]:
    """Connect to a server and initialize the session."""
    _silence_logging()
    async with contextlib.AsyncExitStack() as stack:
        transport = _transport(spec, process, stray, stack)
        client = await stack.enter_async_context(
            Client(
                transport,
                client_info=Implementation(name="hookline", version="0.1.0"),
                elicitation_callback=_Questions(spec.name, answers),
            )
        )
        yield ServerSession(client)


def _transport(
    spec: ServerSpec, process: ServerProcess | None, stray: StrayOutput, stack: contextlib.AsyncExitStack
) -> AbstractAsyncContextManager[Any]:
    if process is not None:
        return process_streams(process, stray)
    if spec.kind == "sse":
        return sse_client(spec.url, headers=dict(spec.headers), timeout=spec.startup_timeout)
    http = httpx2.AsyncClient(
        headers=dict(spec.headers), timeout=httpx2.Timeout(spec.startup_timeout, read=None)
    )
    stack.push_async_callback(http.aclose)
    return streamable_http_client(spec.url, http_client=http)


class _Questions:
    """Forwarder of a server's questions."""

    def __init__(self, server: str, answers: ElicitationHandler) -> None:
        self._server = server
        self._answers = answers

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        del context
        answer = await self._answers.ask(self._question(params))
        return _result(answer)

    def _question(self, params: ElicitRequestParams) -> ServerQuestion:
        if isinstance(params, ElicitRequestURLParams):
            return ServerQuestion(
                server=self._server,
                message=params.message,
                mode="url",
                url=params.url,
                elicitation_id=params.elicitation_id,
            )
        return ServerQuestion(
            server=self._server, message=params.message, schema=dict(params.requested_schema)
        )


def _result(answer: ServerAnswer) -> ElicitResult:
    content = dict(answer.content) if answer.action == "accept" and answer.content is not None else None
    try:
        return ElicitResult(action=answer.action, content=content)
    except ValueError:  # values that a form cannot have
        return ElicitResult(action="cancel")


def _silence_logging() -> None:
    """Silence the package's log records: they would be printed unescaped, in the middle of the screen."""
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
