"""Route wakes across machines: one machine owns a session; wakes are routed to it.

The machine where a session was opened last claims it. The revision of that claim is the session's epoch: a
machine that finds another revision has lost the session. For each wake that moves, an entry says which
machine has it, and only that one may deliver it; the entry is changed only from the revision that was read.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct

from hookline.jobs.outbox import Leaving, LocalSession, Outbox
from hookline.jobs.port import Wake
from hookline.team.fleet.connection import SESSIONS, WAKE, BucketEntry, Fleet, QueueMessage, token

#: Poll intervals of the file, of the sessions' entries, and of a wake that has not arrived, in seconds.
_LOOK: Final = 0.25
_SESSIONS: Final = 10.0
_ARRIVES: Final = 5.0
_MOVED: Final = "hl.moved"
#: Seconds that one request for wakes waits, and one for the first wake after a while without any.
_ASKS: Final = 1.0
_IDLE: Final = 20.0


class SessionOwner(Struct, frozen=True):
    """The machine that owns a session."""

    machine: str


class WakeOwner(Struct, frozen=True):
    """The machine that has a wake, and whether it has confirmed that."""

    machine: str
    there: bool = False


_decode_holder: Final = msgspec.json.Decoder(SessionOwner).decode
_decode_place: Final = msgspec.json.Decoder(WakeOwner).decode
_wake: Final = msgspec.json.Decoder(Wake).decode


def _holder(found: BucketEntry) -> str:
    """Return the machine that owns a session; empty if the entry is unreadable, which the next claim repairs."""
    try:
        return _decode_holder(found.value).machine
    except msgspec.MsgspecError:
        return ""


def _place(found: BucketEntry | None) -> WakeOwner | None:
    try:
        return _decode_place(found.value) if found is not None else None
    except msgspec.MsgspecError:
        return None


class WakeRouter:
    """Router of wakes: it claims sessions opened here, sends wakes away and receives others, until cancelled."""

    def __init__(self, fleet: Fleet, file: Outbox, machine: str, note: Callable[[str], None]) -> None:
        self._fleet = fleet
        self._file = file
        self._machine = machine
        self._note = note
        self._asked: dict[str, float] = {}
        self._hints: set[str] = set()

    async def run(self) -> None:
        def hint(data: bytes) -> None:
            self._hints.add(data.decode(errors="replace"))

        try:
            async with self._fleet.listening(_MOVED, hint), asyncio.TaskGroup() as group:
                group.create_task(self._receive())
                while True:
                    for listener in self._file.listeners():
                        await self._follow(listener)
                    for leaving in self._file.leaving():
                        await self._send(leaving)
                    await asyncio.sleep(_LOOK)
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None

    # -- sessions

    async def _follow(self, listener: LocalSession) -> None:
        if listener.claimed is None:
            if listener.alive:
                await self._claim(listener)
            return
        key, clock = token(listener.session), asyncio.get_running_loop().time()
        if key not in self._hints and clock - self._asked.get(key, 0.0) < _SESSIONS:
            return
        self._hints.discard(key)
        self._asked[key] = clock
        found = await self._fleet.get(SESSIONS, f"session.{key}")
        other = _holder(found) if found is not None else ""
        if not other:  # lost with the server's disk
            await self._claim(listener)
        elif other != self._machine:
            if other != listener.elsewhere:
                self._file.moved(listener, other)
                self._note(f"the session {listener.session} continues on {other}")
            elif not listener.alive:
                self._file.send_away(listener)

    async def _claim(self, listener: LocalSession) -> None:
        """Claim a session: the machine that opened it last owns it."""
        key = f"session.{token(listener.session)}"
        found = await self._fleet.get(SESSIONS, key)
        if found is not None and _holder(found) == self._machine:
            self._file.claimed(listener, found.revision)
            return
        own = msgspec.json.encode(SessionOwner(self._machine))
        revision = await self._fleet.put(SESSIONS, key, own, found.revision if found is not None else 0)
        if revision is not None:  # else at the next look
            self._file.claimed(listener, revision)
            await self._fleet.say(_MOVED, token(listener.session).encode())

    # -- wakes that leave

    async def _send(self, leaving: Leaving) -> None:
        """Send a wake to the machine that owns its session; or keep it, if that is this one again."""
        wake_id, holder = leaving.wake.id, await self._holder_of(leaving)
        key = f"wake.{wake_id}"
        found = await self._fleet.get(SESSIONS, key)
        place = _place(found)
        if place is not None and place.there and place.machine != self._machine:
            self._file.left(wake_id)
            return
        revision = found.revision if found is not None else 0
        if holder == self._machine:
            own = msgspec.json.encode(WakeOwner(self._machine, there=True))
            if await self._fleet.put(SESSIONS, key, own, revision) is not None:
                self._file.stays(wake_id)
            return
        if place is None or place.machine != holder:
            there = msgspec.json.encode(WakeOwner(holder))
            if await self._fleet.put(SESSIONS, key, there, revision) is None:
                return  # it is being taken right now
        subject = f"hl.wake.{holder}.{token(leaving.wake.session)}"
        await self._fleet.publish(subject, msgspec.json.encode(leaving.wake))
        self._file.look_again(wake_id, _ARRIVES if place is not None else _LOOK)

    async def _holder_of(self, leaving: Leaving) -> str:
        found = await self._fleet.get(SESSIONS, f"session.{token(leaving.wake.session)}")
        return (_holder(found) if found is not None else "") or leaving.machine

    # -- incoming wakes

    async def _receive(self) -> None:
        idle = False
        while True:
            # One that waits for a single wake returns with it at once.
            most, seconds = (1, _IDLE) if idle else (16, _ASKS)
            found = await self._fleet.fetch(
                WAKE, f"hl.wake.{self._machine}.*", f"wake-{self._machine}", most, seconds
            )
            idle = not found
            for message in found:
                await self._take(message)

    async def _take(self, message: QueueMessage) -> None:
        try:
            wake = _wake(message.data)
        except msgspec.MsgspecError as problem:
            self._note(f"a wake cannot be read, so it stays where it was: {problem}")
            await message.acknowledge()
            return
        key = f"wake.{wake.id}"
        found = await self._fleet.get(SESSIONS, key)
        place = _place(found)
        if found is None or place is None or place.machine != self._machine:
            await message.acknowledge()  # it goes elsewhere; or its machine sends it again
            return
        self._file.arrived(wake)
        if not place.there:
            own = msgspec.json.encode(WakeOwner(self._machine, there=True))
            await self._fleet.put(SESSIONS, key, own, found.revision)
        await message.acknowledge()
