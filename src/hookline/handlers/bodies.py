"""Reading an answer that may be of any size, or grow to any size when unpacked."""

import zlib
from collections.abc import AsyncIterable
from typing import Final

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
        """Everything up to the limit; past it nothing more is read."""
        async for part in parts:
            self._add(part)
            if self.truncated:
                return bytes(self._kept[: self._most])
        if self._fed and self._unpacker is not None and not self._unpacker.eof:
            raise BodyError("the packed answer ends early")
        return bytes(self._kept)

    def _add(self, part: bytes) -> None:
        self._kept += self._unpacked(part)
        self.truncated = len(self._kept) > self._most

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
