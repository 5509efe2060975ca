"""Record which machine has which job, and its result: one entry per job, changed only from the revision that
was read.

A machine creates the entry to claim the job, and rewrites it while it has the job: that is the lease, by the
server's clock. Another machine takes a job over by writing at the revision it has seen. So a machine that was
stopped for too long finds another revision when it settles, and its result is ignored.
"""

import time
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.jobs.port import Wake
from hookline.team.fleet.connection import SETTLED, BucketEntry, Fleet

#: `over`: its machine has noted the result in its own file, so the rest of the entry is gone.
Standing = Literal["taken", "settled", "dead", "over"]


class Claim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Entry of a job."""

    state: Standing
    #: The machine that has or had it, and its file: two machines may have the same name.
    machine: str
    file: str
    #: How many machines have taken it.
    takes: int = 1
    why: str = ""
    wakes: tuple[Wake, ...] = ()


class Held(Struct, frozen=True):
    """A claim of this machine, and the revision needed to change it."""

    claim: Claim
    revision: int


class Busy(Struct, frozen=True):
    """A claim of another machine, for at least this many seconds."""

    seconds: float


def job_key(origin: str, job_id: str, turn: int) -> str:
    """Return the key of a job. A dead letter that is retried has another turn."""
    return f"{origin}.{job_id}.{turn}"


_decode: Final = msgspec.json.Decoder(Claim).decode


def read_claim(entry: BucketEntry) -> Claim:
    """Decode a claim.

    An unreadable one, of a newer version or edited by hand, is another machine's until its lease ends.
    """
    try:
        return _decode(entry.value)
    except msgspec.MsgspecError:
        return Claim(state="taken", machine="?", file="")


class Ledger:
    """The entries, as one machine sees and changes them."""

    def __init__(self, fleet: Fleet, machine: str, file: str, lease: float) -> None:
        self._fleet = fleet
        self._machine = machine
        self._file = file
        self._lease = lease
        #: The server's time and ours, when both were last known.
        self._server = (0.0, 0.0)

    def set_time(self, server: float) -> None:
        """Set the time of the server's clock."""
        self._server = server, time.monotonic()

    def age(self, entry: BucketEntry) -> float:
        """Return the seconds since it was written, by the server's clock; this machine's clock may be wrong."""
        at, ours = self._server
        return at + time.monotonic() - ours - entry.written if at else 0.0

    def is_own(self, claim: Claim) -> bool:
        return (claim.machine, claim.file) == (self._machine, self._file)

    async def read(self, key: str) -> tuple[BucketEntry, Claim] | None:
        entry = await self._fleet.get(SETTLED, key)
        return (entry, read_claim(entry)) if entry is not None else None

    async def claim(self, key: str) -> Held | Busy | None:
        """Claim a job that no machine has. Returns None if it is over."""
        own = Claim(state="taken", machine=self._machine, file=self._file)
        for _ in range(3):
            found = await self.read(key)
            if found is None:
                revision = await self._put(key, own, 0)
            else:
                entry, claim = found
                if claim.state != "taken":
                    return None
                if self.is_own(claim):
                    own = claim
                elif not claim.machine:
                    own = replace(own, takes=claim.takes)  # its machine gave it back
                elif (left := self._lease - self.age(entry)) > 0:
                    return Busy(left)
                else:
                    own = replace(own, takes=claim.takes + 1)
                revision = await self._put(key, own, entry.revision)
            if revision is not None:
                return Held(own, revision)
        return Busy(1.0)  # others want it, too

    async def renew(self, key: str, held: Held) -> Held | None:
        """Renew a claim. Returns None if another machine took it."""
        revision = await self._put(key, held.claim, held.revision)
        if revision is not None:
            return Held(held.claim, revision)
        return await self._found_again(key, held.claim)

    async def _found_again(self, key: str, claim: Claim) -> Held | None:
        """Read a claim after a failed write: our earlier write may have succeeded, or the server has lost its data."""
        found = await self.read(key)
        if found is None:
            revision = await self._put(key, claim, 0)
            return Held(claim, revision) if revision is not None else None
        entry, there = found
        return Held(there, entry.revision) if self.is_own(there) and there.state == "taken" else None

    async def settle(self, key: str, held: Held, state: Standing, wakes: tuple[Wake, ...], why: str) -> bool:
        """Record the result of a job. Returns False if another machine took it, so the result is ignored."""
        result = replace(held.claim, state=state, wakes=wakes, why=why)
        if await self._put(key, result, held.revision) is not None:
            return True
        found = await self.read(key)
        if found is None:
            return await self._put(key, result, 0) is not None
        entry, there = found
        if not self.is_own(there):
            return False
        if there.state != "taken":
            return True  # it was recorded before
        return await self._put(key, result, entry.revision) is not None

    async def release(self, key: str, held: Held) -> None:
        """Release a job, so that another machine can take it at once."""
        takes = max(1, held.claim.takes)
        await self._put(key, Claim(state="taken", machine="", file="", takes=takes), held.revision)

    async def close(self, key: str, entry: BucketEntry, claim: Claim) -> None:
        """Shrink the entry of a job whose sender has the result: only that it is over must be kept."""
        await self._put(key, replace(claim, state="over", wakes=()), entry.revision)

    async def _put(self, key: str, claim: Claim, revision: int) -> int | None:
        return await self._fleet.put(SETTLED, key, msgspec.json.encode(claim), revision)
