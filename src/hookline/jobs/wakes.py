"""Deliver durable hooks' results to their sessions, also those that other processes run."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace

from hookline.engine.background import Inbox, LateMessage
from hookline.jobs.port import Durable, DurableError, Job, JobInfo, Wake
from hookline.jobs.stored import readable_call, run_number

if TYPE_CHECKING:
    from hookline.engine.session import Session

#: Poll interval for what other processes have done, and for a queue that cannot be used, in seconds.
LOOK_SECONDS: Final = 0.25
_EXPECTED_SECONDS: Final = 0.05


class Wakes:
    """Sessions of one engine, and the results that they wait for."""

    def __init__(
        self, queue: Callable[[], Durable], held: Collection[str], problem: Callable[[DurableError], None]
    ) -> None:
        """Take `held`, the ids of jobs accepted here: their results are delivered without the queue."""
        self._queue = queue
        self._held = held
        self._problem = problem
        #: Of sessions that are still there.
        self._inboxes: WeakValueDictionary[str, Inbox] = WeakValueDictionary()
        #: Jobs of other processes that may wake a session of this one.
        self._expected: dict[str, Inbox] = {}
        self._watched: set[str] = set()
        #: Sessions that other machines may send something to.
        self._listening: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def join(self, session: "Session", seen: Iterable[str] = ()) -> None:
        """Deliver results of jobs in other processes to a session, now and from now on.

        `seen` are the ids of results that the session has received before, by its own records.
        """
        try:
            for wake_id in seen:
                self._queue().seen(wake_id)
            session.inbox.acknowledge = self.seen
            self._inboxes[session.id] = session.inbox
            listens = self._queue().listen(session.id)
            if listens:
                self._listening.add(session.id)
            if self._look(session.id) or listens:
                self._watch(session.id)
        except DurableError as problem:
            self._problem(problem)

    def seen(self, wake_id: str) -> None:
        """Record that a session has received a wake."""
        try:
            self._queue().seen(wake_id)
        except DurableError as problem:
            self._problem(problem)

    def inbox(self, session_id: str) -> Inbox | None:
        return self._inboxes.get(session_id)

    def expect(self, session: "Session", job_id: str, *, rewake: bool) -> None:
        """Register a job that other processes run for this session; with `rewake` its result wakes the session."""
        self._inboxes[session.id] = session.inbox
        if rewake:
            self._expected[job_id] = session.inbox
            session.inbox.await_wake()

    def forget(self, job_id: str) -> Inbox | None:
        """Drop a finished job, and return the inbox that expected it."""
        return self._expected.pop(job_id, None)

    def follow(self, session_id: str, inbox: Inbox) -> None:
        """Check regularly for results of the session's jobs in other processes, while it has any."""
        self._inboxes.setdefault(session_id, inbox)
        self._watch(session_id)

    def close(self) -> None:
        for task in self._tasks:
            if not task.get_loop().is_closed():
                task.cancel()

    def _watch(self, session_id: str) -> None:
        if session_id not in self._watched:
            self._watched.add(session_id)
            task = asyncio.get_running_loop().create_task(self._look_again(session_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _look_again(self, session_id: str) -> None:
        more = first = True
        while True:
            try:
                more = self._look(session_id) if first or self._queue().changed() else more
                first = False
            except DurableError as problem:
                self._problem(problem)
            if not more:
                break  # no await in between: jobs submitted from now on start a new watch
            # Expected results come soon; a session that only listens can wait a little.
            await asyncio.sleep(_EXPECTED_SECONDS if self._expected else LOOK_SECONDS)
        self._watched.discard(session_id)

    def _look(self, session_id: str) -> bool:
        """Put the session's unseen wakes into its inbox. Returns True if more may come from other processes."""
        inbox, known = self._inboxes.get(session_id), self._queue().open_jobs(session_id)
        if inbox is None:
            self._listening.discard(session_id)
            return False
        for wake in self._queue().wakes(session_id):
            self._put(inbox, wake)
        others = {job.id: job for job in known if job.id not in self._held}
        for job_id in [
            each for each, whose in self._expected.items() if whose is inbox and each not in others
        ]:
            self._expected.pop(job_id).wake_settled()
        for job_id, job in others.items():
            if job_id not in self._expected and _wakes(job):
                self._expected[job_id] = inbox
                inbox.await_wake()
        return bool(others) or session_id in self._listening

    def _put(self, inbox: Inbox, wake: Wake) -> None:
        try:
            inbox.put(msgspec.json.decode(wake.body, type=LateMessage))
        except (msgspec.MsgspecError, ValueError) as problem:
            self._problem(DurableError(f"the result {wake.id} in the queue is damaged: {problem}"))
            self._queue().seen(wake.id)  # it can never be delivered


def _wakes(job: JobInfo) -> bool:
    stored = readable_call(job.body)  # if it is damaged, the process that runs it buries it
    return stored is not None and stored.rewake


def numbered(late: Iterable[LateMessage], job_id: str, epoch: int) -> tuple[LateMessage, ...]:
    """Give the messages of one attempt the ids by which each is delivered once."""
    return tuple(replace(one, wake_id=f"{job_id}.{epoch}.{index}") for index, one in enumerate(late))


def as_wakes(late: Iterable[LateMessage], session: str) -> list[Wake]:
    return [Wake(id=one.wake_id, session=session, body=msgspec.json.encode(one)) for one in late]


def dead_letter(
    job: Job, why: str, how: str = "was not run to its end", *, wakes: bool = True
) -> LateMessage:
    """Make the message for a session about a job that will not be run again. `wakes`: the model may act on it."""
    stored = readable_call(job.body)
    name = f"hook {stored.name}" if stored is not None else "a durable hook"
    text = f"{name} {how}: {why} (hookline jobs show {job.id[:8]})"
    if stored is None:
        return LateMessage(kind="message", text=text)
    return LateMessage(
        kind="wake" if stored.rewake and wakes else "message",
        text=text,
        hook=stored.name,
        type=stored.type,
        source=stored.source,
        event=stored.event,
        run_id=str(run_number(job.id)),
    )
