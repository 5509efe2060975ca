"""Run the application on uvicorn, with limits that uvicorn lacks and a shutdown that lets decisions finish.

Imported by `hookline serve` alone: uvicorn comes with the extra `serve`.
"""

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import Callable, Generator
from functools import partial
from time import perf_counter
from typing import Any

import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol

from hookline.team.serve.app import ARRIVED, DecisionApp, ServerLimits

#: Bytes of request line and headers.
_MOST_HEAD = 16 * 1024
#: Shutdown grace period, in seconds.
_DRAIN_SECONDS = 10


class Listening(Struct, frozen=True):
    """Address of the server, and how it is opened."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    #: Several servers may listen on the port; the kernel deals out the connections.
    share_port: bool = False


class BoundedProtocol(H11Protocol):
    """A connection, one of a limited number, that must send its request in time."""

    def __init__(
        self, *args: Any, bounds: ServerLimits, refused: Callable[[str], None], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._bounds = bounds
        self._refused = refused
        self._until: asyncio.TimerHandle | None = None
        self._arrived = perf_counter()

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] as uvicorn
        super().connection_made(transport)
        if len(self.connections) > self._bounds.connections:
            self._refused("connections")
            transport.abort()
            return
        self._expect()

    def data_received(self, data: bytes) -> None:
        if self._until is None:
            self._expect()
            self._arrived = perf_counter()
        super().data_received(data)
        scope: Any = self.scope  # uvicorn sets it with the first request
        if scope is not None:
            # Before the application has begun with it.
            scope.setdefault(ARRIVED, self._arrived)
        cycle: Any = self.cycle  # uvicorn sets it with the first request
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            self._received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._received()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._until = self.loop.call_later(self._bounds.receive, self._too_slow)

    def _received(self) -> None:
        if self._until is not None:
            self._until.cancel()
            self._until = None

    def _too_slow(self) -> None:
        self._until = None
        if not self.transport.is_closing():
            self._refused("slow")
            self.transport.abort()


class DecisionServer(uvicorn.Server):
    """A uvicorn server with a time limit for TLS handshakes; the caller handles signals."""

    def __init__(self, app: DecisionApp, listening: Listening, bounds: ServerLimits) -> None:
        def refused(why: str) -> None:
            app.counts.refused[why] += 1

        self._bounds = bounds
        self._listening = listening
        super().__init__(
            uvicorn.Config(
                app,
                http=partial(BoundedProtocol, bounds=bounds, refused=refused),  # pyright: ignore[reportArgumentType] made as a class is
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                h11_max_incomplete_event_size=_MOST_HEAD,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=_DRAIN_SECONDS,
                backlog=1024,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, but drop connections whose handshake never finishes."""
        await self.lifespan.startup()
        protocol = partial(
            self.config.http_protocol_class,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        loop, tls = asyncio.get_running_loop(), self._listening.tls
        self.servers = [
            await loop.create_server(
                protocol,  # pyright: ignore[reportArgumentType] a class of uvicorn's
                sock=each,
                ssl=tls,
                backlog=self.config.backlog,
                ssl_handshake_timeout=None if tls is None else self._bounds.receive,
            )
            for each in sockets or ()
        ]
        self.started = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def open_socket(listening: Listening) -> socket.socket:
    """Bind the server's socket. Raises OSError."""
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # With the protocol named, asyncio sends at once: head and body of an answer are two writes, and would be held back.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if listening.share_port:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        found.bind((listening.host, listening.port))
        found.setblocking(False)
    except OSError:
        found.close()
        raise
    return found


async def serve(
    server: DecisionServer,
    listener: socket.socket,
    started: Callable[[], None],
    reload: Callable[[], None],
    ending: Callable[[], None],
) -> None:
    """Serve until SIGTERM or SIGINT, then finish running decisions; SIGHUP reloads the configuration."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        ending()
        server.should_exit = True

    for number, action in ((signal.SIGTERM, stop), (signal.SIGINT, stop), (signal.SIGHUP, reload)):
        loop.add_signal_handler(number, action)
    listener.listen(server.config.backlog)
    started()
    try:
        await server.serve([listener])
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.remove_signal_handler(number)
