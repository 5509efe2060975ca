"""Run jobs of the fleet on this machine: claim them, store them in a file, and report their results.

A job is claimed in the ledger, then stored in the file, then run like any durable hook. The claim is renewed
while the job is in the file, whichever process of this machine runs it. A job that another machine took is
forgotten.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from hookline.jobs.port import Job
from hookline.jobs.remote import JobReport, RemoteJobs
from hookline.jobs.stored import FILES, stored_call
from hookline.team.fleet.connection import HOOKS, Fleet, FleetError
from hookline.team.fleet.connection import QueueMessage as Delivery
from hookline.team.fleet.jobs.ledger import Busy, Held, Ledger, job_key
from hookline.team.fleet.jobs.publisher import JobMessage

#: Seconds that one request for jobs waits, and one for the first job after a while without any.
_ASKS: Final = 1.0
_IDLE: Final = 20.0
_decode: Final = msgspec.json.Decoder(JobMessage).decode


class JobConsumer:
    """Consumer of jobs while slots are free; it reports results until cancelled."""

    def __init__(
        self, fleet: Fleet, ledger: Ledger, taken: RemoteJobs, directory: str, slots: int, note: Callable[[str], None],
        begun: Callable[[], None],
    ) -> None:  # fmt: skip
        self._fleet = fleet
        self._ledger = ledger
        self._taken = taken
        #: Where hooks run: a directory that another machine names may belong to another user here.
        self._folder = directory
        self._slots = slots
        self._note = note
        #: Called when a job can be run.
        self._begun = begun
        self._held: dict[str, Held] = {}
        self._deliveries: dict[str, Delivery] = {}
        self._room = asyncio.Event()
        self._news = asyncio.Event()
        taken.on_change = self._news.set
        #: Jobs that were taken away from this machine.
        self.lost = 0

    async def begin(self) -> None:
        """Resume jobs that an earlier process of this machine has claimed and still owns."""
        self._held = {}
        self._deliveries = {}
        for key in self._taken.keys(delivered=False):
            found = await self._ledger.read(key)
            if found is None or (self._ledger.is_own(found[1]) and found[1].state == "taken"):
                held = await self._ledger.claim(key)
                if isinstance(held, Held):
                    self._held[key] = held
            elif not self._ledger.is_own(found[1]) or found[1].state == "over":
                self._forget(key)

    async def run(self, hooks: Callable[[], Mapping[str, object]]) -> None:
        """Consume jobs until cancelled. `hooks` returns this machine's hooks for the fleet, by their keys."""
        asking: dict[str, asyncio.Task[None]] = {}
        await self.begin()
        home = self._fleet.listening(f"hl.home.{self._fleet.settings.worker}", self._is_home)
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
        """Release unfinished jobs when this machine stops, so that others may take them."""
        for key, held in tuple(self._held.items()):
            await self._ledger.release(key, held)
            self._taken.forget(key)
            if key in self._deliveries:
                await self._deliveries[key].put_off(0)
        self._held, self._deliveries = {}, {}

    # -- taking

    async def _ask(self, hook: str) -> None:
        idle = False
        while True:
            while not self._free():
                self._room.clear()
                await self._room.wait()
            # One that waits for a single job returns with it at once.
            most, seconds = (1, _IDLE) if idle else (self._free(), _ASKS)
            found = await self._fleet.fetch(HOOKS, f"hl.job.{hook}.*", hook, most, seconds)
            idle = not found
            await asyncio.gather(*(self._take(delivery) for delivery in found))

    def _free(self) -> int:
        return max(0, self._slots - len(self._held))

    async def _take(self, delivery: Delivery) -> None:
        try:
            message = _decode(delivery.data)
            stored = stored_call(message.body)
        except (msgspec.MsgspecError, ValueError) as problem:
            # Its machine still has it, and reports it if no machine takes it.
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
        """Renew the claims of this machine. Give up a job that another machine took."""
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

    async def _report_one(self, report: JobReport) -> None:
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
            why = f"its result is larger than the {self._fleet.most_bytes:,} bytes that the server accepts"
        if not await self._ledger.settle(key, held, state, wakes, why):
            self._forget(key)
            return
        delivery = self._deliveries.get(key)
        await self._say_over(key)
        # It stays in the file: the server may lose what it has acknowledged.
        self._taken.mark(key, delivered=True)
        self._held.pop(key, None)
        self._deliveries.pop(key, None)
        self._room.set()
        if delivery is not None:
            try:
                await delivery.acknowledge()
            except FleetError:
                pass  # it is delivered again, and is over then

    def _is_home(self, data: bytes) -> None:
        """Delete a job whose sender has stored the result."""
        self._taken.forget(data.decode(errors="replace"))

    async def _confirm(self) -> None:
        """Announce results again, as their sender may have been away; then ask the ledger about silent ones."""
        said: set[str] = set()
        asked = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(_ASKS)
            delivered = self._taken.keys(delivered=True)
            for key in [each for each in delivered if each not in said]:
                await self._say_over(key)
            said = set(delivered)
            if asyncio.get_running_loop().time() - asked > self._fleet.settings.lease:
                for key in delivered:
                    await self._ask_about(key)
                asked, said = asyncio.get_running_loop().time(), set[str]()

    async def _ask_about(self, key: str) -> None:
        found = await self._ledger.read(key)
        if found is None:
            self._taken.mark(key, delivered=False)
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
