"""Send this machine's fleet jobs, check on them, and store their results.

The file keeps them until their results are there. The server is asked again about each of them from time to
time: if it has lost a job, the job is sent again, and if that makes two of one, the ledger accepts only one
result.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.jobs.outbox import Outbox, Outgoing
from hookline.jobs.stored import stored_call
from hookline.jobs.wakes import as_wakes, dead_letter, numbered
from hookline.team.fleet.connection import Fleet, token
from hookline.team.fleet.jobs.ledger import Claim, Ledger, job_key

#: How many are sent at once.
_AT_ONCE: Final = 64
#: Poll interval of the file, in seconds.
_LOOK: Final = 0.05
#: Seconds after which the file is searched in any case: something may have become due.
_SEARCH: Final = 0.5
#: Seconds after which a job that no machine has taken is a dead letter: its hook may be gone everywhere.
_WAITS: Final = 6 * 86_400.0
#: Bytes of a message beside the body of its job.
_ENVELOPE: Final = 4096


class JobMessage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job in transit."""

    origin: str
    id: str
    turn: int
    session: str
    body: msgspec.Raw


class JobPublisher:
    """Sender of jobs and receiver of their results, until cancelled."""

    def __init__(
        self, fleet: Fleet, ledger: Ledger, outbox: Outbox, machine: str, note: Callable[[str], None]
    ) -> None:
        self._fleet = fleet
        self._ledger = ledger
        self._outbox = outbox
        self._machine = machine
        self._note = note
        self._lease = fleet.settings.lease
        self._over: asyncio.Queue[str] = asyncio.Queue()
        self._looked = float("-inf")
        self._more = False

    async def run(self) -> None:
        async with self._fleet.listening(f"hl.over.{self._machine}", self._translated):
            while True:
                jobs = self._due()
                if jobs:
                    await self._send(jobs)
                await self._results(_LOOK if len(jobs) < _AT_ONCE else 0)

    def _due(self) -> Sequence[Outgoing]:
        """Return the jobs to send or to check. The file is only searched if it may have new ones."""
        clock = time.monotonic()
        if not self._outbox.changed() and not self._more and clock - self._looked < _SEARCH:
            return ()
        self._looked = clock
        jobs = self._outbox.outgoing(_AT_ONCE)
        self._more = len(jobs) == _AT_ONCE
        return jobs

    def _translated(self, data: bytes) -> None:
        """Handle a machine's hint that a job is over; hints may be lost or wrong."""
        self._over.put_nowait(data.decode(errors="replace"))

    async def _results(self, seconds: float) -> None:
        """Fetch the results of jobs reported as over; wait this long for the first."""
        keys: set[str] = set()
        try:
            async with asyncio.timeout(seconds):
                keys.add(await self._over.get())
        except TimeoutError:
            return
        while not self._over.empty():
            keys.add(self._over.get_nowait())
        await asyncio.gather(*(self._result(key) for key in keys))

    async def _result(self, key: str) -> None:
        origin, _, rest = key.partition(".")
        job_id, _, turn = rest.partition(".")
        if origin == self._machine and turn.isdecimal():
            await self._bring_home(key, job_id, int(turn))

    async def _bring_home(self, key: str, job_id: str, turn: int) -> Claim | None:
        """Store a job's result in the file, if there is one, and return its claim. None: it must be sent again."""
        found = await self._ledger.read(key)
        if found is None:
            return None
        entry, claim = found
        if claim.state in ("settled", "dead"):
            state = "settled" if claim.state == "settled" else "dead"
            self._outbox.finish(job_id, turn, state, claim.wakes, claim.why, claim.takes)
            await self._ledger.close(key, entry, claim)
            await self._fleet.say(f"hl.home.{claim.machine}", key.encode())
            self._more = True  # the next one in order
        elif claim.state == "taken" and self._ledger.age(entry) > 3 * self._lease:
            return None  # its machine and its message are gone, or another machine would have taken it
        return claim

    async def _send(self, jobs: Sequence[Outgoing]) -> None:
        """Send new jobs, and check the state of the others."""
        done = await asyncio.gather(*(self._send_one(each) for each in jobs), return_exceptions=True)
        sent = [job for job, how in zip(jobs, done, strict=True) if how is True]
        # Checked rarely: the server itself redelivers jobs that a machine does not finish.
        self._outbox.sent([replace(each, sent=each.sent + 1) for each in sent], 2 * self._lease)
        problem = next((how for how in done if isinstance(how, BaseException)), None)
        if problem is not None:
            raise problem

    async def _send_one(self, out: Outgoing) -> bool:
        """Send or check one job. Returns True if it is in progress."""
        key = job_key(self._machine, out.job.id, out.turn)
        if out.sent:
            claim = await self._bring_home(key, out.job.id, out.turn)
            if claim is not None and claim.state == "over":
                self._outbox.again(out.job.id)
                return False
            if claim is not None:
                return claim.state == "taken"
            if time.time() - out.accepted > _WAITS:
                self._bury(out, "no machine of the fleet has taken it in six days: none may have its hook")
                return False
        try:
            stored = stored_call(out.job.body)
        except ValueError as problem:
            self._bury(out, str(problem))
            return False
        message = JobMessage(
            origin=self._machine,
            id=out.job.id,
            turn=out.turn,
            session=out.job.session,
            body=msgspec.Raw(out.job.body),
        )
        data = msgspec.json.encode(message)
        if len(data) + _ENVELOPE > self._fleet.most_bytes:
            self._bury(out, f"it is larger than the {self._fleet.most_bytes:,} bytes that the server accepts")
            return False
        subject = f"hl.job.{stored.fleet}.{token(out.job.session)}"
        # The server forgets the id after a while: this saves work, and nothing depends on it.
        await self._fleet.publish(subject, data, {"Nats-Msg-Id": f"{key}.{out.sent}"})
        return True

    def _bury(self, out: Outgoing, why: str) -> None:
        late = numbered([dead_letter(out.job, why, "was not run by the fleet")], out.job.id, out.turn)
        wakes = as_wakes(late, out.job.session)
        self._outbox.finish(out.job.id, out.turn, "dead", wakes, why, out.sent)
        self._note(f"a job is a dead letter: {why}")
