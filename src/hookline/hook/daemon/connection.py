"""Handle connections of relays: one request each, the relay's agreement to start hooks, and its end.

It does not use asyncio's transports, and a call runs at once as far as it can: most are over before the event
loop would have made their first step.
"""

import asyncio
import os
import socket
import types
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, Final

from hookline.hook.daemon import protocol
from hookline.hook.daemon.directory import peer
from hookline.hook.daemon.protocol import RelayReply, RelayRequest

if TYPE_CHECKING:
    from hookline.hook.daemon.calls import DaemonCall

_CHUNK: Final = 1 << 18
#: Connections that are taken before anything else is done.
_AT_ONCE: Final = 64
#: Seconds until connections are taken again, if no descriptor is left for one.
_PAUSE: Final = 1.0

#: Called with a complete request, and the process that has sent it.
Take = Callable[["RelayConnection", RelayRequest, int], None]


class SocketListener:
    """A listener on a socket."""

    def __init__(self, listening: socket.socket, take: Take, log: Callable[[str], None]) -> None:
        self._listening = listening
        self._take = take
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._watch()

    def close(self) -> None:
        """Take no further connections; open ones continue."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._listening)
            self._listening.close()

    def _watch(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._listening, self._accept)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            if self._closed:
                return
            try:
                accepted, _address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as problem:
                self._log(f"a connection cannot be taken: {problem.strerror}")
                self._loop.remove_reader(self._listening)
                self._loop.call_later(_PAUSE, self._watch)
                return
            RelayConnection(accepted, self._take, self._log).start()


class RelayConnection:
    """One relay."""

    def __init__(self, connected: socket.socket, take: Take, log: Callable[[str], None]) -> None:
        self._socket = connected
        self._take = take
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._pid = 0
        self._received = bytearray()
        self._length: int | None = None
        self._asked = False
        self._agreed: asyncio.Future[None] | None = None
        self._watched = False
        self._unsent = b""
        self._finished = False
        self._closed = False
        self.task: asyncio.Task[None] | None = None
        self.call: DaemonCall | None = None

    def start(self) -> None:
        self._socket.setblocking(False)
        self._pid, user = peer(self._socket)
        if user != os.getuid():
            self._close()
        else:
            # Most requests have come before the connection was taken.
            self._read()

    # -- messages of the relay

    def _read(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            data = None
        except OSError:
            data = b""
        if data:
            self._receive(data)
        elif data is not None:
            self._lose()
        if not self._watched and not self._closed:
            self._watched = True
            self._loop.add_reader(self._socket, self._read)

    def _receive(self, data: bytes) -> None:
        if self._asked:
            if self._agreed is not None and not self._agreed.done() and data[:1] == protocol.GO:
                self._agreed.set_result(None)
            return
        self._received += data
        if self._length is None and len(self._received) >= protocol.HEADER.size:
            magic, length = protocol.HEADER.unpack_from(self._received)
            if magic != protocol.MAGIC or length > protocol.MOST_BYTES:
                self._close()
                return
            self._length = length
        if self._length is not None and len(self._received) >= protocol.HEADER.size + self._length:
            self._take_request()

    def _take_request(self) -> None:
        self._asked = True
        body = bytes(memoryview(self._received)[protocol.HEADER.size :])
        self._received = bytearray()
        try:
            request = protocol.read_request(body)
        except protocol.ProtocolError as problem:
            self._log(f"a request that cannot be read: {problem}")
            self._close()
            return
        self._take(self, request, self._pid)

    def _lose(self) -> None:
        """Cancel the call: the agent has ended the relay, so no one waits for these hooks any more."""
        self._close()
        if self.task is not None:
            self.task.cancel()

    # -- messages to the relay

    async def begin(self) -> None:
        """Ask the relay to agree that hooks with effects start: it may be gone, or have waited too long."""
        if self._agreed is None:
            self._agreed = self._loop.create_future()
            if self.call is not None:
                self.send(protocol.answer_frame(protocol.BEGINS, self.call.if_lost()))
        await asyncio.shield(self._agreed)

    def answer(self, reply: RelayReply) -> None:
        self.finish(protocol.answer_frame(protocol.ANSWER, reply))

    def finish(self, last: bytes) -> None:
        self.task = None
        self._finished = True
        self.send(last)

    def send(self, data: bytes) -> None:
        if self._closed:
            return
        self._unsent += data
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self._lose()
            return
        if self._unsent:
            self._loop.add_writer(self._socket, self.send, b"")
        elif self._finished:
            self._close()
        else:
            self._loop.remove_writer(self._socket)

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._watched:
                self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket.close()


def run_at_once(work: Coroutine[Any, Any, None]) -> "Coroutine[Any, Any, None] | None":
    """Make the first step of a coroutine; return the rest for a task. Raises what it raises."""
    context = copy_context()
    try:
        waits_for = context.run(work.send, None)
    except StopIteration:
        return None
    return _rest(work, waits_for, context)


async def _rest(work: Coroutine[Any, Any, None], waits_for: Any, context: Context) -> None:
    await _steps(work, waits_for, context)


@types.coroutine
def _steps(work: Coroutine[Any, Any, None], waits_for: Any, context: Context) -> Generator[Any, Any, None]:
    """Do what `await` would do; it does not accept a coroutine which has begun."""
    while True:
        try:
            sent = yield waits_for
        except BaseException as problem:  # noqa: BLE001 it is for the work
            step, value = work.throw, problem
        else:
            step, value = work.send, sent
        try:
            waits_for = context.run(step, value)
        except StopIteration:
            return
