"""Serve the daemon's http endpoint on loopback, for agents whose hooks can be http requests.

`POST /hook/DIALECT` or `/hook/DIALECT/EVENT` with the payload as body, answered with the agent's form of a
hook's stdout. Clients need the token; pages in a browser are kept out by Host, Origin and Sec-Fetch-Site. Use
the relay for guards: an agent whose request fails continues. Plugins of Hookline find the address in a file;
an answer proves by a second secret that it is not from another user who got the port of an ended daemon.
"""

import asyncio
import hmac
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct

from hookline.hook.daemon.protocol import RelayReply
from hookline.journal.file import state_dir
from hookline.journal.secret_file import read_or_make_secret
from hookline.trust.store import replace_file

LOOPBACK: Final = "127.0.0.1"
_MOST_HEAD: Final = 1 << 15
_MOST_BODY: Final = 64 << 20
#: Clients get less time than the endpoint waits: a request that meets the end of its connection fails, and
#: agents then continue.
_KEEP_ALIVE: Final = "timeout=90"
_STATUS: Final = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 408: "Request Timeout", 411: "Length Required", 413: "Content Too Large",
    421: "Misdirected Request", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    503: "Service Unavailable",
}  # fmt: skip
_BLOCKED: Final = 2

#: Answers the words behind `hookline` and a payload by calling the function; returns why there is no answer.
Answer = Callable[[tuple[str, ...], bytes, Callable[[RelayReply], None]], Awaitable[str | None]]


class HttpError(Exception):
    """A request that is not answered by hooks."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Head(Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]


class Limits(Struct, frozen=True):
    """The most clients, and the seconds that the endpoint waits for them."""

    #: A further one replaces the one that has waited longest without a request.
    connections: int = 128
    #: For the head of the first request.
    head_seconds: float = 10.0
    #: For the body, and until an answer is taken.
    body_seconds: float = 60.0
    #: For another request.
    idle_seconds: float = 120.0


def token_file(env: Mapping[str, str]) -> str:
    return os.path.join(state_dir(env), "daemon-token")


def read_token(env: Mapping[str, str]) -> str:
    """Return the token of this user, made the first time. Raises OSError."""
    return read_or_make_secret(token_file(env))


class HttpAddress(Struct, frozen=True):
    """The address at which plugins of Hookline find the running daemon."""

    url: str
    #: A request has it as its bearer token; it ends with the daemon.
    token: str
    #: An answer has it as the header Hookline-Proof.
    proof: str


def address_file(env: Mapping[str, str]) -> str:
    return os.path.join(state_dir(env), "daemon-http.json")


def write_address(file: str, address: HttpAddress) -> None:
    """Replace the file, which only the user can read. Raises OSError."""
    os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)
    replace_file(file, msgspec.json.encode(address))


def remove_address(file: str, address: HttpAddress) -> None:
    """Remove the file, unless it is another daemon's by now."""
    with suppress(OSError, msgspec.DecodeError), open(file, "rb") as stream:
        if msgspec.json.decode(stream.read(), type=HttpAddress) == address:
            os.unlink(file)


