"""Hold the name of this machine in the fleet by renewing it: one machine has it at a time.

A second machine of the same name is refused. Otherwise both would take what is meant for one of them.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.errors import HooklineError
from hookline.team.fleet.connection import MACHINES, Fleet, FleetError

#: Prefix of the entries that say which machine has a name.
KEY: Final = "machine."
#: Seconds between two requests for the server's time; between them the own clock counts.
_TIME_EVERY: Final = 60.0


class NameTakenError(HooklineError):
    """An error: another machine has the name of this one."""


class Presence(Struct, frozen=True, kw_only=True):
    """A machine that is present, and its state."""

    #: Its file of taken jobs, which distinguishes two machines of one name.
    file: str
    pid: int
    #: Its jobs that the fleet has not settled, and those of others that it has.
    waiting: int = 0
    running: int = 0
    #: Jobs that were taken away from it, because it was silent for too long.
    lost: int = 0
    #: Wakes on their way to other machines, and runs that are not sent yet.
    wakes: int = 0
    unsent: int = 0
    #: Runs that are missing in the audit, and when that was last found, in seconds since the epoch.
    missing: int = 0
    missed: float = 0.0
    #: The problem that it has now; the last one that it had, and when; and the number of problems since the start.
    problem: str = ""
    last_problem: str = ""
    last_problem_at: float = 0.0
    problems: int = 0
    #: The version of Hookline, and the user whom it serves.
    hookline: str = ""
    user: str = ""


class Machine:
    """Presence of this machine, renewed until cancelled."""

    def __init__(self, fleet: Fleet, state: Callable[[], Presence], on_time: Callable[[float], None]) -> None:
        self._fleet = fleet
        self._state = state
        self._on_time = on_time
        self._revision = 0

    async def begin(self) -> None:
        """Take the name. Raises NameTakenError if another machine has renewed it within the lease."""
        key, own = self._key, self._state()
        for _ in range(3):
            at = await self.time()
            found = await self._fleet.get(MACHINES, key)
            if found is not None and at - found.written < self._fleet.settings.lease:
                self._refuse_other(found.value, own)
            revision = await self._fleet.put(
                MACHINES, key, msgspec.json.encode(own), found.revision if found is not None else 0
            )
            if revision is not None:
                self._revision = revision
                return
        raise FleetError(f"the name {self._fleet.settings.worker} is being taken by others")

    async def run(self) -> None:
        timed = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(self._fleet.settings.lease / 3)
            clock = asyncio.get_running_loop().time()
            if clock - timed > _TIME_EVERY:
                await self.time()
                timed = clock
            revision = await self._put(self._state())
            if revision is None:  # lost with the server's disk, or another machine's now
                await self.begin()

    async def leave(self) -> None:
        """Release the name."""
        own = self._state()
        await self._put(replace(own, file=""))

    async def _put(self, presence: Presence) -> int | None:
        revision = await self._fleet.put(MACHINES, self._key, msgspec.json.encode(presence), self._revision)
        self._revision = revision or self._revision
        return revision

    async def time(self) -> float:
        """Return the server's time, by which leases are measured."""
        at = await self._fleet.time()
        self._on_time(at)
        return at

    @property
    def _key(self) -> str:
        return f"{KEY}{self._fleet.settings.worker}"

    def _refuse_other(self, value: bytes, own: Presence) -> None:
        try:
            other = msgspec.json.decode(value, type=Presence)
        except msgspec.MsgspecError:
            return  # of another version: it does not say which machine has the name
        if other.file not in ("", own.file):
            name = self._fleet.settings.worker
            raise NameTakenError(
                f"another machine or user of the fleet is called {name} (process {other.pid} of {other.user} there);"
                ' write name = "…" into fleet.toml, with a name of its own for each machine; on a machine where'
                " several users have workers, write shared = true into /etc/hookline/fleet.toml"
            )
