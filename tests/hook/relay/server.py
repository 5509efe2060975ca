"""Run a small daemon for tests: it speaks the protocol of the relay, and makes the mistakes a test wants."""

import contextlib
import socket
import threading
from collections.abc import Callable, Generator
from pathlib import Path

from msgspec import Struct

Respond = Callable[["Connection"], None]


class Asked(Struct, frozen=True):
    """A request as it arrived."""

    version: bytes
    directory: bytes
    arguments: tuple[bytes, ...]
    environment: tuple[bytes, ...]
    input: bytes


class Connection:
    def __init__(self, link: socket.socket) -> None:
        self.link = link

    def request(self) -> Asked:
        """Read a whole request. Raises AssertionError if it is not one."""
        assert self._take(8) == b"HKRELAY1"
        body = self._take(number(self._take(4)))
        texts = Texts(body)
        found = Asked(texts.text(), texts.text(), texts.texts(), texts.texts(), texts.text())
        assert not texts.left
        return found

    def send(self, *frames: bytes) -> None:
        self.link.sendall(b"".join(frames))

    def go(self) -> bytes:
        """The byte after 'B'; nothing if the relay has closed the connection."""
        return self.link.recv(1)

    def ended(self) -> bool:
        """Wait until the relay is gone."""
        return self.link.recv(1) == b""

    def _take(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = self.link.recv(min(size, 1 << 20))
            assert part, "the relay has closed the connection"
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class Texts:
    def __init__(self, left: bytes) -> None:
        self.left = memoryview(left)

    def text(self) -> bytes:
        size = self._number()
        assert size <= len(self.left)
        found, self.left = bytes(self.left[:size]), self.left[size:]
        return found

    def texts(self) -> tuple[bytes, ...]:
        return tuple(self.text() for _ in range(self._number()))

    def _number(self) -> int:
        found, self.left = number(bytes(self.left[:4])), self.left[4:]
        return found


def number(given: bytes) -> int:
    assert len(given) == 4
    return int.from_bytes(given, "little")


def text(given: bytes) -> bytes:
    return len(given).to_bytes(4, "little") + given


def frame(kind: bytes, body: bytes) -> bytes:
    return kind + text(body)


def answer(code: int, stdout: bytes = b"", stderr: bytes = b"", otherwise: bytes = b"") -> bytes:
    return code.to_bytes(4, "little") + text(stdout) + text(stderr) + text(otherwise)


class Server:
    """The requests, and what went wrong in the server itself."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.problems: list[BaseException] = []


@contextlib.contextmanager
def serving(directory: Path, respond: Respond) -> Generator[Server]:
    """Listen in this directory, one connection after another. A problem in the server fails the test."""
    directory.mkdir(mode=0o700, exist_ok=True)
    server = Server()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "relay"))
        listener.listen(8)
        thread = threading.Thread(target=_accept, args=(listener, respond, server), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
            thread.join()
            (directory / "relay").unlink()
    assert server.problems == []


def _accept(listener: socket.socket, respond: Respond, server: Server) -> None:
    while True:
        try:
            link, _ = listener.accept()
        except OSError:
            return
        server.connections += 1
        with link:
            link.settimeout(60)
            try:
                respond(Connection(link))
            except BaseException as problem:
                server.problems.append(problem)
