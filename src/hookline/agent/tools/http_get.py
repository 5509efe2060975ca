"""One GET of one address, checked as those of hooks are. Imported with the first fetch: the http packages are heavy."""

import ipaddress
import ssl
from collections.abc import Sequence
from contextlib import aclosing

import httpcore2
from httpx2 import create_ssl_context
from msgspec import Struct

from hookline.handlers.http.addresses import RefusedAddressError, Resolver, check_addresses, resolve, unmapped
from hookline.handlers.http.client import Body
from hookline.handlers.http.network import PinnedBackend
from hookline.handlers.http.urls import Target

_CONNECT_SECONDS = 10.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = (
    (b"User-Agent", b"hookline-agent"),
    (b"Accept", b"text/html, text/plain, application/json;q=0.9, */*;q=0.5"),
    (b"Accept-Encoding", b"gzip"),
    (b"Connection", b"close"),
)


class Page(Struct, frozen=True):
    """What a server answered."""

    status: int
    content_type: str
    body: bytes
    truncated: bool
    #: Where it sends us, when it is a redirect.
    location: str | None = None


async def get(
    target: Target,
    *,
    most: int,
    local: bool,
    resolver: Resolver | None = None,
    tls: ssl.SSLContext | None = None,
) -> Page:
    """`local` allows addresses of this machine and of private networks. Raises whatever went wrong."""
    backend = PinnedBackend(
        resolver or resolve, loopback_only=False, check=_anywhere if local else _public_only
    )
    context = (tls or create_ssl_context(trust_env=False)) if target.scheme == "https" else None
    request = httpcore2.Request(
        "GET",
        httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.resource),
        headers=[(b"Host", target.authority.encode()), *_HEADERS],
        extensions={"timeout": {"connect": _CONNECT_SECONDS}},
    )
    async with httpcore2.AsyncConnectionPool(ssl_context=context, network_backend=backend) as pool:
        response = await pool.handle_async_request(request)
        try:
            return await _read(response, most)
        finally:
            await response.aclose()


async def _read(response: httpcore2.Response, most: int) -> Page:
    headers = {
        name.lower().decode("latin-1"): value.decode("latin-1").strip() for name, value in response.headers
    }
    kind = headers.get("content-type", "")
    if response.status in _REDIRECTS:
        return Page(response.status, kind, b"", truncated=False, location=headers.get("location", ""))
    body = Body(headers.get("content-encoding", ""), most)
    async with aclosing(response.aiter_stream()) as parts:
        kept = await body.read(parts)
    return Page(response.status, kind, kept, body.truncated)


def _public_only(addresses: Sequence[str], *, loopback_only: bool) -> list[str]:
    usable = check_addresses(addresses, loopback_only=loopback_only)
    for address in usable:
        if ipaddress.ip_address(address).is_loopback:
            raise RefusedAddressError(f"{address} is this machine")
    return usable


def _anywhere(addresses: Sequence[str], *, loopback_only: bool) -> list[str]:
    del loopback_only
    return [str(unmapped(ipaddress.ip_address(address))) for address in addresses]
