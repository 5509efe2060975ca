"""Define the durable queue that the runner needs, and its records.

An accepted job is settled or becomes a dead letter, and users can see both. A job runs at least once; its
result counts once, because only the holder of the current lease can settle it.
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct

from hookline.model.errors import HooklineError

#: Processes that a job may kill, and attempts of a queue without settings.
MAX_ATTEMPTS: Final = 3
#: Why a job waits again whose process ended without a result.
LOST: Final = "its process ended"


class JobSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a queue."""

    #: Seconds before each further attempt of a job that failed; after the last of them it is a dead letter. Together
    #: they outlast ten minutes in which something that jobs need is down.
    delays: tuple[float, ...] = (1, 4, 15, 60, 120, 240, 300)
    #: `full`: an accepted job also survives a power failure right after that; `normal`: it survives the end of any
    #: process.
    synchronous: Literal["normal", "full"] = "normal"


#: The queue of jobs that are sent to other machines. No process of this one runs them.
FLEET: Final = "fleet"

State = Literal["queued", "running", "settled", "dead"]

#: State of a job after an attempt; `lost`: the lease was lost, so the attempt does not count.
Settled = Literal["queued", "settled", "dead", "lost"]


class DurableError(HooklineError):
    """An error of the queue: it cannot be used now. The message says why and where. Nothing was accepted or changed."""


class Job(Struct, frozen=True, kw_only=True):
    """One execution to run. The same id is the same job."""

    id: str
    session: str
    #: Which processes can run it: any of the user's, or only one that has a certain hook.
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
    """A message for a session, delivered once by its id."""

    id: str
    session: str
    body: bytes


#: The names of fields in documents, where they differ.
_SHOWN_AS = {"queue": "lane", "sent": "accepted", "settled": "over"}


class JobSummary(Struct, frozen=True, kw_only=True, rename=_SHOWN_AS):
    """A job's state in the queue, for display."""

    id: str
    session: str
    queue: str
    state: State
    attempts: int
    #: Seconds since the epoch: when it was accepted, and when it was over.
    sent: float
    settled: float | None
    #: Seconds until it may be begun again.
    wait: float
    #: The last error.
    why: str


class JobInfo(JobSummary, frozen=True, kw_only=True):
    """A job as the queue has it."""

    #: The process that has it; None: no process.
    owner: str | None = None
    body: bytes = b""


class Durable(Protocol):
    """A durable queue. Every method raises DurableError when it cannot be used."""

    @property
    def lease(self) -> float:
        """Seconds after which others take the jobs of a process that has not renewed its lease."""
        ...

    @property
    def attempts(self) -> int:
        """The number of times that a job is tried."""
        ...

    def submit(self, job: Job) -> bool:
        """Commit a job before returning. Returns False if the same id was accepted before."""
        ...

    def claim(self, queues: Sequence[str], most: int) -> Sequence[Lease]:
        """Claim jobs to run now: those of this process, and those of these queues that no process has."""
        ...

    def extend(self, lease: Lease) -> bool:
        """Keep a job longer. Returns False if another process took it; then its hook must be stopped."""
        ...

    def keep(self) -> None:
        """Renew the leases of this process."""
        ...

    def holds(self) -> bool:
        """Return True if this process has unfinished jobs."""
        ...

    def settle(self, lease: Lease, wakes: Sequence[Wake], why: str = "") -> Settled:
        """Finish a job and store its wakes, both or neither."""
        ...

    def retry(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        """Retry a job later, or bury it after its last attempt."""
        ...

    def bury(self, lease: Lease, wakes: Sequence[Wake], why: str) -> Settled:
        """Make a job a dead letter and store its wakes."""
        ...

    def release(self, lease: Lease) -> None:
        """Give back a job that was interrupted: another process may run it."""
        ...

    def open_jobs(self, session: str) -> Sequence[JobInfo]:
        """Return the unfinished jobs of a session."""
        ...

    def wakes(self, session: str) -> Sequence[Wake]:
        """Return the wakes that the session has not seen."""
        ...

    def seen(self, wake_id: str) -> None:
        """Mark a wake as delivered."""
        ...

    def listen(self, session: str) -> bool:
        """Register that this process delivers wakes to the session. True: other machines may send wakes at any time."""
        ...

    def next_due(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a job may be claimed; None: no job waits."""
        ...

    def changed(self) -> bool:
        """Return True if another process changed the queue since the last call."""
        ...

    def close(self) -> None: ...
