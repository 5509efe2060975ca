"""Run this machine's part in the fleet: send its jobs, wakes and runs, and run jobs of other machines.

One process of the user does it. Agents and hooks use only files, so they keep working while the server is
down, and this process reconnects when it is back.
"""

import asyncio
import fcntl
import os
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from hookline import __version__
from hookline.config.bundles.format import BundleError
from hookline.config.bundles.settings import bundle_settings
from hookline.config.bundles.store import BundleStore
from hookline.config.engine import Engine
from hookline.config.journals import user_journal
from hookline.jobs.outbox import Outbox
from hookline.jobs.port import DurableError
from hookline.jobs.remote import RemoteJobs
from hookline.journal.file import account_name, state_dir
from hookline.model.errors import HooklineError
from hookline.team.fleet.approvals import ApprovalForwarder
from hookline.team.fleet.audit.ship import Shipper
from hookline.team.fleet.bundles.follow import follow_fleet, keep_bundles
from hookline.team.fleet.connection import Fleet, FleetError, connect
from hookline.team.fleet.jobs.consumer import JobConsumer
from hookline.team.fleet.jobs.hooks import FleetHooks
from hookline.team.fleet.jobs.ledger import Ledger
from hookline.team.fleet.jobs.publisher import JobPublisher
from hookline.team.fleet.jobs.wakes import WakeRouter
from hookline.team.fleet.machine import Machine, NameTakenError, Presence
from hookline.team.fleet.settings import FleetSettings
from hookline.team.ops import OperationsMetric, measured
from hookline.telemetry import vocabulary

#: Seconds until the server is tried again: at first, and at most. Half of it is left to chance, so that the machines
#: of a fleet do not come back at once.
_AGAIN: Final = 0.5
_LONGEST: Final = 15.0
#: Seconds of service after which a lost connection is tried again as soon as the first time.
_STEADY: Final = 30.0
#: Seconds that saying goodbye may take.
_GOODBYE: Final = 2.0


class AlreadyRunningError(HooklineError):
    """An error: another process of this user is the worker of this machine."""


class Problems:
    """The problems of a worker: the one that it has now, and the last one that it had.

    A problem is over when the worker has served for a while in which it did not come again.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._noted = 0.0
        self._now = ""
        self.last = ""
        #: Seconds since the epoch.
        self.last_at = 0.0
        self.count = 0
        #: Since when the connection serves, by the monotonic clock; None while there is none.
        self.serving: float | None = None

    def add(self, problem: str) -> bool:
        """Add a problem. Returns True if it is another one than now."""
        other = problem != self.now()
        self.count += 1
        self._now = self.last = problem
        self._noted, self.last_at = time.monotonic(), time.time()
        return other

    def now(self) -> str:
        if (
            self.serving is not None
            and time.monotonic() - max(self.serving, self._noted) >= 0.9 * self._seconds
        ):
            self._now = ""
        return self._now


class Worker:
    """Work of one machine in the fleet, until cancelled."""

    def __init__(
        self,
        settings: FleetSettings,
        env: Mapping[str, str],
        say: Callable[[str], None],
        *,
        for_all: bool = False,
    ) -> None:
        """Prepare a worker. `for_all`: it only takes bundles, for all users of this machine; they have workers, too."""
        # Root's part is that of the machine.
        self.settings = settings = replace(settings, shared=settings.shared and not for_all)
        self._for_all = for_all
        self._env = env
        self._say = say
        self._folder = os.path.join(state_dir(env), "fleet")
        self._outbox = Outbox(env)
        self._taken = RemoteJobs(env, settings.lease)
        self._shipper = Shipper(env, settings.worker, self._note, settings.mask, settings.audit_seconds)
        self._taker: JobConsumer | None = None
        self._file = ""
        self._lost = 0
        self._problems = Problems(settings.lease / 3)
        self._user = account_name()
        #: True if the last notice said that this machine is not in the fleet.
        self._away = True

    async def run(self) -> None:
        """Run until cancelled.

        Raises AlreadyRunningError, NameTakenError, and DurableError if the files cannot be used.
        """
        if self._for_all:
            await self._come_back(self._keep_bundles)
            return
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        lock = _locked(os.path.join(self._folder, "worker.lock"))
        journal = user_journal(self._env, caller="hookline fleet")
        try:
            self._file = self._taken.prepare()
            self._outbox.join(self.settings.worker)
            async with Engine(
                journal=journal, env=self._env, durable=self._taken, drain_seconds=0.5
            ) as engine:
                hooks = FleetHooks(engine, self._folder, self._note)
                engine.jobs.at_once = max(1, self.settings.slots)
                engine.jobs.adopt(hooks)
                await self._stay(hooks, engine.jobs.look)
        finally:
            self._taken.close()
            self._outbox.close()
            os.close(lock)

    async def _stay(self, hooks: FleetHooks, begun: Callable[[], None]) -> None:
        """Serve while the server is there, and reconnect when it was away."""
        keeping = asyncio.ensure_future(self._shipper.keep())
        try:
            await self._come_back(lambda fleet: self._serve(fleet, hooks, begun))
        finally:
            keeping.cancel()

    async def _keep_bundles(self, fleet: Fleet) -> None:
        """Take bundles over one connection, without the name of this machine: a user's worker has that."""
        await fleet.prepare()
        self._problems.serving = time.monotonic()
        if self._away:
            self._away = False
            self._say(f"{self.settings.name} takes its bundles from {fleet.server}")
        async with asyncio.TaskGroup() as group:
            group.create_task(fleet.until_lost())
            group.create_task(keep_bundles(fleet, self._env, self._say))

    async def _come_back(self, serve: Callable[[Fleet], Awaitable[None]]) -> None:
        wait = _AGAIN
        while True:
            began = time.monotonic()
            try:
                fleet = await connect(self.settings)
                try:
                    await serve(fleet)
                except ExceptionGroup as problems:
                    raise _worst(problems) from None
                finally:
                    self._problems.serving = None
                    await fleet.close()
            except (FleetError, DurableError) as problem:
                self._note(str(problem))
            wait = _AGAIN if time.monotonic() - began > _STEADY else min(2 * wait, _LONGEST)
            await asyncio.sleep(wait * random.uniform(0.5, 1))  # noqa: S311 not a secret

    async def _serve(self, fleet: Fleet, hooks: FleetHooks, begun: Callable[[], None]) -> None:
        """Serve over one connection. Raises FleetError when the server goes away."""
        name = self.settings.worker
        if self._taken.is_new_server(await fleet.prepare()):
            self._outbox.ask_again()
            self._taken.report_all_again()
        ledger = Ledger(fleet, name, self._file, self.settings.lease)
        machine = Machine(fleet, self._presence, ledger.set_time)
        await machine.begin()
        self._problems.serving = time.monotonic()
        if self._away:
            self._away = False
            self._say(f"{name} is in the fleet, at {fleet.server}")
        self._taker = taker = JobConsumer(
            fleet, ledger, self._taken, self._folder, self.settings.slots, self._note, begun
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fleet.until_lost())
                group.create_task(machine.run())
                group.create_task(JobPublisher(fleet, ledger, self._outbox, name, self._note).run())
                group.create_task(taker.run(hooks.hooks))
                group.create_task(WakeRouter(fleet, self._outbox, name, self._note).run())
                group.create_task(self._shipper.run(fleet))
                group.create_task(follow_fleet(fleet, self._env, self._say))
                if self.settings.approvals:
                    group.create_task(ApprovalForwarder(fleet, self._env, name, self._note).run())
        except ExceptionGroup as problems:
            raise _worst(problems) from None
        except asyncio.CancelledError:
            await _briefly(taker.release, machine.leave)
            raise
        finally:
            self._lost += taker.lost

    def _presence(self) -> Presence:
        taker = self._taker
        missing, missed = self._shipper.missing()
        return Presence(
            file=self._file, pid=os.getpid(), waiting=self._outbox.waiting(), running=self._taken.unsettled(),
            lost=self._lost + (taker.lost if taker is not None else 0), unsent=self._shipper.unsent(),
            wakes=self._outbox.away_count(), missing=missing, missed=missed, problem=self._problems.now(),
            last_problem=self._problems.last, last_problem_at=self._problems.last_at, problems=self._problems.count,
            hookline=__version__, user=self._user,
        )  # fmt: skip

    def not_ready(self) -> str:
        """Return why this machine is not in the fleet now; empty if it is."""
        return self._problems.now() or (
            "" if self._problems.serving is not None else "it is not connected yet"
        )

    def metrics(self) -> Iterator[OperationsMetric]:
        """Yield the state of this machine as metrics."""
        return (measured(metric, value) for metric, value in self.facts())

    def facts(self) -> Iterator[tuple[vocabulary.Metric, float]]:
        """Yield the state of this machine; of bundles and jobs only where it has them. Any thread may ask."""
        yield vocabulary.CONNECTED, float(self._problems.serving is not None)
        yield vocabulary.PROBLEM, float(bool(self._problems.now()))
        yield vocabulary.PROBLEMS, float(self._problems.count)
        issued = self._bundles_issued()
        if issued:
            yield vocabulary.BUNDLE_AGE, max(0.0, time.time() - min(issued))
        if self._for_all:
            return
        presence = self._presence()
        yield vocabulary.JOBS_WAITING, float(presence.waiting)
        yield vocabulary.JOBS_RUNNING, float(presence.running)
        yield vocabulary.JOBS_LOST, float(presence.lost)
        yield vocabulary.DEAD_LETTERS, float(self._outbox.dead_letters())
        yield vocabulary.UNSENT, float(presence.unsent)
        yield vocabulary.WAKES_WAITING, float(presence.wakes)
        yield vocabulary.RUNS_MISSING, float(presence.missing)

    def _bundles_issued(self) -> list[int]:
        """Return when the active bundles were published or renewed."""
        settings = bundle_settings(self._env)
        if settings is None:
            return []
        store = BundleStore(settings.directory)
        try:
            names, active = store.names(), store.in_force().bundles
        except BundleError:  # the machine's report says why
            return []
        return [each.issued for name, each in active.items() if name in names]

    def _note(self, problem: str) -> None:
        """Report a problem once as long as it lasts, and count it."""
        if self._problems.add(problem):
            self._away = True
            self._say(problem)


def with_slots(settings: FleetSettings, slots: int | None) -> FleetSettings:
    return settings if slots is None else replace(settings, slots=max(0, slots))


def _worst(problems: "ExceptionGroup[Exception]") -> Exception:
    """Return the exception that retrying cannot mend, if there is one."""
    found = list(problems.exceptions)
    for each in found:
        if isinstance(each, ExceptionGroup):
            return _worst(each)  # pyright: ignore[reportUnknownArgumentType] of exceptions
    return next((each for each in found if isinstance(each, NameTakenError)), found[0])


async def _briefly(*works: Callable[[], Awaitable[None]]) -> None:
    for work in works:
        try:
            async with asyncio.timeout(_GOODBYE):
                await work()
        except (TimeoutError, HooklineError):
            pass  # the lease will expire


def _locked(file: str) -> int:
    """Take a lock that is held for as long as this process lives."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise AlreadyRunningError(
            f"a worker of yours is already running on this machine: it has locked {file}"
        ) from None
    return descriptor
