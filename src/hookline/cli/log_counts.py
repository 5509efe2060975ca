"""Runs in numbers, hook by hook. Only durations are kept, so that a long journal is no trouble."""

from array import array
from statistics import median

from hookline.cli.log_document import HookCounts, Totals
from hookline.cli.log_filter import is_block, is_failure
from hookline.model.run import Run

#: Records that no run stands behind: a hook that was not chosen, and the start of one that ends later.
_NOT_RUNS = frozenset({"skipped", "detached"})


class _Tally:
    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.runs = self.blocked = self.failed = self.passed = 0
        #: Milliseconds of the runs that came to an end.
        self.took = array("d")


class Counts:
    """Takes runs one at a time."""

    def __init__(self) -> None:
        self._hooks: dict[tuple[str, str], _Tally] = {}

    def add(self, run: Run) -> None:
        if run.status in _NOT_RUNS:
            return
        tally = self._hooks.get((run.hook, run.source))
        if tally is None:
            tally = self._hooks[run.hook, run.source] = _Tally(run.dialect)
        tally.runs += 1
        tally.blocked += is_block(run)
        tally.failed += is_failure(run)
        tally.passed += run.passed_without_answer
        if run.status != "not_started":
            tally.took.append(run.duration_ms)

    @property
    def totals(self) -> Totals:
        all_of_them = self._hooks.values()
        return Totals(
            runs=sum(tally.runs for tally in all_of_them),
            blocked=sum(tally.blocked for tally in all_of_them),
            failed=sum(tally.failed for tally in all_of_them),
            passed_without_answer=sum(tally.passed for tally in all_of_them),
        )

    @property
    def hooks(self) -> tuple[HookCounts, ...]:
        """Those that ran most first."""
        ordered = sorted(self._hooks.items(), key=lambda item: (-item[1].runs, item[0]))
        return tuple(
            HookCounts(
                hook=hook, source=source, dialect=tally.dialect, runs=tally.runs, blocked=tally.blocked,
                failed=tally.failed, passed_without_answer=tally.passed,
                p50_ms=round(median(tally.took), 3) if tally.took else None,
            )
            for (hook, source), tally in ordered
        )  # fmt: skip