class HttpEndpoint:
    """Listens on one port of 127.0.0.1."""

    def __init__(self, answer: Answer, token: str, limits: Limits = Limits()) -> None:  # noqa: B008 frozen
        self._answer = answer
        #: The user's token, which stays, and one that ends with this endpoint.
        self._tokens = (token.encode(), secrets.token_urlsafe(32).encode())
        self._proof = secrets.token_urlsafe(32)
        self._limits = limits
        self._connected: set[asyncio.StreamWriter] = set()
        #: Connections without a complete head yet, in the order in which they began to wait.
        self._waiting: dict[asyncio.StreamWriter, None] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def listen(self, port: int) -> None:
        self._server = await asyncio.start_server(self._begin, LOOPBACK, port, limit=_MOST_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def address(self) -> HttpAddress:
        return HttpAddress(f"http://{LOOPBACK}:{self.port}/hook/", self._tokens[1].decode(), self._proof)

    def close(self) -> None:
        """Take no further connections. Open ones end with the daemon."""
        if self._server is not None:
            self._server.close()

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio's own task for a coroutine reports its cancellation as an error, and leaves the connection open.
        def over(task: asyncio.Task[None]) -> None:
            self._serving.discard(task)
            writer.close()

        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(over)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._make_room()
            self._connected.add(writer)
            seconds = self._limits.head_seconds
            while True:
                await self._exchange(reader, writer, seconds)
                seconds = self._limits.idle_seconds
        except HttpError as problem:
            _write(writer, problem.status, _error(str(problem)), last=True)
        except TimeoutError:
            writer.transport.abort()  # closing would wait until the client has taken its answer
        except (OSError, EOFError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._connected.discard(writer)

    def _make_room(self) -> None:
        """End the connection that has waited longest. Without the token no client gets further than waiting."""
        if len(self._connected) < self._limits.connections:
            return
        longest = next(iter(self._waiting), None)
        if longest is None:
            raise HttpError(503, f"{len(self._connected)} requests are being answered")
        del self._waiting[longest]
        self._connected.discard(longest)
        longest.transport.abort()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float
    ) -> None:
        """Answer one request; the wait for its head is limited. Raises HttpError and TimeoutError."""
        self._waiting[writer] = None
        try:
            async with asyncio.timeout(seconds):
                raw = await reader.readuntil(b"\r\n\r\n")
        finally:
            self._waiting.pop(writer, None)
        head = read_head(raw)
        self._check(head)
        body = await self._body(reader, _length(head))
        # The answer is on its way before the rest of the call, its journal for example.
        proof = f"Hookline-Proof: {self._proof}"
        why = await self._answer(
            _words(head.path), body, lambda reply: _write(writer, *_content(reply), proof)
        )
        if why is not None:
            _write(writer, 503, _error(why), proof)
        async with asyncio.timeout(self._limits.body_seconds):
            await writer.drain()

    async def _body(self, reader: asyncio.StreamReader, length: int) -> bytes:
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                return await reader.readexactly(length)
        except TimeoutError:
            raise HttpError(408, f"the payload did not come within {self._limits.body_seconds:g} s") from None

    def _check(self, head: Head) -> None:
        headers = head.headers
        if headers.get("host") not in (f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"):
            raise HttpError(421, "this is not its host")
        if "origin" in headers or "sec-fetch-site" in headers:
            raise HttpError(403, "pages in a browser are not answered")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip().encode()
        if scheme.lower() != "bearer" or not any(hmac.compare_digest(given, each) for each in self._tokens):
            raise HttpError(401, "the header Authorization: Bearer TOKEN is missing or wrong")
        if head.method != "POST":
            raise HttpError(405, "only POST is answered")


def read_head(raw: bytes) -> Head:
    """Read the request line and the headers. Raises HttpError; a header that comes twice is refused."""
    try:
        first, *lines = raw.decode("ascii").split("\r\n")[:-2]
        method, path, version = first.split(" ")
    except ValueError:
        raise HttpError(400, "this is not HTTP") from None
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise HttpError(400, "only HTTP/1.1 is answered")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip() or name in headers:
            raise HttpError(400, "a header cannot be read, or comes twice")
        headers[name] = value.strip()
    return Head(method, path, headers)


def _length(head: Head) -> int:
    text = head.headers.get("content-length", "")
    if "transfer-encoding" in head.headers or not (text.isascii() and text.isdecimal()):
        raise HttpError(411, "the header Content-Length is needed")
    if len(text) > 9 or int(text) > _MOST_BODY:
        raise HttpError(413, f"a payload may have {_MOST_BODY:,} bytes")
    return int(text)


def _words(path: str) -> tuple[str, ...]:
    """Return the words that the relay has behind its own name."""
    parts = path.split("?", maxsplit=1)[0].strip("/").split("/")
    if len(parts) not in (2, 3) or parts[0] != "hook" or parts[-1].startswith("-"):
        raise HttpError(404, "use /hook/DIALECT or /hook/DIALECT/EVENT")
    return ("hook", "--dialect", *parts[1:])


def _content(reply: RelayReply) -> tuple[int, bytes]:
    """Return what the agent reads like stdout. A block by exit code becomes one in words.

    A failure that blocks nothing is an error, as another exit code is: an empty answer would mean success.
    """
    if reply.code == _BLOCKED:
        reason = (reply.stderr or reply.otherwise).decode("utf-8", "replace").strip()
        said = {"decision": "block", "reason": reason or "blocked by a hook", **_document(reply.stdout)}
        return 200, msgspec.json.encode(said)
    if reply.code and not reply.stdout:
        return 500, _error(reply.stderr.decode("utf-8", "replace").strip())
    return 200, reply.stdout


def _document(stdout: bytes) -> dict[str, Any]:
    """Return the text beside the exit code."""
    try:
        return msgspec.json.decode(stdout, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}


def _error(why: str) -> bytes:
    return msgspec.json.encode({"error": why})


def _write(writer: Any, status: int, body: bytes, *headers: str, last: bool = False) -> None:
    lines = [f"HTTP/1.1 {status} {_STATUS[status]}", "Content-Type: application/json", *headers]
    lines += [f"Content-Length: {len(body)}", "Cache-Control: no-store", "X-Content-Type-Options: nosniff"]
    lines += ["Connection: close"] if last else [f"Keep-Alive: {_KEEP_ALIVE}"]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
