"""Connections of relays: requests that come in pieces, answers that are taken slowly, relays that are gone."""

import asyncio
import socket
from collections.abc import Callable

from hookline.hook.daemon.connection import RelayConnection, SocketListener
from hookline.hook.daemon.protocol import (
    ANSWER,
    RelayReply,
    RelayRequest,
    read_frame,
    read_reply,
    write_request,
)
from tests.hook.daemon.daemons import HEADER_BYTES, SharedResident, decision

_REQUEST = RelayRequest("1", "/", ("hook",), {"A": "b"}, b"x" * 500_000)


def _pair(
    take: Callable[[RelayConnection, RelayRequest, int], None],
) -> tuple[RelayConnection, socket.socket]:
    own, other = socket.socketpair()
    connection = RelayConnection(own, take, print)
    connection.start()
    other.setblocking(False)
    return connection, other


async def _until(happened: Callable[[], bool]) -> None:
    while not happened():
        await asyncio.sleep(0.001)


def test_a_request_may_come_in_pieces_and_the_answer_be_taken_slowly() -> None:
    async def main() -> None:
        taken: list[RelayRequest] = []
        connection, relay = _pair(lambda _connection, request, _pid: taken.append(request))
        loop = asyncio.get_running_loop()
        sent = write_request(_REQUEST)
        for start, end in ((0, 1), (1, 30), (30, len(sent) - 1), (len(sent) - 1, len(sent))):
            assert not taken
            await loop.sock_sendall(relay, sent[start:end])
            await asyncio.sleep(0.01)
        await _until(lambda: bool(taken))
        assert taken == [_REQUEST]
        reply = RelayReply(0, b"y" * 5_000_000)
        connection.answer(reply)
        received = b""
        while part := await loop.sock_recv(relay, 1 << 16):
            received += part
        found = read_frame(received)
        assert found is not None
        assert (found[0], read_reply(found[1]), HEADER_BYTES + len(found[1])) == (
            ANSWER,
            reply,
            len(received),
        )
        relay.close()

    asyncio.run(main())


def test_a_relay_that_goes_cancels_its_call_also_while_it_is_written_to() -> None:
    async def main() -> None:
        for received in (b"", b"z" * 5_000_000):
            connection, relay = _pair(lambda _connection, _request, _pid: None)
            await asyncio.get_running_loop().sock_sendall(relay, write_request(_REQUEST))
            connection.task = task = asyncio.create_task(asyncio.Event().wait())  # pyright: ignore[reportAttributeAccessIssue]
            await asyncio.sleep(0.01)
            connection.send(received)
            relay.close()
            await asyncio.wait([task], timeout=30)
            assert task.cancelled()

    asyncio.run(main())


def test_without_descriptors_connections_are_taken_later() -> None:
    class Full(socket.socket):
        tries = 0

        def accept(self) -> tuple[socket.socket, object]:
            Full.tries += 1
            if Full.tries == 1:
                raise OSError(24, "Too many open files")
            return super().accept()

    async def main() -> None:
        taken: list[RelayRequest] = []
        said: list[str] = []
        listening = Full(socket.AF_UNIX)
        listening.setblocking(False)
        listening.bind("\0hookline-test-connections")
        listening.listen()
        listener = SocketListener(
            listening, lambda _connection, request, _pid: taken.append(request), said.append
        )
        with socket.socket(socket.AF_UNIX) as relay:
            relay.connect("\0hookline-test-connections")
            relay.sendall(write_request(RelayRequest("1", "/", ("hook",), {}, b"")))
            await _until(lambda: bool(taken))
        assert len(said) == 1
        assert "Too many open files" in said[0]
        listener.close()
        listener.close()

    asyncio.run(main())


def test_many_at_once_are_all_answered(daemon: SharedResident) -> None:
    async def main() -> None:
        replies = await asyncio.gather(
            *(asyncio.to_thread(daemon.call, session_id=f"{daemon.session} {n}") for n in range(40))
        )
        assert [decision(reply) for reply in replies] == [None] * 40

    asyncio.run(main())
