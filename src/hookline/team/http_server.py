"""Serve an ASGI application on uvicorn, with the limits that uvicorn lacks: connections, and times for requests.

Only commands import this whose extra brings uvicorn.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any, Final

import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Bytes of request line and headers.
_MOST_HEAD: Final = 16 * 1024


def _uncounted(why: str) -> None:
    """Take notice of nothing."""


class ConnectionBounds(Struct, frozen=True):
    """Limits of the connections to a server."""

    connections: int
    #: Seconds in which a request must arrive, and the TLS handshake too.
    receive: float
    #: Shutdown grace period, in seconds.
    drain: int
    #: Is told of each connection that is dropped: `connections` or `slow`.
    refused: Callable[[str], None] = _uncounted
    #: Where the scope of a request gets the time at which it began to arrive.
    arrived: str = "hookline.arrived"


class BoundedProtocol(H11Protocol):
    """A connection, one of a limited number, that must send its request in time."""

    def __init__(self, *args: Any, bounds: ConnectionBounds, **options: Any) -> None:
        super().__init__(*args, **options)
        self._bounds = bounds
        self._until: asyncio.TimerHandle | None = None
        self._arrived = perf_counter()

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] as uvicorn
        super().connection_made(transport)
        if len(self.connections) > self._bounds.connections:
            self._bounds.refused("connections")
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
            scope.setdefault(self._bounds.arrived, self._arrived)
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
            self._bounds.refused("slow")
            self.transport.abort()


class BoundedServer(uvicorn.Server):
    """A uvicorn server with bounds, also for TLS handshakes; the caller handles signals."""

    def __init__(self, app: Any, bounds: ConnectionBounds, tls: ssl.SSLContext | None = None) -> None:
        self._bounds = bounds
        self._tls = tls
        super().__init__(
            uvicorn.Config(
                app,
                http=partial(BoundedProtocol, bounds=bounds),  # pyright: ignore[reportArgumentType] made as a class is
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                # Otherwise anyone who reaches the port could fill the terminal with errors of their requests.
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                h11_max_incomplete_event_size=_MOST_HEAD,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=bounds.drain,
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
        loop, tls = asyncio.get_running_loop(), self._tls
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

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield
