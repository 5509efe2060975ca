"""Define what the runner needs of a durable queue, and the records that it holds.

What was accepted is settled or becomes a dead letter, and either can be seen. A job runs at least once; its result
counts once, because only the holder of the current lease can settle it.
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct

from hookline.model.errors import HooklineError

#: How often a job is begun at most.
MAX_ATTEMPTS: Final = 3

#: The queue of jobs that are sent to other machines. No process of this one runs them.
FLEET: Final = "fleet"

State = Literal["queued", "running", "settled", "dead"]

#: What a job is after an attempt; `lost`: the lease was, so nothing of the attempt counts.
Settled = Literal["queued", "settled", "dead", "lost"]


class DurableError(HooklineError):
    """The queue cannot be used now; the message says why, and where it is. Nothing was accepted or changed."""


class Job(Struct, frozen=True, kw_only=True):
    """Something to run. The same id again is the same job."""

    id: str
    session: str
    #: Who can run it: any process of the user, or only one that has a certain hook.
    queue: str
    body: bytes
    #: It waits until all earlier ordered jobs of its session are over.
    ordered: bool = False


class Lease(Struct, frozen=True, kw_only=True):
    """The right to run a job, until another process may take it to be lost."""

    job: Job
    #: How often it was begun, this time included.
    attempt: int
    #: Counts the leases of the job: the holder of an older one can change nothing any more.
    epoch: int


class Wake(Struct, frozen=True, kw_only=True):
    """Something to tell a session. It is told once by its id."""

    id: str
    session: str
    body: bytes


class JobInfo(Struct, frozen=True, kw_only=True):
    """A job as the queue has it, for those who look at it."""

    id: str
    session: str
    queue: str
    state: State
    attempts: int
    #: Seconds since the epoch: when it was accepted, and when it was over.
    sent: float
    settled: float | None = None
    #: The process that has it; None: nobody's.
    owner: str | None = None
    #: Seconds until it may be begun again.
    wait: float = 0.0
    #: What went wrong last.
    why: str = ""
    body: bytes = b""


class Durable(Protocol):
    """A durable queue. Every method raises DurableError when it cannot be used."""

    @property
    def lease(self) -> float:
        """Seconds after which others take the jobs of a process that has not said that it lives."""
        ...

    def submit(self, job: Job) -> bool:
        """It is committed when this returns. False: the same id was accepted before."""
        ...

    def claim(self, queues: Sequence[str], most: int) -> Sequence[Lease]:
        """Jobs to run now: those of this process, and those of these queues that no process has."""
        ...

    def extend(self, lease: Lease) -> bool:
        """Keep a job longer. False: it was taken away, so its hook must be stopped."""
        ...

    def keep(self) -> None:
        """This process lives, and means to run what it has accepted."""
        ...

    def holds(self) -> bool:
        """Whether this process has jobs that are not over."""
        ...

    def settle(self, lease: Lease, wakes: Sequence[Wake], why: str = "") -> Settled:
        """The job is over, and these are its wakes, both or none."""
        ...

    def retry(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        """Run it again later, or bury it, if that was the last time."""
        ...

    def bury(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        """It is a dead letter now, and these are its wakes."""
        ...

    def release(self, lease: Lease) -> None:
        """It was not run to its end, through no fault of its own: another process may do it."""
        ...

    def open_jobs(self, session: str) -> Sequence[JobInfo]:
        """The jobs of a session that are not over."""
        ...

    def wakes(self, session: str) -> Sequence[Wake]:
        """What the session has not seen."""
        ...

    def seen(self, wake_id: str) -> None:
        """Mark a wake as delivered."""
        ...

    def listen(self, session: str) -> bool:
        """This process tells the session what comes for it. True: other machines may send something at any time."""
        ...

    def next_due(self, queues: Sequence[str]) -> float | None:
        """Seconds until something may be claimed; None: nothing is waiting."""
        ...

    def changed(self) -> bool:
        """Whether another process has changed anything since this was asked last."""
        ...

    def close(self) -> None: ...
