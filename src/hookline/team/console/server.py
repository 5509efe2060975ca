"""Run the console's server: where it listens, who may reach it, and how it ends."""

import asyncio
import errno
import os
import signal
import socket
import ssl
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from msgspec import Struct

from hookline.config.console_address import login_file
from hookline.handlers.http.addresses import is_loopback
from hookline.model.errors import HooklineError
from hookline.team.console.index import Index
from hookline.team.console.login import Logins
from hookline.team.console.middleware import SecurityMiddleware
from hookline.team.console.pages import Pages
from hookline.team.console.ports import Ports
from hookline.team.console.queries import Queries
from hookline.team.console.source import RunSource
from hookline.team.http_server import BoundedServer, ConnectionBounds

#: H, O, O, K on the keys of a telephone.
PORT: Final = 4665
LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128
#: More than the browsers of one user open.
_BOUNDS: Final = ConnectionBounds(connections=256, receive=5.0, drain=2)

#: Work to do while the console runs.
Work = Callable[[], Coroutine[Any, Any, None]]


class ConsoleError(HooklineError):
    """An error that keeps the console from starting; the message says why, and what to do."""


class ConsoleSettings(Struct, frozen=True, kw_only=True):
    #: Where the index and the login are kept.
    directory: str
    machine: str
    #: Where it listens: a name or an address of this machine.
    host: str = LOOPBACK
    #: None: the usual one, or another if that is taken.
    port: int | None = None
    #: Files of a certificate and its key; with them it speaks TLS.
    cert: str = ""
    key: str = ""

    @property
    def secure(self) -> bool:
        return bool(self.cert)


def serve(
    settings: ConsoleSettings, ports: Ports, sources: Sequence[RunSource], beside: Sequence[Work] = ()
) -> int:
    """Run the console until it is interrupted. Raises ConsoleError, and what the work beside it raises."""
    check(settings)
    listening = _listen(settings, ports)
    if listening is None:
        return 0  # one is running already
    with listening:
        asyncio.run(_serve(settings, ports, sources, beside, listening))
    return 0


def check(settings: ConsoleSettings) -> None:
    """Check the settings: beyond this machine, only TLS keeps others from reading along."""
    if bool(settings.cert) != bool(settings.key):
        raise ConsoleError("TLS needs both --cert and --key")
    for file in filter(None, (settings.cert, settings.key)):
        if not os.path.isfile(file):
            raise ConsoleError(f"no such file: {file}")
    if not is_loopback(settings.host) and not settings.secure:
        raise ConsoleError(
            f"{settings.host} can be reached by others: give --cert FILE and --key FILE, so that the login and what it"
            f" shows are encrypted; or leave --host away, and use ssh -L {PORT}:{LOOPBACK}:{PORT}"
        )
    if settings.host in ("", "0.0.0.0", "::"):  # noqa: S104 refused
        raise ConsoleError(
            "--host is the name or address by which browsers call this machine, not all of them"
        )


def _listen(settings: ConsoleSettings, ports: Ports) -> socket.socket | None:
    wanted = settings.port if settings.port is not None else PORT
    try:
        return _bound(settings.host, wanted)
    except OSError as problem:
        if problem.errno != errno.EADDRINUSE:
            raise ConsoleError(
                f"cannot listen on {settings.host}:{wanted}: {problem.strerror}; say another --host or --port"
            ) from None
    file = login_file(settings.directory, wanted)
    if _is_running(settings.host, wanted, file):
        ports.started(_address(settings, wanted), "", file)
        return None
    if settings.port is not None:
        raise ConsoleError(f"port {wanted} is taken by another program: say another --port, or none")
    return _bound(settings.host, 0)


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)
    return bound


def _is_running(host: str, port: int, file: str) -> bool:
    """Return True if a console of this user has the port: its login file exists, and it answers."""
    if not os.path.exists(file):
        return False
    try:
        with socket.create_connection((host, port), timeout=2.0) as connection:
            connection.sendall(
                f"GET /login HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode()
            )
            return b"403" in connection.recv(64)
    except OSError:
        return False


def _address(settings: ConsoleSettings, port: int) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'https' if settings.secure else 'http'}://{host}:{port}"


def _hosts(settings: ConsoleSettings, port: int) -> frozenset[str]:
    """Return the accepted host names. Any other may be a name that an attacker points here."""
    address = _address(settings, port).partition("://")[2]
    names = {address}
    if is_loopback(settings.host):
        names |= {f"{LOOPBACK}:{port}", f"localhost:{port}"}
    usual = 443 if settings.secure else 80
    return frozenset(names | ({name.rpartition(":")[0] for name in names} if port == usual else set()))


def _tls(settings: ConsoleSettings) -> ssl.SSLContext | None:
    """Return what the server needs for TLS. Raises OSError."""
    if not settings.secure:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # Without a password an encrypted key would ask at the terminal.
    context.load_cert_chain(settings.cert, settings.key, password=lambda: "")
    return context


def _logins(settings: ConsoleSettings, address: str, port: int, ports: Ports) -> Logins:
    try:
        for directory in (
            os.path.dirname(settings.directory),
            settings.directory,
        ):  # each for this user alone
            os.makedirs(directory, mode=0o700, exist_ok=True)
        return Logins(settings.directory, address, port, ports.say)
    except OSError as problem:
        raise ConsoleError(
            f"the directory {settings.directory} cannot be written: {problem.strerror}: free some space and own it, or "
            "make it a link to another directory"
        ) from None


async def _serve(
    settings: ConsoleSettings,
    ports: Ports,
    sources: Sequence[RunSource],
    beside: Sequence[Work],
    listening: socket.socket,
) -> None:
    port: int = listening.getsockname()[1]
    address = _address(settings, port)
    logins = _logins(settings, address, port, ports)
    index = Index(os.path.join(settings.directory, "index.sqlite"), sources, ports.say)
    pages = Pages(index, Queries(index), ports, settings.machine)
    guard = SecurityMiddleware(pages.app(), logins, _hosts(settings, port), secure=settings.secure)
    try:
        server = BoundedServer(guard, _BOUNDS, _tls(settings))
    except OSError as problem:
        logins.close()
        raise ConsoleError(
            f"TLS cannot be used with {settings.cert} and {settings.key}: they need a certificate in PEM and "
            f"the private key that belongs to it ({getattr(problem, 'reason', None) or problem.strerror or problem})"
        ) from None

    def stop() -> None:
        server.should_exit = True
        pages.live.close()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    tasks = [asyncio.create_task(work()) for work in (pages.live.run, *beside)]
    for task in tasks:
        task.add_done_callback(lambda _task: stop())  # none ends unless it failed
    try:
        ports.started(address, logins.link, logins.file)
        await server.serve(sockets=[listening])
    finally:
        broken = [task for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        logins.close()
        index.close()
        for source in sources:
            source.close()
    for task in broken:
        task.result()
