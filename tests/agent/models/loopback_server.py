"""A server on loopback that plays replies, and keeps what it was asked."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

from msgspec import Struct

from tests.handlers.servers import stop


class Asked(Struct, frozen=True):
    path: str
    headers: Mapping[str, str]
    body: Any


class Reply(Struct, frozen=True, kw_only=True):
    chunks: Sequence[bytes] = ()
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = {}
    #: How it ends: whole; the connection cut inside the body; left open for ever; the last chunk again and again.
    then: Literal["end", "cut", "hang", "repeat"] = "end"


def error(status: int, body: Any, **headers: str) -> Reply:
    return Reply(
        status=status, content_type="application/json", chunks=[json.dumps(body).encode()], headers=headers
    )


class Loopback:
    """`async with Loopback(reply, ...) as server`: each request gets the next reply, the last one for ever."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
        self.asked: list[Asked] = []
        #: Set when a client hung up during a reply.
        self.hung_up = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await stop(self._server)
        serving = list(self._open.values())
        for writer in list(self._open):
            writer.transport.abort()
        await asyncio.gather(*serving)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def over(task: asyncio.Task[None]) -> None:
            del task
            self._open.pop(writer)
            writer.close()  # here: a task that is cancelled before it begins runs nothing, no `finally` either

        self._open[writer] = asyncio.create_task(self._serve(reader, writer))
        self._open[writer].add_done_callback(over)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            key.lower(): value for key, _, value in (line.partition(": ") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.asked.append(Asked(head[0].split()[1], headers, json.loads(body) if body else None))
        return await self._play(self.reply_to(self.asked[-1]), reader, writer)

    def reply_to(self, asked: Asked) -> Reply:
        """Return the reply to a request. Override it for a server that thinks."""
        del asked
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    async def _play(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        lines = [
            f"HTTP/1.1 {reply.status} OK",
            f"Content-Type: {reply.content_type}",
            "Transfer-Encoding: chunked",
            *(f"{name.replace('_', '-')}: {value}" for name, value in reply.headers.items()),
        ]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for chunk in reply.chunks:
            await _send(writer, chunk)
        if reply.then == "cut":
            writer.transport.abort()
            return False
        if reply.then == "hang":
            await reader.read()  # returns when the client hangs up
            self.hung_up.set()
            return False
        while reply.then == "repeat":
            await _send(writer, reply.chunks[-1])
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _send(writer: asyncio.StreamWriter, chunk: bytes) -> None:
    writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
    await writer.drain()
    # Each chunk leaves on its own, so that a client sees a stream.
    await asyncio.sleep(0)
