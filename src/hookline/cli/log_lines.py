"""Runs as lines for a reader."""

import time
from collections.abc import Iterator, Sequence

from hookline.cli.log_document import HookCounts, Totals
from hookline.cli.log_filter import is_block
from hookline.cli.naming import seen_from_here
from hookline.cli.paint import Colour, paint
from hookline.cli.text import table
from hookline.model.run import Run
from hookline.model.safetext import one_line

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
