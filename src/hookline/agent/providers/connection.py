"""The HTTP client under every provider: bounded in time and in bytes, and it never carries a key elsewhere."""

import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Final, cast

import httpx2

#: Longest wait for a connection, and for the next byte of an answer: a model may think for minutes.
TIMEOUT: Final = httpx2.Timeout(300.0, connect=15.0, pool=15.0)
#: And for the whole of it, in seconds: a server that sends a byte now and then does not hold a turn for ever.
LONGEST_REQUEST: Final = 1800.0

#: The longest stream any provider sends is a fraction of this.
MOST_BYTES: Final = 64 << 20
#: Of an answer that came compressed although nobody asked for that: it may unpack to a thousand times as much.
MOST_PACKED_BYTES: Final = 256 << 10


class TooLongError(httpx2.ReadError):
    """A server sent more than any answer is long."""


def connect(most_bytes: int = MOST_BYTES) -> httpx2.AsyncClient:
    async def bound(response: httpx2.Response) -> None:
        packed = response.headers.get("content-encoding", "identity") != "identity"
        most = min(most_bytes, MOST_PACKED_BYTES) if packed else most_bytes
        response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream), most)

    return httpx2.AsyncClient(
        timeout=TIMEOUT,
        verify=_tls(),
        # A redirect to another host would take the key along in a header of the provider's own.
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
    )


@cache
def _tls() -> ssl.SSLContext:
    """Reading the certificates takes 30 ms or more: once a process is enough."""
    return httpx2.create_ssl_context()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise TooLongError(f"the answer is longer than {self._most} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
