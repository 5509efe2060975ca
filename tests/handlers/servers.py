"""Real loopback servers that can send any bytes, and remember what they were sent."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Seen:
    """One request as it came over the wire."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes
    raw: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


Answer = bytes | Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    url: str
    port: int
    connects: int = 0
    requests: list[Seen] = field(default_factory=list[Seen])


def response(body: bytes = b"{}", status: str = "200 OK", *more: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *more, "", ""]
    return "\r\n".join(lines).encode() + body


EMPTY_OBJECT = response()


@asynccontextmanager
async def serving(
    answer: Answer = EMPTY_OBJECT, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Server]:
    """A server for the length of a block. Bytes are sent as they are and the connection is kept."""
    server = Server("", 0)
    open_tasks: set[asyncio.Task[None]] = set()

    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connects += 1
        try:
            while (seen := await _request(reader)) is not None:
                server.requests.append(seen)
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(seen, writer)
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def over(task: asyncio.Task[None]) -> None:
            open_tasks.discard(task)
            writer.close()  # here: a task that is cancelled before it begins runs nothing, no `finally` either

        task = asyncio.create_task(conversation(reader, writer))
        open_tasks.add(task)
        task.add_done_callback(over)

    listener = await asyncio.start_server(connected, host, 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    shown = "127.0.0.1" if host == "0.0.0.0" else host
    server.url = f"{'https' if tls else 'http'}://{f'[{shown}]' if ':' in shown else shown}:{server.port}"
    try:
        yield server
    finally:
        await stop(listener)
        for task in tuple(open_tasks):
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
        # Two turns: for the tasks to close their transports, and for these to close their sockets.
        await asyncio.sleep(0)
        await asyncio.sleep(0)


async def stop(listener: asyncio.Server) -> None:
    """Close a listener when all connections that it has accepted are known.

    That takes the loop some turns, and asyncio leaves a connection open for ever that it is still making then.
    """
    for each in listener.sockets:
        asyncio.get_running_loop().remove_reader(each.fileno())
    for _ in range(8):
        await asyncio.sleep(0)
    listener.close()


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *rest = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = [(name, value.strip()) for name, _, value in (each.partition(":") for each in rest)]
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    body = await reader.readexactly(length)
    return Seen(line, headers, body, head)
