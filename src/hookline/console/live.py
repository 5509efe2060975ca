"""What happens now: new runs are indexed as they are written, and sent to every page that listens."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Final

import msgspec

from hookline.console.index import Index
from hookline.console.queries import IndexAwayError, Queries, Row

#: Seconds between two looks at the journal, while somebody listens and while nobody does.
_SOON: Final = 0.04
_LATER: Final = 0.5
#: Messages that wait for a client that is slow; then it loses the oldest.
_WAITING: Final = 64
#: Runs in one message, and those that a client that was away is told of.
_MOST: Final = 100
#: Seconds of silence after which something is sent, to find out whether the client is still there.
_SILENCE: Final = 15.0

Draw = Callable[[Row], str]


class Client:
    """One page that listens."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self._lost = 0
        self._changed = asyncio.Event()
        self._closed = False

    def put(self, message: bytes) -> None:
        """Never waits: a client that does not keep up loses its oldest message."""
        if len(self._messages) >= _WAITING:
            self._messages.popleft()
            self._lost += 1
        self._messages.append(message)
        self._changed.set()

    def close(self) -> None:
        self._closed = True
        self._changed.set()

    async def messages(self) -> AsyncIterator[bytes]:
        while not self._closed:
            try:
                await asyncio.wait_for(self._changed.wait(), _SILENCE)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            self._changed.clear()
            if self._lost:
                lost, self._lost = self._lost, 0
                yield b"event: lost\ndata: %d\n\n" % lost
            # Taken one by one: while one is sent, others may be lost.
            while self._messages:
                yield self._messages.popleft()


class Live:
    """Follows the sources, and has the clients."""

    def __init__(self, index: Index, queries: Queries, draw: Draw) -> None:
        self._index = index
        self._queries = queries
        self._draw = draw
        self._clients: set[Client] = set()
        self._told = (-1, "")
        self._wanted = asyncio.Event()

    @property
    def clients(self) -> int:
        return len(self._clients)

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                if await asyncio.to_thread(self._index.update):
                    await self._tell()
            except Exception as problem:  # noqa: BLE001 - the next look may do better, and this one is said
                self._index.note(f"reading the journal failed: {type(problem).__name__}: {problem}")
            self._wanted.clear()
            try:
                await asyncio.wait_for(self._wanted.wait(), _SOON if self._clients else _LATER)
            except TimeoutError:
                pass

    async def _tell(self) -> None:
        try:
            born, newest = await asyncio.to_thread(lambda: (self._queries.born(), self._queries.newest()))
            told, self._told = self._told, (newest, born)
            # The first look only finds where now is.
            if not self._clients or told[0] < 0 or told[1] != born or newest <= told[0]:
                return
            rows = await asyncio.to_thread(self._queries.after, told[0], _MOST)
        except IndexAwayError:
            return
        message = self._message(rows, newest - told[0], born)
        for client in self._clients:
            client.put(message)

    def _message(self, rows: Sequence[Row], number: int, born: str) -> bytes:
        """One event: the rows as pages show them, and what their filters ask for."""
        runs = [
            {
                "html": str(self._draw(row)), "flags": row.flags, "verdict": row.verdict, "status": row.status,
                "hook": row.hook, "agent": row.agent, "event": row.event, "session": row.session,
                "machine": row.machine, "project": row.project, "q": row.call,
            }
            for row in rows
        ]  # fmt: skip
        last = rows[-1].n if rows else 0
        data = msgspec.json.encode({"runs": runs, "left_out": max(number - len(rows), 0)})
        return b"id: %b-%d\nevent: runs\ndata: %b\n\n" % (born.encode(), last, data)

    async def listen(self, last: str) -> AsyncGenerator[bytes]:
        """Events from now on, after those since the last one that the client has had."""
        client = Client()
        self._clients.add(client)
        self._wanted.set()
        try:
            yield b"retry: 2000\n\n"
            missed = await self._missed(last)
            if missed is not None:
                yield missed
            async for message in client.messages():
                yield message
        finally:
            self._clients.discard(client)

    async def _missed(self, last: str) -> bytes | None:
        born, _, number = last.rpartition("-")
        try:
            now_born, newest = await asyncio.to_thread(lambda: (self._queries.born(), self._queries.newest()))
            if born != now_born or not number.isdecimal() or newest <= int(number):
                # It is told where now is, so that it can ask from there when it comes back.
                return b"id: %b-%d\nevent: now\ndata: {}\n\n" % (now_born.encode(), newest)
            rows = await asyncio.to_thread(self._queries.after, int(number), _MOST)
        except IndexAwayError:
            return None
        return self._message(rows, newest - int(number), now_born)

    def close(self) -> None:
        """End all streams, so that the server can."""
        for client in self._clients:
            client.close()
