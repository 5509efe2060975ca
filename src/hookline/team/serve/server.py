"""Open the server's socket, and serve decisions until a signal ends it: those under way are finished.

Imported by `hookline serve` alone: uvicorn comes with the extra `serve`.
"""

import asyncio
import signal
import socket
import ssl
from collections.abc import Callable

from msgspec import Struct

from hookline.team.http_server import BoundedServer, ConnectionBounds
from hookline.team.serve.app import ARRIVED, DecisionApp, ServerLimits

#: Shutdown grace period, in seconds.
_DRAIN_SECONDS = 10


class Listening(Struct, frozen=True):
    """Address of the server, and how it is opened."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    #: Several servers may listen on the port; the kernel deals out the connections.
    share_port: bool = False


def decision_server(app: DecisionApp, listening: Listening, limits: ServerLimits) -> BoundedServer:
    """Make the server of the application, which counts what the server refuses."""

    def refused(why: str) -> None:
        app.counts.refused[why] += 1

    bounds = ConnectionBounds(limits.connections, limits.receive, _DRAIN_SECONDS, refused, ARRIVED)
    return BoundedServer(app, bounds, listening.tls)


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
    server: BoundedServer,
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
