"""Run durable hooks: accepted once the queue has them, run here if this process lives, else by another
process.

A runner belongs to one engine. It accepts jobs, runs its own and, if it adopts, those that other processes
left; `wakes` delivers the results to their sessions.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from time import perf_counter, time
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.background import Inbox, LateMessage, deliver
from hookline.engine.dispatch import DispatchState
from hookline.engine.judge import CANCELLED, Judgement, decode_and_judge
from hookline.engine.memory import memory_of
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.run_hook import begin_handler, record
from hookline.jobs.port import FLEET, LOST, MAX_ATTEMPTS, Durable, DurableError, Job, Lease, Settled, Wake
from hookline.jobs.stored import (
    FILES,
    FindHook,
    StoredCall,
    fleet_key,
    goes_to_fleet,
    hook_key,
    queue_of,
    run_number,
    stored_call,
)
from hookline.jobs.wakes import LOOK_SECONDS, Wakes, as_wakes, dead_letter, numbered
from hookline.model.hook import Hook
from hookline.model.outcome import PASS
from hookline.model.payloads import read_value
from hookline.model.raw import Background, Failed, RawResult
from hookline.model.run import Run
from hookline.model.safe_text import one_line
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.engine.session import Session

#: Seconds after which `run_all` gives up a queue that cannot be used: another process may hold it briefly.
_PATIENCE: Final = 1.0
_LONGEST_WHY: Final = 500
_PROBLEMS_KEPT: Final = 20


class _Made(Struct, frozen=True, eq=False):
    """A call that is ready to run."""

    state: DispatchState
    prepared: PreparedHook
    call: HookInvocation
    event_id: str
    inbox: Inbox | None = None


class _GivenUpError(DurableError):
    """An error that ends all attempts here: the queue could not be used for too long."""


class JobRunner:
    """Runner of one engine's durable hooks."""

    #: The name of its work in the background.
    work = "durable hooks"

    def __init__(
        self, engine: "Engine", queue: Durable | None = None, find_hook: FindHook | None = None
    ) -> None:
        """Take `find_hook`, which finds the hooks of jobs that other processes left, once this one adopts them."""
        self._engine = engine
        self._queue = queue
        self._find_hook = find_hook
        self._adopts = False
        #: How many jobs run at once.
        self.at_once = 8
        #: Poll interval for orphaned jobs, in seconds.
        self.adopt_seconds = 1.0
        #: Calls that were accepted here, by the id of their job.
        self._held: dict[str, _Made] = {}
        self._running: dict[str, tuple[Lease, asyncio.Task[None]]] = {}
        #: Delivers results to sessions.
        self.wakes = Wakes(lambda: self.queue, self._held, self._problem)
        self._keys: dict[Hook, str] = {}
        self._worker: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._timer: asyncio.Handle | None = None
        #: Seconds after which a command that only runs jobs gives up a queue that cannot be used. An agent retries
        #: without end, because its jobs are not settled.
        self.patience: float | None = None
        self._failing_since: float | None = None
        self._given_up = False
        #: Why something of the queue could not be done, the newest last.
        self.problems: list[str] = []

    @property
    def queue(self) -> Durable:
        """The engine's queue. Raises DurableError if it has none."""
        if self._queue is None:
            raise DurableError("this engine has no durable queue")
        return self._queue

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The names of hooks that were accepted here and are still in the queue."""
        return tuple(made.prepared.hook.name for made in self._held.values())

    # -- accepting

    def submit(
        self, state: DispatchState, prepared: PreparedHook, call: HookInvocation, action: int
    ) -> str | None:
        """Return None once queued, else the error."""
        session, hook = state.session, prepared.hook
        state.event_id = state.event_id or f"{memory_of(self._engine).next_number():x}"
        key = self._key(hook)
        job_id = sha256(f"{session.id}\0{state.event_id}\0{key}\0{action}".encode()).hexdigest()[:32]
        try:
            stored = StoredCall(
                hook=key, name=hook.name, type=hook.kind, event=state.event.name, event_id=state.event_id,
                dialect=hook.dialect, file=hook.where.file, source=prepared.source, scope=hook.scope,
                payload=msgspec.Raw(msgspec.json.encode(call.payload)), info=call.info, directory=call.directory,
                translated_tool=call.translated_tool, doubt=call.match_doubt, rewake=hook.waiting == "rewake",
                fleet=fleet_key(hook) if goes_to_fleet(hook) else "",
            )  # fmt: skip
            body = msgspec.json.encode(stored)
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as problem:
            return f"its payload cannot be stored: {type(problem).__name__}: {problem}"
        job = Job(
            id=job_id,
            session=session.id,
            queue=queue_of(hook, key),
            body=body,
            ordered=hook.order == "session",
        )
        call.number = run_number(job_id)
        if job.queue == FLEET:
            return self._send(session, job, rewake=stored.rewake)
        # Before it can be over.
        self._held[job_id] = _Made(state, prepared, call, state.event_id, session.inbox)
        session.inbox.acknowledge = self.wakes.seen
        try:
            if self.queue.submit(job) and stored.rewake:
                session.inbox.await_wake()
        except DurableError as problem:
            del self._held[job_id]
            self._problem(problem, record=False)
            return str(problem)
        self._work()
        return None

    def _send(self, session: "Session", job: Job, *, rewake: bool) -> str | None:
        """Leave a job to the fleet. Its result arrives in the queue, as from any other process."""
        session.inbox.acknowledge = self.wakes.seen
        try:
            if self.queue.submit(job):
                self.queue.listen(session.id)
                self.wakes.expect(session, job.id, rewake=rewake)
        except DurableError as problem:
            self._problem(problem, record=False)
            return str(problem)
        self.wakes.follow(session.id, session.inbox)
        return None

    def _key(self, hook: Hook) -> str:
        key = self._keys.get(hook)
        if key is None:
            key = self._keys[hook] = hook_key(hook)
        return key

    # -- running

    def adopt(self, find_hook: FindHook | None = None) -> None:
        """Also run jobs that other processes of the user left, from now on until the engine is closed.

        `find_hook` replaces the one that the engine was made with.
        """
        self._find_hook, self._adopts = find_hook or self._find_hook, True
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_soon(self._adopt)

    async def run_all(self) -> None:
        """Run all jobs that can be run, until only other processes' jobs are left.

        Raises DurableError if the queue cannot be used: an agent would carry on, but here there is nothing
        else to do.
        """
        self._adopts, self.patience = True, _PATIENCE
        while True:
            self._work()
            if self._worker is not None:
                await asyncio.shield(self._worker)
            if self._given_up:
                raise DurableError(self.problems[-1])
            due = self.queue.next_due(self._queues())
            if due is None:
                return
            await asyncio.sleep(min(due, self.adopt_seconds))

    def look(self) -> None:
        """Check the queue, which has new jobs."""
        self._work()

    def _adopt(self) -> None:
        try:
            if self.queue.next_due(self._queues()) == 0:
                self._work()
        except DurableError as problem:
            self._problem(problem)
        self._timer = asyncio.get_running_loop().call_later(self.adopt_seconds, self._adopt)

    def _queues(self) -> Sequence[str]:
        if not self._adopts:
            return ()
        code = {queue_of(hook, self._key(hook)) for hook in self._engine.hooks if hook.in_background}
        # Jobs of the fleet are the worker's, although this engine has their hooks.
        return [FILES, *(code - {FILES, FLEET})]

    def _work(self) -> None:
        """Wake the worker, and start one if none is running."""
        worker, loop = self._worker, asyncio.get_running_loop()
        if worker is None or worker.done() or worker.get_loop() is not loop:
            if self._engine.background.closed:
                return  # it stays in the queue, for another process
            self._news, self._running = asyncio.Event(), {}
            self._worker = self._engine.background.adopt(self._run_jobs(), self.work)
        self._news.set()

    async def _run_jobs(self) -> None:
        kept = perf_counter()
        try:
            while True:
                self._news.clear()
                pause = self._begin_jobs()
                if not self._running and pause is None:
                    break
                if perf_counter() - kept > self.queue.lease / 3:
                    kept = perf_counter()
                    self._keep()
                await self._until_news(
                    min(pause or self.adopt_seconds, self.queue.lease / 3, self.adopt_seconds)
                )
        finally:
            for _lease, task in self._running.values():
                task.cancel()
            if self._running:
                await asyncio.wait([task for _lease, task in self._running.values()])
        self._forget_held()

    async def _until_news(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            pass

    def _begin_jobs(self) -> float | None:
        """Begin as many jobs as slots are free. Return the seconds until the next check; None: no job is left here."""
        if self._given_up:
            return None
        queue, queues = self.queue, self._queues()
        try:
            free = self.at_once - len(self._running)
            for lease in queue.claim(queues, free) if free else ():
                task = asyncio.get_running_loop().create_task(self._run_job(lease))
                self._running[lease.job.id] = lease, task
                task.add_done_callback(lambda _task, job_id=lease.job.id: self._ended(job_id))
            self._failing_since = None
            if self._running:
                return self.adopt_seconds
            due = queue.next_due(queues)
            if due is None and not queue.holds():
                return None
        except DurableError as problem:
            self._problem(problem)
            self._failing_since = self._failing_since or perf_counter()
            return None if self._gives_up(self._failing_since) else LOOK_SECONDS
        return self.adopt_seconds if due is None else max(due, 0.01)

    def _ended(self, job_id: str) -> None:
        self._running.pop(job_id, None)
        self._news.set()

    def _keep(self) -> None:
        """Renew all leases. Stop a hook whose lease was lost because this process was suspended."""
        try:
            self.queue.keep()
            for lease, task in tuple(self._running.values()):
                if not self.queue.extend(lease):
                    task.cancel()
        except DurableError as problem:
            self._problem(problem)

    def _forget_held(self) -> None:
        """Release what is still held: another process took it and reports to the session from there."""
        for job_id in tuple(self._held):
            made = self._held.pop(job_id)
            if made.inbox is not None:
                self.wakes.follow(made.state.session.id, made.inbox)
            if made.prepared.hook.waiting == "rewake" and made.inbox is not None:
                made.inbox.wake_settled()

    async def _run_job(self, lease: Lease) -> None:
        try:
            await self._attempt(lease)
        except _GivenUpError:
            self._held.pop(lease.job.id, None)  # it stays in the queue, and is run again

    def _kills(self, lease: Lease) -> bool:
        """Return True if the process of a job's last attempt ended without a result."""
        found = (each for each in self.queue.open_jobs(lease.job.session) if each.id == lease.job.id)
        return any(each.why == LOST for each in found)

    async def _attempt(self, lease: Lease) -> None:
        made = self._held.get(lease.job.id)
        if made is None:
            found = self._restored(lease)
            if isinstance(found, str):
                await self._over(lease, "dead", found)
                return
            made = found
        if lease.attempt > self.queue.attempts or (lease.attempt > MAX_ATTEMPTS and self._kills(lease)):
            why = f"the process that ran it ended {lease.attempt - 1} times"
            await self._over(lease, "dead", why)
            return
        state, prepared, call = made.state, made.prepared, made.call
        call.env = {
            "HOOKLINE_JOB_ID": lease.job.id,
            "HOOKLINE_EVENT_ID": made.event_id,
            "HOOKLINE_ATTEMPT": str(lease.attempt),
        }
        status, call.started = state.session.engine.status, perf_counter()
        status.started(call)
        try:
            raw = await self._raw(made)
            judged = decode_and_judge(state, prepared, call, raw)
        except asyncio.CancelledError:
            record(state, prepared, call, Failed("cancelled"), CANCELLED)
            self._release(lease)
            raise
        finally:
            status.ended(call)
        await self._judged(lease, made, raw, judged)

    async def _raw(self, made: _Made) -> RawResult:
        begun = begin_handler(made.state, made.prepared, made.call)
        raw = await begun if asyncio.iscoroutine(begun) else begun
        return await raw.rest if isinstance(raw, Background) else raw

    async def _judged(self, lease: Lease, made: _Made, raw: RawResult, judged: Judgement) -> None:
        """Settle one attempt by its judgement: retry, bury or finish the job."""
        prepared, call, failure = made.prepared, made.call, judged.failure
        if failure is not None:
            record(made.state, prepared, call, raw, judged)
            why = one_line(failure.detail or failure.cause.replace("_", " "), _LONGEST_WHY)
            if judged.status == "untrusted":
                # The user can change that, the model cannot: it is not woken.
                await self._over(lease, "dead", f"it may not run: {why}", wakes=False)
            else:
                await self._over(lease, "retry", why)
            return
        said = Inbox()
        outcome = judged.outcome if prepared.hook.mode == "enforce" else PASS
        too_late = deliver(said, call, outcome, prepared.source, failed=False)
        try:
            counts = await self._over(lease, "settled", "", said.take_all())
        except _GivenUpError as problem:
            unsettled = Failed(
                "cancelled", f"its result could not be stored, so it will run again: {problem}"
            )
            record(made.state, prepared, call, raw, Judgement(status="cancelled", failure=unsettled))
            raise
        if counts:
            record(made.state, prepared, call, raw, replace(judged, dropped=(*judged.dropped, *too_late)))
        else:
            lost = Failed("cancelled", "another process has taken the job over")
            record(made.state, prepared, call, raw, Judgement(status="cancelled", failure=lost))

    async def _over(
        self, lease: Lease, how: str, why: str, late: Sequence[LateMessage] = (), *, wakes: bool = True
    ) -> bool:
        """Settle an attempt and deliver its result to the session; a dead letter may be for the user alone.

        Returns False if the lease was lost: the result is ignored.
        """
        job = lease.job
        if how != "settled":
            late = (dead_letter(job, why, wakes=wakes),)
        late = numbered(late, job.id, lease.epoch)
        now = await self._settled(lease, how, as_wakes(late, job.session), why)
        if now == "queued":
            return True
        held, expected = self._held.pop(job.id, None), self.wakes.forget(job.id)
        inbox = held.inbox if held is not None else self.wakes.inbox(job.session)
        if inbox is not None and now != "lost":
            for one in late:
                inbox.put(one)
        elif inbox is not None:
            self.wakes.follow(job.session, inbox)
        if held is not None and held.prepared.hook.waiting == "rewake":
            expected = held.inbox
        if expected is not None:
            expected.wake_settled()
        return now != "lost"

    async def _settled(self, lease: Lease, how: str, wakes: Sequence[Wake], why: str) -> Settled:
        """Settle an attempt, and retry while the disk is full or the file locked."""
        queue, began = self.queue, perf_counter()
        settle = {"settled": queue.settle, "dead": queue.bury, "retry": queue.retry}[how]
        while True:
            try:
                return settle(lease, wakes, why)
            except DurableError as problem:
                self._problem(problem)
                if self._gives_up(began):
                    raise _GivenUpError(str(problem)) from None
                await asyncio.sleep(LOOK_SECONDS)

    def _release(self, lease: Lease) -> None:
        try:
            self.queue.release(lease)
        except DurableError as problem:
            self._problem(problem)  # it is found by its lease

    def _restored(self, lease: Lease) -> _Made | str:
        """Restore the call of a job that another process accepted, or return why it cannot run."""
        try:
            stored = stored_call(lease.job.body)
        except ValueError as problem:
            return str(problem)
        found = self._own(stored) or (self._find_hook(stored) if self._find_hook is not None else "")
        if isinstance(found, str):
            return found or f"no hook {stored.name} exists here"
        engine, hook = found
        try:
            payload = msgspec.json.decode(stored.payload, type=hook.event.payload, dec_hook=read_value)
        except msgspec.MsgspecError as problem:
            return f"its stored call cannot be read: {problem}"
        session = engine.session(stored.info.session_id)
        session.info = stored.info
        call = HookInvocation(hook, hook.event, payload, stored.info, hook.timeout, run_number(lease.job.id))
        call.directory, call.translated_tool, call.match_doubt = (
            stored.directory,
            stored.translated_tool,
            stored.doubt,
        )
        prepared = PreparedHook(hook, engine.handlers.get(hook.kind))
        return _Made(
            DispatchState(session, memory_of(session.engine), hook.event, payload),
            prepared,
            call,
            stored.event_id,
        )

    def _own(self, stored: StoredCall) -> "tuple[Engine, Hook] | None":
        """Return a hook made in code by this engine.

        Hooks of files are searched in the files: entry and trust may be gone.
        """
        if stored.file and stored.scope != "session":
            return None
        hooks = (hook for hook in self._engine.hooks if hook.in_background and self._key(hook) == stored.hook)
        return next(((self._engine, hook) for hook in hooks), None)

    # -- the end

    def close(self) -> None:
        """Leave jobs that have not begun to other processes."""
        if self._timer is not None:
            self._timer.cancel()
        self.wakes.close()
        if self._queue is not None:
            self._queue.close()

    def _problem(self, problem: DurableError, *, record: bool = True) -> None:
        """Record each queue error once in the journal, unless a hook that failed because of it is recorded there."""
        text = str(problem)
        if text not in self.problems:
            self.problems = [*self.problems[-_PROBLEMS_KEPT:], text]
            if record:
                run = Run(hook="durable hooks", type="durable", status="failed", detail=text, at=time())
                self._engine.journal.record(run)

    def _gives_up(self, since: float) -> bool:
        self._given_up |= self.patience is not None and perf_counter() - since > self.patience
        return self._given_up
