"""Follow the journal: index new runs as they are written, and send them to every open page."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Final

import msgspec

from hookline.team.console.index import Index
from hookline.team.console.queries import IndexAwayError, Queries, RunRow

#: Poll interval of the journal in seconds, with and without open pages.
_SOON: Final = 0.04
_LATER: Final = 0.5
#: Messages that wait for a client that is slow; then it loses the oldest.
_WAITING: Final = 64
#: Runs in one message, and the most that a returning client is sent.
_MOST: Final = 100
#: Seconds of silence after which something is sent, to find out whether the client is still there.
_SILENCE: Final = 15.0

#: Draws the call of a run: its number, which stays the same, and its HTML.
Draw = Callable[[RunRow], tuple[int, str]]


class Client:
    """One open page."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self._lost = 0
        self._changed = asyncio.Event()
        self._closed = False

    def put(self, message: bytes) -> None:
        """Queue a message without waiting: a client that does not keep up loses its oldest message."""
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
    """Follower of the sources, with its clients."""

    def __init__(self, index: Index, queries: Queries, draw: Draw) -> None:
        self._index = index
        self._queries = queries
        self._draw = draw
        self._clients: set[Client] = set()
        self._translated = (-1, "")
        self._wanted = asyncio.Event()

    @property
    def clients(self) -> int:
        return len(self._clients)

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                if await asyncio.to_thread(self._index.update):
                    await self._tell()
            except Exception as problem:  # noqa: BLE001 - the next round may succeed, and this error is reported
                self._index.note(f"reading the journal failed: {type(problem).__name__}: {problem}")
            self._wanted.clear()
            try:
                await asyncio.wait_for(self._wanted.wait(), _SOON if self._clients else _LATER)
            except TimeoutError:
                pass

    async def _tell(self) -> None:
        try:
            born, newest = await asyncio.to_thread(lambda: (self._queries.born(), self._queries.newest()))
            shown, self._translated = self._translated, (newest, born)
            # The first look only finds where now is.
            if not self._clients or shown[0] < 0 or shown[1] != born or newest <= shown[0]:
                return
            rows = await asyncio.to_thread(self._queries.after, shown[0], _MOST)
        except IndexAwayError:
            return
        message = self._message(rows, newest - shown[0], born)
        for client in self._clients:
            client.put(message)

    def _message(self, rows: Sequence[RunRow], number: int, born: str) -> bytes:
        """Encode one server-sent event: the rows as HTML, and the values that filters test."""
        runs = [
            {
                "call": drawn[0], "html": str(drawn[1]), "ms": row.ms, "reason": row.reason,
                "flags": row.flags, "decision": row.decision, "status": row.status,
                "hook": row.hook, "agent": row.agent, "event": row.event, "session": row.session,
                "machine": row.machine, "project": row.project, "q": row.call,
            }
            for row, drawn in ((row, self._draw(row)) for row in rows)
        ]  # fmt: skip
        last = rows[-1].n if rows else 0
        data = msgspec.json.encode({"runs": runs, "left_out": max(number - len(rows), 0)})
        return b"id: %b-%d\nevent: runs\ndata: %b\n\n" % (born.encode(), last, data)

    async def listen(self, last: str) -> AsyncGenerator[bytes]:
        """Yield events from now on, after those that the client has missed."""
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
                # It gets the current position, so that it can resume from there.
                return b"id: %b-%d\nevent: now\ndata: {}\n\n" % (now_born.encode(), newest)
            rows = await asyncio.to_thread(self._queries.after, int(number), _MOST)
        except IndexAwayError:
            return None
        return self._message(rows, newest - int(number), now_born)

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        for client in self._clients:
            client.close()
