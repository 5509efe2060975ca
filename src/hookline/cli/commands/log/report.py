"""What `hookline log --json` prints; with --follow, one `Run` per line instead."""

import re
import time
from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import median

from msgspec import Struct

from hookline.cli.describe import means_hook, seen_from_here
from hookline.cli.requests import RequestError
from hookline.cli.terminal import Colour, paint
from hookline.cli.text import table
from hookline.model.run import Run
from hookline.model.safe_text import one_line


class HookCounts(Struct, frozen=True, forbid_unknown_fields=True):
    """The runs of one hook, in numbers."""

    hook: str
    source: str
    dialect: str
    runs: int
    #: Held the action back: said no, or failed where a failure means no.
    blocked: int
    failed: int
    passed_without_answer: int
    p50_ms: float | None = None


class Totals(Struct, frozen=True, forbid_unknown_fields=True):
    runs: int
    blocked: int
    failed: int
    passed_without_answer: int


class LogDocument(Struct, frozen=True, forbid_unknown_fields=True):
    journal: str
    #: Whether there is a journal at all.
    exists: bool
    #: The newest that were asked for, oldest first.
    runs: tuple[Run, ...]
    #: Over everything the filters let through, also what --limit left out.
    totals: Totals
    hooks: tuple[HookCounts, ...]
    #: What in the file is not a whole record.
    damage: tuple[str, ...] = ()


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class Wanted(Struct, frozen=True, kw_only=True):
    """An empty list lets everything through; of several words one must fit."""

    hooks: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    since: float = 0.0

    def takes(self, run: Run) -> bool:
        return (
            run.at >= self.since
            and (not self.hooks or means_hook(self.hooks, run.hook, run.source))
            and (not self.events or _is_named(run, self.events))
            and (not self.decisions or any(_decided(run, word) for word in self.decisions))
            and (not self.statuses or any(_ended(run, word) for word in self.statuses))
            and (not self.sessions or run.session.startswith(self.sessions))
        )


def _is_named(run: Run, names: tuple[str, ...]) -> bool:
    own = {run.event.casefold(), run.spelled.casefold()}
    return any(name.casefold() in own for name in names)


def _decided(run: Run, word: str) -> bool:
    if word == "block":
        return is_block(run)
    if word == "pass":
        return run.decision is None and run.status == "ok"
    return run.decision == word


def _ended(run: Run, word: str) -> bool:
    return run.passed_without_answer if word == "unanswered" else run.status == word


def is_block(run: Run) -> bool:
    """It held the action back: it said no, or it failed and its failure means no."""
    return run.status == "blocked" or run.decision == "deny"


def is_failure(run: Run) -> bool:
    return run.status in ("failed", "timed_out", "not_started")


def since_of(text: str, now: float) -> float:
    """`2h` ago, or a date, in seconds since the epoch. A time without a zone is a local one."""
    said = text.strip()
    ago = re.fullmatch(r"(\d{1,9})([smhdw])", said)
    if ago is not None:
        return now - int(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(said).timestamp()
    except (ValueError, OverflowError, OSError):
        raise RequestError(
            f"--since {text!r} is no time: say 90s, 30m, 2h, 7d, 2026-01-02 or 2026-01-02T15:04"
        ) from None


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


_COLOURS: dict[str, Colour] = {
    "deny": "red", "blocked": "red", "ask": "yellow", "defer": "yellow", "failed": "red", "timed out": "red",
    "not started": "red", "allow": "green",
}  # fmt: skip
_INDENT = " " * 21
#: Below this there is no room for the date and the event beside a name.
_NARROW = 72


def run_lines(run: Run, width: int) -> Iterator[str]:
    """When, where, what, who and how long; below it, why. A narrow terminal gets less of it."""
    said = verdict(run)
    narrow = width < _NARROW
    event = one_line(run.spelled or run.event or "?", 24)
    when = clock(run.at)
    head = f"{when[-8:]:8} " if narrow else f"{when:19}  {event:18} "
    padded = said if narrow else f"{said:11}"
    tail = "" if run.status in ("skipped", "not_started") else f"  {run.duration_ms:.0f} ms"
    name = one_line(run.hook, max(width - len(head) - len(padded) - 1 - len(tail), 4))
    colour = _COLOURS.get(said)
    yield f"{head}{paint(padded, colour) if colour else padded} {name}{tail}"
    indent = " " * len(head) if narrow else _INDENT
    for text in _below(run):
        yield f"{indent}{one_line(text, width - len(indent))}"


def verdict(run: Run) -> str:
    if run.decision is not None and run.status in ("ok", "blocked"):
        return run.decision
    return "pass" if run.status == "ok" else run.status.replace("_", " ")


def clock(at: float) -> str:
    """The local time; a record can hold any number."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) if at > 0 else "-"
    except (ValueError, OverflowError, OSError):
        return "-"


def _below(run: Run) -> Iterator[str]:
    if run.detail:
        yield "; ".join([run.detail, *_consequence(run)])
    elif run.reason:
        yield run.reason
    if run.dropped:
        yield f"not counted: {', '.join(run.dropped)}" + (f" ({run.why})" if run.why else "")
    if run.mode == "shadow":
        yield "in shadow mode: recorded, not applied"


def _consequence(run: Run) -> Iterator[str]:
    """What became of the action although, or because, the hook gave no answer."""
    if run.passed_without_answer:
        yield "let through without an answer"
    elif is_block(run) and run.status != "blocked":
        yield "held back, because no answer means no here"


def totals_line(totals: Totals, shown: int | None = None) -> str:
    some = f"{shown} of " if shown is not None and shown < totals.runs else ""
    runs = f"{some}{totals.runs} run{'' if totals.runs == 1 else 's'}"
    passed = totals.passed_without_answer
    without = f"{passed} let through without an answer"
    return (
        f"{runs}: {totals.blocked} held back, {totals.failed} failed, "
        f"{paint(without, 'yellow') if passed else without}"
    )


def counts_table(hooks: Sequence[HookCounts], width: int) -> str:
    rows = [["HOOK", "RUNS", "HELD BACK", "FAILED", "UNANSWERED", "P50", "SOURCE"]]
    rows += [
        [
            one_line(each.hook, 60), str(each.runs), str(each.blocked), str(each.failed),
            str(each.passed_without_answer), "-" if each.p50_ms is None else f"{each.p50_ms:.1f} ms",
            one_line(seen_from_here(each.source), 200) or "-",
        ]
        for each in hooks
    ]  # fmt: skip
    return table(rows, width)
