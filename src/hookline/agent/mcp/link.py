"""Between the streams of the `mcp` package and the process of a server.

Imported with the first server: the packages are heavy. The package's own link is not used: it keeps lines of
any length, ends on the first byte that is no text, and hands servers the environment of this process.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from hookline.agent.mcp.server_process import ServerEndedError, ServerProcess
from hookline.handlers.failures import shortened

_LONGEST_SHOWN = 120
_MOST_GARBAGE = 4 << 20

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class Heard:
    """What a server printed that was no message: often a greeting, sometimes the reason why nothing works."""

    def __init__(self) -> None:
        #: The first of it.
        self.garbage = ""
        self._bytes = 0

    def understood(self) -> None:
        """Between messages a server may print what it likes, for as long as the session lasts."""
        self._bytes = 0

    def garbled(self, line: bytes) -> None:
        """Raises ServerEndedError when it was too much."""
        self.garbage = self.garbage or shortened(line.decode("utf-8", "replace"), _LONGEST_SHOWN)
        self._bytes += len(line) + 1
        if self._bytes > _MOST_GARBAGE:
            raise ServerEndedError(f"it printed more than {_MOST_GARBAGE >> 20} MB that are no message")


@asynccontextmanager
async def linked(process: ServerProcess, heard: Heard) -> AsyncGenerator[Streams]:
    """Streams for a client. They close when the process ends, so that nobody waits for an answer any more."""
    arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with arrived, aclosing(process.lines()) as lines:
            try:
                async for line in lines:
                    message = _message(line, heard)
                    if message is not None:
                        await arrived.send(message)
            except ServerEndedError as problem:
                heard.garbage = f"{heard.garbage!r}; {problem}" if heard.garbage else str(problem)
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


def _message(line: bytes, heard: Heard) -> SessionMessage | None:
    if not line.strip():
        return None
    if not line.lstrip().startswith(b"{"):
        heard.garbled(line)
        return None
    try:
        message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        heard.garbled(line)
        return None
    heard.understood()
    return message
