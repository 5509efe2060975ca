"""Run a process of `kills`: the host of the session, or a worker of the fleet that can die at the worst times."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from hookline import Engine
from hookline.jobs import outbox, remote
from hookline.jobs.port import Lease, Settled, Wake
from hookline.team.fleet import worker
from hookline.team.fleet.connection import BucketEntry
from hookline.team.fleet.jobs import ledger
from hookline.team.fleet.jobs.ledger import Claim, Held, Standing
from hookline.team.fleet.settings import read_settings
from tests.jobs.player import append, end_before_settle, host, taken

DIRECTORY = Path(sys.argv[2])
MUTANT = sys.argv[3] if len(sys.argv) > 3 else ""


class RemoteJobs(remote.RemoteJobs):
    """The real one, in a process that is ended or stopped after the effect of a hook, before that is settled."""

    def settle(self, lease: Lease, wakes: Sequence[Wake], why: str = "") -> Settled:
        end_before_settle(DIRECTORY, lease)
        return super().settle(lease, wakes, why)


class Ledger(ledger.Ledger):
    """The real worker, in a process that ends when a result is in the ledger and before it is announced."""

    async def settle(self, key: str, held: Held, state: Standing, wakes: tuple[Wake, ...], why: str) -> bool:
        done = await super().settle(key, held, state, wakes, why)
        if done and taken(DIRECTORY / "kill-before-told"):
            os.kill(os.getpid(), signal.SIGKILL)
        return done


class BlindLedger(ledger.Ledger):
    """A mutant: it writes every result it has, no matter who owns the job, and whether it is over or not."""

    async def claim(self, key: str) -> Held | ledger.Busy | None:
        found = await super().claim(key)
        own = Claim(state="taken", machine=self._machine, file=self._file)
        return Held(own, 0) if found is None else found

    async def settle(self, key: str, held: Held, state: Standing, wakes: tuple[Wake, ...], why: str) -> bool:
        result = Claim(state=state, machine=self._machine, file=self._file, wakes=wakes)
        await self._fleet.put("settled", key, msgspec.json.encode(result))
        return True

    async def close(self, key: str, entry: BucketEntry, claim: Claim) -> None:
        """A result that was brought home is as good as a new one."""


class ForgetfulJobs(RemoteJobs):
    """A mutant: what was taken away is settled all the same."""

    def forget(self, key: str) -> None:
        pass


class RepeatingOutbox(outbox.Outbox):
    """A mutant: a result counts each time that it comes."""

    def finish(
        self,
        job_id: str,
        turn: int,
        state: Literal["settled", "dead"],
        wakes: Sequence[Wake],
        why: str,
        tries: int,
    ) -> bool:
        append(DIRECTORY / "results", job_id)
        if super().finish(job_id, turn, state, wakes, why, tries):
            return True

        def again(connection: Any) -> None:
            for wake in wakes:
                row = f"{wake.id}-{os.urandom(4).hex()}", wake.session, wake.body
                connection.execute("INSERT INTO wake (id, session, body, at) VALUES (?, ?, ?, 0)", row)

        self._write(again)
        return True


async def work() -> None:
    names: Any = worker
    names.RemoteJobs, names.Ledger = RemoteJobs, Ledger
    if MUTANT == "settles again":
        names.RemoteJobs, names.Ledger, names.Outbox = ForgetfulJobs, BlindLedger, RepeatingOutbox
    settings = read_settings(os.environ)

    def say(line: str) -> None:
        append(DIRECTORY / f"{settings.name}.log", line)

    await worker.Worker(settings, os.environ, say).run()


async def play() -> None:
    async with Engine(drain_seconds=0.2) as engine:
        engine.load(DIRECTORY)
        await host(DIRECTORY, engine, MUTANT)


if __name__ == "__main__":
    asyncio.run(play() if sys.argv[1] == "host" else work())
