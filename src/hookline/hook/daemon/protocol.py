"""Define the protocol of relay and daemon: one request, then frames, over a stream socket.

All numbers are unsigned, 32 bits, little endian; a text is its length and its bytes. `relay.c` and the relay
in Python are the other side.
"""

import struct
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

MAGIC: Final = b"HKRELAY1"
#: Magic and the length of the rest.
HEADER: Final = struct.Struct("<8sI")
_NUMBER: Final = struct.Struct("<I")
_FRAME: Final = struct.Struct("<cI")

#: The daemon does not take the call; the relay answers it in process.
REFUSED: Final = b"V"
#: Hooks with effects are about to start, if the relay agrees.
BEGINS: Final = b"B"
ANSWER: Final = b"A"
#: The relay's agreement.
GO: Final = b"G"

#: A payload of the size that Hookline reads, with the largest environment that Linux allows.
MOST_BYTES: Final = (64 << 20) + (8 << 20)
_MOST_TEXTS: Final = 100_000


class ProtocolError(Exception):
    """Bytes that are not a request, or not a frame."""


class RelayRequest(Struct, frozen=True):
    """One call, as the process that the agent has started would see it."""

    version: str
    directory: str
    words: tuple[str, ...]
    env: dict[str, str]
    input: bytes


class RelayReply(Struct, frozen=True):
    """The relay's output and exit code."""

    code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    #: Written to stderr, with exit code 2, if stdout cannot be written and holds the agent back.
    otherwise: bytes = b""


def read_request(body: bytes) -> RelayRequest:
    """Read the request that follows a header."""
    reader = _Reader(body)
    version, directory = reader.texts(2)
    words = tuple(reader.texts())
    env: dict[str, str] = {}
    for entry in reader.texts():
        name, equals, value = entry.partition("=")
        if equals and name:
            env.setdefault(name, value)
    found = RelayRequest(version, directory, words, env, reader.content())
    reader.end()
    return found


def write_request(request: RelayRequest) -> bytes:
    parts = [_text(request.version), _text(request.directory), *_texts(request.words)]
    parts += _texts([f"{name}={value}" for name, value in request.env.items()])
    parts += [_NUMBER.pack(len(request.input)), request.input]
    body = b"".join(parts)
    return HEADER.pack(MAGIC, len(body)) + body


def frame(kind: bytes, body: bytes = b"") -> bytes:
    return _FRAME.pack(kind, len(body)) + body


def answer_frame(kind: bytes, reply: RelayReply) -> bytes:
    parts = [_NUMBER.pack(reply.code)]
    for text in (reply.stdout, reply.stderr, reply.otherwise):
        parts += [_NUMBER.pack(len(text)), text]
    return frame(kind, b"".join(parts))


def read_frame(received: bytes) -> tuple[bytes, bytes] | None:
    """Return kind and body of the first frame; None while it is not complete."""
    if len(received) < _FRAME.size:
        return None
    kind, length = _FRAME.unpack_from(received)
    body = received[_FRAME.size : _FRAME.size + length]
    return (kind, body) if len(body) == length else None


def read_reply(body: bytes) -> RelayReply:
    reader = _Reader(body)
    found = RelayReply(reader.number(), reader.content(), reader.content(), reader.content())
    reader.end()
    return found


def _text(text: str) -> bytes:
    content = text.encode("utf-8", "surrogateescape")
    return _NUMBER.pack(len(content)) + content


def _texts(texts: Sequence[str]) -> list[bytes]:
    return [_NUMBER.pack(len(texts)), *map(_text, texts)]


class _Reader:
    """A reader of numbers and texts one after another. Raises ProtocolError where they end too soon."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def number(self) -> int:
        try:
            (found,) = _NUMBER.unpack_from(self._body, self._at)
        except struct.error:
            raise ProtocolError("it ends in the middle of a number") from None
        self._at += _NUMBER.size
        return found

    def content(self) -> bytes:
        length = self.number()
        start, self._at = self._at, self._at + length
        if self._at > len(self._body):
            raise ProtocolError("it ends in the middle of a text")
        return self._body[start : self._at]

    def texts(self, count: int | None = None) -> list[str]:
        """Return so many texts; without a number, as many as the number before them says."""
        count = self.number() if count is None else count
        if count > _MOST_TEXTS:
            raise ProtocolError(f"{count:,} texts are too many")
        # Without further calls: an environment has many variables.
        body, at, found = self._body, self._at, list[str]()
        for _ in range(count):
            start = at + _NUMBER.size
            at = start + int.from_bytes(body[at:start], "little")
            found.append(body[start:at].decode("utf-8", "surrogateescape"))
        if at > len(body):
            raise ProtocolError("it ends in the middle of a text")
        self._at = at
        return found

    def end(self) -> None:
        if self._at != len(self._body):
            raise ProtocolError("it has extra bytes at its end")
