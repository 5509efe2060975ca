"""Jobs of the fleet that this machine runs: taken, kept in its own file, and their results reported.

A job is claimed in the ledger, then kept in the file, then run as any durable hook is. The claim is renewed for as long
as the job is in the file, whichever process of this machine works on it. What was taken away is forgotten.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from hookline.fleet.connection import HOOKS, Fleet, FleetError
from hookline.fleet.connection import Message as Delivery
from hookline.fleet.jobs.ledger import Busy, Held, Ledger, job_key
from hookline.fleet.jobs.sender import Message
from hookline.jobs.port import Job
from hookline.jobs.remote import RemoteJobs, Report
from hookline.jobs.stored import FILES, stored_call

#: Seconds that one request for jobs waits.
_ASKS: Final = 1.0
_decode: Final = msgspec.json.Decoder(Message).decode


class Taker:
    """Takes jobs while there is room, and reports what came of them, until it is cancelled."""

    def __init__(
        self, fleet: Fleet, ledger: Ledger, taken: RemoteJobs, folder: str, slots: int, note: Callable[[str], None],
        begun: Callable[[], None],
    ) -> None:  # fmt: skip
        self._fleet = fleet
        self._ledger = ledger
        self._taken = taken
        #: Where hooks run: a directory that another machine names may be anybody's here.
        self._folder = folder
        self._slots = slots
        self._note = note
        #: Called when there is a job to be run.
        self._begun = begun
        self._held: dict[str, Held] = {}
        self._deliveries: dict[str, Delivery] = {}
        self._room = asyncio.Event()
        self._news = asyncio.Event()
        taken.on_change = self._news.set
        #: Jobs that were taken away from this machine.
        self.lost = 0

    async def begin(self) -> None:
        """Go on with what an earlier process of this machine has taken, as far as it still has it."""
        self._held = {}
        self._deliveries = {}
        for key in self._taken.keys(told=False):
            found = await self._ledger.read(key)
            if found is None or (self._ledger.is_own(found[1]) and found[1].state == "taken"):
                held = await self._ledger.claim(key)
                if isinstance(held, Held):
                    self._held[key] = held
            elif not self._ledger.is_own(found[1]) or found[1].state == "over":
                self._forget(key)

    async def run(self, hooks: Callable[[], Mapping[str, object]]) -> None:
        """`hooks` are those that this machine has for the fleet, by their keys, as they are now."""
        asking: dict[str, asyncio.Task[None]] = {}
        await self.begin()
        home = self._fleet.listening(f"hl.home.{self._fleet.settings.name}", self._is_home)
        try:
            async with home, asyncio.TaskGroup() as group:
                group.create_task(self._report())
                group.create_task(self._renew())
                group.create_task(self._confirm())
                while True:
                    wanted = set(hooks()) if self._slots else set[str]()
                    for key in asking.keys() - wanted:
                        asking.pop(key).cancel()
                    for key in wanted - asking.keys():
                        asking[key] = group.create_task(self._ask(key))
                    await asyncio.sleep(1.0)
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None

    async def release(self) -> None:
        """This machine ends its work: others may take what it has not finished."""
        for key, held in tuple(self._held.items()):
            await self._ledger.release(key, held)
            self._taken.forget(key)
            if key in self._deliveries:
                await self._deliveries[key].put_off(0)
        self._held, self._deliveries = {}, {}

    # -- taking

    async def _ask(self, hook: str) -> None:
        while True:
            while not self._free():
                self._room.clear()
                await self._room.wait()
            found = await self._fleet.fetch(HOOKS, f"hl.job.{hook}.*", hook, self._free(), _ASKS)
            await asyncio.gather(*(self._take(delivery) for delivery in found))

    def _free(self) -> int:
        return max(0, self._slots - len(self._held))

    async def _take(self, delivery: Delivery) -> None:
        try:
            message = _decode(delivery.data)
            stored = stored_call(message.body)
        except (msgspec.MsgspecError, ValueError) as problem:
            # Its machine has it still, and says so when nobody takes it.
            self._note(f"a message on {delivery.subject} cannot be read, so it is left out: {problem}")
            await delivery.acknowledge()
            return
        key = job_key(message.origin, message.id, message.turn)
        held = await self._ledger.claim(key)
        if held is None:
            await delivery.acknowledge()
            return
        if isinstance(held, Busy):
            await delivery.put_off(held.seconds)
            return
        body = msgspec.json.encode(replace(stored, directory=self._folder))
        job = Job(id=message.id, session=message.session, queue=FILES, body=body)
        self._held[key] = held
        self._deliveries[key] = delivery
        if self._taken.take(job, key, message.turn, held.claim.takes - 1):
            self._begun()
        else:
            self._news.set()

    # -- keeping and reporting

    async def _renew(self) -> None:
        """Say that this machine has what it has. A job that was taken away is given up."""
        while True:
            await asyncio.sleep(self._fleet.settings.lease / 3)
            for key, held in tuple(self._held.items()):
                if self._held.get(key) is not held:
                    continue  # it is over meanwhile
                kept = await self._ledger.renew(key, held)
                if kept is None:
                    self._forget(key)
                elif self._held.get(key) is held:
                    self._held[key] = kept
                    if key in self._deliveries:
                        await self._deliveries[key].at_work()

    async def _report(self) -> None:
        while True:
            self._news.clear()
            for report in self._taken.reports():
                await self._report_one(report)
            try:
                async with asyncio.timeout(1.0):
                    await self._news.wait()
            except TimeoutError:
                pass  # another process of this machine may have finished something

    async def _report_one(self, report: Report) -> None:
        key = report.key
        held = self._held.get(key)
        if held is None:
            claimed = await self._ledger.claim(key)
            if not isinstance(claimed, Held):
                self._forget(key, lost=claimed is not None)  # else an earlier process has reported it
                return
            held = claimed
        wakes, why, state = report.wakes, report.why, report.state
        if sum(len(wake.body) for wake in wakes) * 4 / 3 + 4096 > self._fleet.most_bytes:
            wakes, state = (), "dead"
            why = f"what it said is larger than the {self._fleet.most_bytes:,} bytes that the server takes"
        if not await self._ledger.settle(key, held, state, wakes, why):
            self._forget(key)
            return
        delivery = self._deliveries.get(key)
        await self._say_over(key)
        # It stays in the file: what the server has acknowledged may be gone tomorrow.
        self._taken.tell(key, told=True)
        self._held.pop(key, None)
        self._deliveries.pop(key, None)
        self._room.set()
        if delivery is not None:
            try:
                await delivery.acknowledge()
            except FleetError:
                pass  # it comes again, and is over then

    def _is_home(self, data: bytes) -> None:
        """The machine that asked has noted the result: nothing of it is needed any more."""
        self._taken.forget(data.decode(errors="replace"))

    async def _confirm(self) -> None:
        """Say again that a result is there, as its machine may just have been away; ask, if nothing is heard then."""
        said: set[str] = set()
        asked = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(_ASKS)
            told = self._taken.keys(told=True)
            for key in [each for each in told if each not in said]:
                await self._say_over(key)
            said = set(told)
            if asyncio.get_running_loop().time() - asked > self._fleet.settings.lease:
                for key in told:
                    await self._ask_about(key)
                asked, said = asyncio.get_running_loop().time(), set[str]()

    async def _ask_about(self, key: str) -> None:
        found = await self._ledger.read(key)
        if found is None:
            self._taken.tell(key, told=False)
            self._news.set()
        elif found[1].state == "over" or not self._ledger.is_own(found[1]):
            self._taken.forget(key)

    async def _say_over(self, key: str) -> None:
        await self._fleet.say(f"hl.over.{key.partition('.')[0]}", key.encode())

    def _forget(self, key: str, *, lost: bool = True) -> None:
        self._taken.forget(key)
        self._held.pop(key, None)
        self._deliveries.pop(key, None)
        self._room.set()
        if lost:
            self.lost += 1
            self._note("jobs were given up, because other machines have taken them or they are over")
