"""Connect to checked addresses: a name is resolved once, checked, and connected to by number."""

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, Protocol, cast

import httpcore2
from msgspec import Struct

from hookline.handlers.http.addresses import Resolver, check_addresses

#: A name may have any number of addresses. All are checked, this many are tried.
_MOST_TRIED: Final = 4


class AddressCheck(Protocol):
    """Returns the addresses as text to connect to, or raises RefusedAddressError."""

    def __call__(self, addresses: Sequence[str], *, loopback_only: bool) -> list[str]: ...


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves a name itself, so that nothing can change between the check and the connection.

    Host header and TLS name stay those of the URL: the pool above never sees the address.
    """

    def __init__(
        self, resolver: Resolver, *, loopback_only: bool, check: AddressCheck = check_addresses
    ) -> None:
        self._resolver = resolver
        self._check = check
        self._loopback_only = loopback_only
        self._sockets = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002 - the signature is the pool's, which sets neither
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002 - the same
    ) -> httpcore2.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                addresses = self._check(await self._resolver(host, port), loopback_only=self._loopback_only)
                return await self._first_open(addresses[:_MOST_TRIED], port, timeout)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no connection within {timeout:g} s") from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error

    async def _first_open(
        self, addresses: Sequence[str], port: int, seconds: float | None
    ) -> httpcore2.AsyncNetworkStream:
        """Return the first connection that is accepted. A silent address gets its share of the time, not all
        of it."""
        share = None if seconds is None else seconds / max(len(addresses), 1)
        failure: Exception = httpcore2.ConnectError("the host name has no address")
        for address in addresses:
            try:
                return await self._sockets.connect_tcp(address, port, timeout=share)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class NetworkRoute(Struct, frozen=True):
    """The way to a server, beyond its URL: certificates and private networks, as `HttpSpec` has them."""

    ca: str = ""
    cert: str = ""
    key: str = ""
    private: bool = False


OPEN_ROUTE: Final = NetworkRoute()


class CertificateError(Exception):
    """A file that the entry names for TLS cannot be used."""


class Pools:
    """The kept connections of one event loop; plain and encrypted ones apart, because their rules differ."""

    def __init__(
        self,
        resolver: Resolver,
        *,
        plain_http: bool,
        tls: ssl.SSLContext | None,
        route: NetworkRoute = OPEN_ROUTE,
    ) -> None:
        self._route = route
        self._resolver = resolver
        self._plain_http = plain_http
        self._tls = tls
        self._pools: dict[str, httpcore2.AsyncConnectionPool] = {}

    def for_scheme(self, scheme: str) -> httpcore2.AsyncConnectionPool:
        pool = self._pools.get(scheme)
        if pool is None:
            pool = self._pools[scheme] = self._pool(scheme)
        return pool

    async def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    def _pool(self, scheme: str) -> httpcore2.AsyncConnectionPool:
        loopback_only = scheme == "http" and not self._plain_http
        return httpcore2.AsyncConnectionPool(
            ssl_context=self._tls_context() if scheme == "https" else None,
            max_connections=64,
            max_keepalive_connections=16,
            keepalive_expiry=15.0,
            network_backend=PinnedBackend(
                self._resolver,
                loopback_only=loopback_only,
                check=partial(check_addresses, private=True) if self._route.private else check_addresses,
            ),
        )

    def _tls_context(self) -> ssl.SSLContext:
        if self._route.ca or self._route.cert:
            return own_tls_context(self._route)
        if self._tls is not None:
            return self._tls
        # Only encrypted hooks need it: it reads the system's certificates, never the environment.
        from httpx2 import create_ssl_context  # noqa: PLC0415 - see above

        return create_ssl_context(trust_env=False)


def own_tls_context(route: NetworkRoute) -> ssl.SSLContext:
    """Make a TLS context from an entry's files: with `ca` no other authority is accepted, with `cert` the
    server can identify the client."""
    file = route.ca
    try:
        context = ssl.create_default_context(cafile=route.ca or None)
        if route.cert:
            file = route.cert
            # Without a password an encrypted key would ask at the terminal.
            context.load_cert_chain(route.cert, route.key or None, password=lambda: "")
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise CertificateError(f"the certificate {file} cannot be used: {why}") from None
    return context
