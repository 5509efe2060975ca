"""Judge a staged rollout: the machines that have a new revision beside those that do not have it yet.

The gate is closed when the new revision fails, denies or delays clearly more than the one before it. Then the
stage is not widened: `hookline fleet publish` refuses it, and a rollout in steps halts.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from hookline.config.bundles.format import Bundle
from hookline.team.fleet.bundles.report import MachineReport
from hookline.team.fleet.counts import BOUNDS, GuardCounts, slowest, sum_of

#: Runs of the stage without which nothing can be said.
LEAST_RUNS: Final = 20
#: By how many times the stage may exceed the rest, and the share of runs below which it is no matter.
_TIMES: Final = 2.0
_FAILURES: Final = 0.01
_DENIALS: Final = 0.05
#: Milliseconds below which 95 of 100 runs may take longer than those of the rest.
_FAST: Final = 100


class StageCounts(Struct, frozen=True, kw_only=True):
    """The effects of a bundle on some machines in the last day."""

    machines: int = 0
    runs: int = 0
    failed: int = 0
    denied: int = 0
    would_block: int = 0
    #: The time in milliseconds that 95 of 100 runs keep; null without runs, or beyond the longest that is counted.
    p95_ms: int | None = None


class Gate(Struct, frozen=True, kw_only=True):
    """The stage beside the rest."""

    stage: StageCounts
    rest: StageCounts
    #: Why it must not be widened; empty if nothing speaks against it.
    halts: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """True if the stage has run often enough to say something."""
        return self.stage.runs >= LEAST_RUNS

    @property
    def line(self) -> str:
        return f"stage: {_described(self.stage)}; the rest: {_described(self.rest)}"


def judge_stage(bundle: Bundle, machines: Sequence[MachineReport]) -> Gate:
    """Compare the machines that have this revision with the others of its scope."""
    own: list[GuardCounts] = []
    others: list[GuardCounts] = []
    have = 0
    meant = [each for each in machines if bundle.scope.includes(each.machine, each.groups)]
    for machine in meant:
        has = any(each.name == bundle.name and each.revision == bundle.revision for each in machine.bundles)
        have += has
        for each in machine.last_day.guards:
            if each.bundle == bundle.name:
                # A machine of the stage had the revision before it earlier in the day.
                (own if each.revision == bundle.revision else others).append(each)
    stage = _counts(have, own)
    rest = _counts(len(meant) - have, others)
    return Gate(stage=stage, rest=rest, halts=tuple(_halts(stage, rest)) if stage.runs >= LEAST_RUNS else ())


def _counts(machines: int, guards: Sequence[GuardCounts]) -> StageCounts:
    total = GuardCounts(hook="")
    for each in sum_of(guards):
        total.add(each)
    return StageCounts(
        machines=machines,
        runs=total.runs,
        failed=total.failed,
        denied=total.denied,
        would_block=total.would_block,
        p95_ms=slowest(total.durations),
    )


def _halts(stage: StageCounts, rest: StageCounts) -> Iterator[str]:
    for name, least, own, other in (
        ("runs fail", _FAILURES, stage.failed, rest.failed),
        ("calls are denied", _DENIALS, stage.denied, rest.denied),
    ):
        share = own / stage.runs
        before = other / rest.runs if rest.runs else 0.0
        if share > least and share > _TIMES * before:
            yield f"{share:.1%} of its {name}, and {before:.1%} on the other machines"
    slow = _milliseconds(stage.p95_ms)
    if slow > _FAST and rest.runs and slow > _TIMES * _milliseconds(rest.p95_ms):
        yield f"95 of 100 runs take up to {_time(stage.p95_ms)}, and {_time(rest.p95_ms)} on the other machines"


def _milliseconds(p95: int | None) -> float:
    return float("inf") if p95 is None else p95


def _time(p95: int | None) -> str:
    return f"{p95:,} ms" if p95 is not None else f"more than {BOUNDS[-1]:,} ms"


def _described(counts: StageCounts) -> str:
    machines = f"{counts.machines} machine{'' if counts.machines == 1 else 's'}"
    if not counts.runs:
        return f"{machines}, no runs"
    return (
        f"{machines}, {counts.runs:,} runs, {counts.failed:,} failed, {counts.denied:,} denied, "
        f"95 of 100 within {_time(counts.p95_ms)}"
    )
