"""What `hookline bench --json` prints."""

from typing import Literal

from msgspec import Struct

Verdict = Literal["fine", "slow", "too slow", "failing", "would run", "not run"]


class Times(Struct, frozen=True, forbid_unknown_fields=True):
    """Milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    worst_ms: float


class HookBench(Struct, frozen=True, forbid_unknown_fields=True):
    """One hook on one sample payload."""

    hook: str
    source: str
    dialect: str
    type: str
    timeout_s: float
    #: How its runs ended, by status; `skipped` when it was not run.
    statuses: dict[str, int]
    times: Times | None = None
    #: Which part of its time the start of a shell alone takes; None for hooks that start no process.
    spawn_share: float | None = None
    #: Its p95 as part of its timeout.
    timeout_share: float | None = None
    verdict: Verdict = "not run"
    why: str = ""


class EventBench(Struct, frozen=True, forbid_unknown_fields=True):
    """All that happens at one event; `times` are those of the whole dispatch."""

    event: str
    #: The sample payload that was used, as a tool or other subject.
    subject: str | None
    hooks: tuple[HookBench, ...]
    times: Times | None = None


class BenchDocument(Struct, frozen=True, forbid_unknown_fields=True):
    rounds: int
    #: Nothing was run: this is what would.
    dry_run: bool
    #: Milliseconds that `sh -c :` takes here; None when nothing was run.
    spawn_ms: float | None
    events: tuple[EventBench, ...]
    diagnostics: tuple[str, ...] = ()
