"""From durations to figures, and from figures to a verdict."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence

from hookline.cli.bench_document import HookBench, Times, Verdict
from hookline.model.hook import Hook
from hookline.model.run import Run

#: Whoever waits this long for a hook notices it.
_NOTICED_MS = 1000.0
_FAILED = ("failed", "not_started", "cancelled", "untrusted")


def times(durations: Sequence[float]) -> Times | None:
    """Milliseconds in, figures out; none for nothing."""
    if not durations:
        return None
    ordered = sorted(durations)
    rank = math.ceil(0.95 * len(ordered)) - 1
    return Times(
        count=len(ordered),
        p50_ms=round(statistics.median(ordered), 3),
        p95_ms=round(ordered[rank], 3),
        worst_ms=round(ordered[-1], 3),
    )


def hook_figures(
    hook: Hook, name: str, source: str, runs: Sequence[Run], spawn_ms: float | None
) -> HookBench:
    took = times([run.duration_ms for run in runs if run.status not in ("skipped", "detached")])
    share = None
    if took is not None and spawn_ms is not None and hook.kind == "command" and took.p50_ms > 0:
        share = round(min(spawn_ms / took.p50_ms, 1.0), 3)
    verdict, why = _verdict(hook, runs, took)
    return HookBench(
        hook=name,
        source=source,
        dialect=hook.dialect,
        type=hook.kind,
        timeout_s=hook.timeout,
        statuses=dict(Counter(run.status for run in runs)),
        times=took,
        spawn_share=share,
        timeout_share=None if took is None else round(took.p95_ms / 1e3 / hook.timeout, 4),
        verdict=verdict,
        why=why,
    )


def _verdict(hook: Hook, runs: Sequence[Run], took: Times | None) -> tuple[Verdict, str]:
    if took is None:
        return "not run", "an earlier hook ended its lane"
    late = [run for run in runs if run.status == "timed_out"]
    if late:
        return "too slow", f"{len(late)} of {took.count} ran into its timeout of {seconds(hook.timeout)}"
    failed = [run for run in runs if run.status in _FAILED]
    if failed:
        return (
            "failing",
            f"{len(failed)} of {took.count} gave no answer: {failed[-1].detail or failed[-1].status}",
        )
    share = took.p95_ms / 1e3 / hook.timeout
    if share > 0.5:
        return "slow", f"p95 is over half its timeout of {seconds(hook.timeout)}"
    if took.p95_ms > _NOTICED_MS and hook.waiting == "wait" and hook.policy.waits:
        return "slow", f"every {hook.policy.spelled} waits {took.p95_ms / 1e3:.1f} s for it"
    return "fine", f"p95 is {percent(share)} of its {seconds(hook.timeout)}"


def percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{share * 100:.0f} %"


def seconds(value: float) -> str:
    return f"{value:g} s" if value >= 1 else f"{value * 1e3:g} ms"
