"""Send one POST and read its answer, over kept connections.

Imported with the first http hook that fires: the http packages are heavy. The connection pool of httpx2 is
used without its client: a client keeps cookies from one hook to the next, and cannot pin a connection to the
address that was checked.
"""

import re
import ssl
import zlib
from collections.abc import AsyncIterable, Sequence
from contextlib import aclosing
from typing import Final

import httpcore2

from hookline.handlers.failures import described
from hookline.handlers.http.addresses import RefusedAddressError, Resolver, resolve
from hookline.handlers.http.network import OPEN_ROUTE, CertificateError, NetworkRoute, Pools
from hookline.handlers.http.urls import UrlParts
from hookline.model.raw import Failed, RawResult, Replied

#: Accepts both gzip and zlib wrappings.
_ANY_WRAPPING: Final = 32 + zlib.MAX_WBITS
_ENCODINGS: Final = frozenset({"gzip", "x-gzip", "deflate"})


class BodyError(Exception):
    """The body cannot be unpacked."""


class Body:
    """Keeps at most `most` bytes of the unpacked body."""

    def __init__(self, encoding: str, most: int) -> None:
        encoding = encoding.strip().lower()
        if encoding not in _ENCODINGS and encoding not in {"", "identity"}:
            raise BodyError(f"the answer is encoded as {encoding[:40]!r}, which was not asked for")
        self._unpacker = zlib.decompressobj(_ANY_WRAPPING) if encoding in _ENCODINGS else None
        self._most = most
        self._kept = bytearray()
        self._fed = False
        self.truncated = False

    async def read(self, parts: AsyncIterable[bytes]) -> bytes:
        """Read everything up to the limit, and nothing past it."""
        async for part in parts:
            self._kept += self._unpacked(part)
            self.truncated = len(self._kept) > self._most
            if self.truncated:
                return bytes(self._kept[: self._most])
        if self._fed and self._unpacker is not None and not self._unpacker.eof:
            raise BodyError("the packed answer ends early")
        return bytes(self._kept)

    def _unpacked(self, part: bytes) -> bytes:
        if self._unpacker is None:
            return part
        self._fed = True
        try:
            # One byte over the limit is enough to know: a bomb is never unpacked further than that.
            unpacked = self._unpacker.decompress(part, self._most + 1 - len(self._kept))
        except zlib.error as error:
            raise BodyError("the packed answer cannot be unpacked") from error
        if self._unpacker.unused_data:
            raise BodyError("something follows the packed answer")
        return unpacked


Headers = Sequence[tuple[bytes, bytes]]

#: Any other value is not an id, but text that a server wants to have in a journal.
_ID: Final = re.compile(rb"[A-Za-z0-9_.-]{1,64}")
_MAX_AGE: Final = re.compile(rb"(?:^|,)\s*max-age=(\d{1,9})\s*(?:,|$)")

_CONNECT_SECONDS: Final = 5.0

#: Headers sent unless the hook sets them.
_DEFAULTS: Final = (
    (b"Content-Type", b"application/json"),
    (b"Accept", b"application/json"),
    (b"User-Agent", b"hookline"),
)


class Exchange:
    """The http state of one event loop."""

    def __init__(
        self,
        *,
        resolver: Resolver | None,
        plain_http: bool,
        tls: ssl.SSLContext | None,
        most_kept: int,
        route: NetworkRoute = OPEN_ROUTE,
    ) -> None:
        self._pools = Pools(resolver or resolve, plain_http=plain_http, tls=tls, route=route)
        self._most_kept = most_kept

    async def post(self, target: UrlParts, headers: Headers, document: bytes, seconds: float) -> RawResult:
        """Send the document. The caller limits the whole time; only connecting is limited here."""
        request = httpcore2.Request(
            "POST",
            httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.resource),
            headers=_complete(headers, target, len(document)),
            content=document,
            extensions={"timeout": {"connect": min(_CONNECT_SECONDS, seconds)}},
        )
        try:
            response = await self._pools.for_scheme(target.scheme).handle_async_request(request)
            try:
                return await self._understood(response, target)
            finally:
                await response.aclose()
        except RefusedAddressError as refused:
            return Failed("not_started", f"{target.shown} is refused: {refused}")
        except CertificateError as problem:
            return Failed("not_started", str(problem))
        except Exception as error:  # noqa: BLE001 - every error below means no answer
            return Failed("transport", f"{target.shown}: {described(error)}")

    async def close(self) -> None:
        await self._pools.close()

    async def _understood(self, response: httpcore2.Response, target: UrlParts) -> RawResult:
        status = response.status
        if status < 200 or 300 <= status < 400:
            why = "is not an answer" if status < 200 else "is a redirect, and those are not followed"
            return Failed("transport", f"{target.shown}: status {status} {why}")
        body = Body(_encoding(response.headers), self._most_kept)
        async with aclosing(response.aiter_stream()) as parts:
            kept = await body.read(parts)
        return Replied(
            kept,
            status,
            truncated=body.truncated,
            decision_id=_decision_id(response.headers),
            repeatable=_repeatable(response.headers) if status == 200 else 0.0,
        )


def _complete(headers: Headers, target: UrlParts, length: int) -> list[tuple[bytes, bytes]]:
    given = {name.lower() for name, _ in headers}
    return [
        (b"Host", target.authority.encode()),
        *((name, value) for name, value in _DEFAULTS if name.lower() not in given),
        *headers,
        (b"Accept-Encoding", b"identity"),
        (b"Content-Length", str(length).encode()),
    ]


def _encoding(headers: Headers) -> str:
    return ",".join(value.decode("latin-1") for name, value in headers if name.lower() == b"content-encoding")


def _decision_id(headers: Headers) -> str:
    """Return the id that the server gave its decision."""
    found = [value for name, value in headers if name.lower() == b"hookline-decision-id"]
    return found[0].decode() if len(found) == 1 and _ID.fullmatch(found[0]) else ""


def _repeatable(headers: Headers) -> float:
    """Return the seconds for which the server lets its answer be repeated. Only a server that names its
    decisions may."""
    if not _decision_id(headers):
        return 0.0
    said = b",".join(value for name, value in headers if name.lower() == b"cache-control").lower()
    found = _MAX_AGE.search(said)
    return (
        float(found[1]) if found is not None and b"no-store" not in said and b"no-cache" not in said else 0.0
    )
