"""Show the runs that `hookline log` found, as lines, as a table and as JSON; with --follow, one `Run` per line."""

import time
from array import array
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.describe import short_source
from hookline.cli.output import Colour, paint
from hookline.cli.text import count_of, headed_table, json_lines, paragraph, with_tilde
from hookline.cli.times import Times, milliseconds, times
from hookline.model.run import Run, has_denied, is_block, would_have_blocked
from hookline.model.safe_text import one_line, printable

#: Records that are not a run: a hook that was not selected, and the start of one that ends later.
NOT_RUNS = frozenset({"skipped", "background"})
_COLOURS: dict[str, Colour] = {
    "deny": "red", "blocked": "red", "ask": "yellow", "defer": "yellow", "failed": "red", "timed out": "red",
    "not started": "red", "allow": "green",
}  # fmt: skip
_INDENT = " " * 21
_NOT_APPLIED = {
    "shadow": "in shadow mode: recorded, not applied",
    "paused": "a person has paused this guard: recorded, not applied",
}
#: True if it ran as a warm Python script; None: it cannot be one.
_WARM = {None: "", True: ", warm", False: ", cold"}
_PLACE_COLUMNS = 48
#: Below this width the date and the event do not fit beside a name.
_NARROW = 72


class RunTotals(Struct, kw_only=True, forbid_unknown_fields=True):
    """Counts of runs."""

    runs: int = 0
    #: Blocked the action: said no, or failed where a failure blocks.
    blocked: int = 0
    #: Would have blocked it, in shadow mode or while the hook was paused.
    would_have_blocked: int = 0
    failed: int = 0
    failed_open: int = 0

    def add(self, run: Run) -> None:
        self.runs += 1
        self.blocked += is_block(run)
        self.would_have_blocked += would_have_blocked(run)
        self.failed += is_failure(run)
        self.failed_open += run.failed_open


class HookCounts(RunTotals, kw_only=True, forbid_unknown_fields=True):
    """Counts of one hook's runs."""

    hook: str
    source: str
    dialect: str
    #: Of the runs that started; null if none did.
    times: Times | None = None


class LogDocument(Struct, frozen=True, forbid_unknown_fields=True):
    journal: str
    #: False if there is no journal.
    exists: bool
    #: The newest that were asked for, oldest first.
    runs: tuple[Run, ...]
    #: Over everything the filters let through, including what --limit left out.
    totals: RunTotals
    hooks: tuple[HookCounts, ...]
    #: Lines of the file that are not a whole record.
    damage: tuple[str, ...] = ()

    @property
    def unreadable(self) -> bool:
        return any("cannot be read" in each for each in self.damage)

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, *, counts: bool = False, took: bool = False) -> str:
        """Return the runs, or with `counts` or `took` a table of the hooks; then the totals."""
        if not self.exists:
            return no_journal_text(self.journal, width)
        if not self.totals.runs and not self.runs:
            return paragraph(f"no run in {self.journal} matches", width)
        if counts or took:
            shown = _times_table(self.hooks, width) if took else _counts_table(self.hooks, width)
            return "\n".join([shown, "", _totals_line(self.totals)])
        lines = [line for run in self.runs for line in run_lines(run, width)]
        ran = sum(run.status not in NOT_RUNS for run in self.runs)
        return "\n".join([*lines, "", _totals_line(self.totals, ran)])


def no_journal_text(path: str, width: int) -> str:
    text = "no journal yet: the first hook that Hookline runs creates it. It will be in"
    return f"{paragraph(text, width)}\n  {printable(path)}"


def is_failure(run: Run) -> bool:
    return run.status in ("failed", "timed_out", "not_started")


class RunCounts:
    """Counts of runs, hook by hook, added one at a time. Of a run only its duration is kept: journals are long."""

    def __init__(self) -> None:
        self.totals = RunTotals()
        #: With the durations in milliseconds of the runs that started.
        self._hooks: dict[tuple[str, str], tuple[HookCounts, array[float]]] = {}

    def add(self, run: Run) -> None:
        if run.status in NOT_RUNS:
            return
        known = self._hooks.get((run.hook, run.source))
        if known is None:
            counts = HookCounts(hook=run.hook, source=run.source, dialect=run.dialect)
            known = self._hooks[run.hook, run.source] = counts, array("d")
        self.totals.add(run)
        known[0].add(run)
        if run.status != "not_started":
            known[1].append(run.duration_ms)

    @property
    def hooks(self) -> tuple[HookCounts, ...]:
        """Return the hooks, most runs first."""
        ordered = sorted(self._hooks.values(), key=lambda each: (-each[0].runs, each[0].hook, each[0].source))
        return tuple(replace(counts, times=times(took)) for counts, took in ordered)


def run_lines(run: Run, width: int) -> Iterator[str]:
    """Yield time, event, decision, hook and duration; below it, the call and the reason.

    Shorter on a narrow terminal.
    """
    decision = _decision(run)
    shown = "paused" if run.type == "pause" else f"would {decision}" if _only_recorded(run) else decision
    narrow = width < _NARROW
    event = one_line(run.dialect_event or run.event or "?", 24)
    when = clock(run.at)
    head = f"{when[-8:]:8} " if narrow else f"{when:19}  {event:18} "
    padded = shown if narrow else f"{shown:11}"
    tail = "" if run.status in ("skipped", "not_started") else f"  {run.duration_ms:.0f} ms{_WARM[run.warm]}"
    name = one_line(run.hook, max(width - len(head) - len(padded) - 1 - len(tail), 4))
    colour = _COLOURS.get(decision)
    yield f"{head}{paint(padded, colour) if colour else padded} {name}{tail}"
    indent = " " * len(head) if narrow else _INDENT
    if call := _call_line(run, width - len(indent), narrow=narrow):
        yield f"{indent}{call}"
    for text in _details(run):
        yield f"{indent}{one_line(text, width - len(indent))}"


def _call_line(run: Run, room: int, *, narrow: bool) -> str:
    """Format the tool and its input, then the caller and the project: `Bash: git push (claude-code in
    ~/shop)`.

    For a hook that got the call translated to another tool, both names are shown: `shell as Bash: git push`.
    """
    call = run.call
    other = run.translated_tool if run.translated_tool != call.tool else None
    about = ": ".join(filter(None, (" as ".join(filter(None, (call.tool, other))), call.input)))
    agent = " as ".join(filter(None, (call.origin, call.caller)))
    where = " in ".join(filter(None, (agent, with_tilde(call.project))))
    if not where or (narrow and about):
        return one_line(about, room)
    place = one_line(where, _PLACE_COLUMNS)
    return f"{one_line(about, room - len(place) - 3)} ({place})" if about else f"({place})"


def _only_recorded(run: Run) -> bool:
    """Return True if a hook has decided something that was not applied."""
    return run.mode != "enforce" and run.decision is not None and run.status in ("ok", "blocked")


def _decision(run: Run) -> str:
    if run.decision is not None and run.status in ("ok", "blocked"):
        return run.decision
    return "pass" if run.status == "ok" else run.status.replace("_", " ")


def clock(at: float) -> str:
    """Format the local time; a record can hold any number."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) if at > 0 else "-"
    except (ValueError, OverflowError, OSError):
        return "-"


def _details(run: Run) -> Iterator[str]:
    if run.detail:
        yield "; ".join([run.detail, *_consequence(run)])
    elif run.reason:
        yield run.reason
    if run.doubt and run.decision not in ("deny", "ask", "defer"):  # the reason of these says it
        yield f"in doubt: {run.doubt}"
    if run.dropped:
        yield f"not counted: {', '.join(run.dropped)}" + (f" ({run.why})" if run.why else "")
    if run.decision_id and run.type in ("http", "decision"):
        yield f"decision {run.decision_id}" + (
            " (repeated: the server allows it for a while)" if run.repeated else ""
        )
    if run.mode in _NOT_APPLIED and run.type != "pause":
        yield _NOT_APPLIED[run.mode]


def _consequence(run: Run) -> Iterator[str]:
    """Yield what a failure meant for the action."""
    if run.failed_open:
        yield "failed open"
    elif has_denied(run) and run.status != "blocked":
        yield "blocked, because a failure blocks here"


def _totals_line(totals: RunTotals, shown: int | None = None) -> str:
    some = f"{shown} of " if shown is not None and shown < totals.runs else ""
    runs = f"{some}{count_of(totals.runs, 'run')}"
    passed = totals.failed_open
    without = f"{passed} failed open"
    would = f"{totals.would_have_blocked} would have blocked, " if totals.would_have_blocked else ""
    return (
        f"{runs}: {totals.blocked} blocked, {would}{totals.failed} failed, "
        f"{paint(without, 'yellow') if passed else without}"
    )


def _counts_table(hooks: Sequence[HookCounts], width: int) -> str:
    """Format the counts; those of shadow mode and pauses only where there are some."""
    would = any(each.would_have_blocked for each in hooks)
    rows = [
        [
            "HOOK",
            "RUNS",
            "BLOCKED",
            *(["WOULD HAVE BLOCKED"] if would else ()),
            "FAILED",
            "FAILED OPEN",
            "P50",
            "SOURCE",
        ]
    ]
    rows += [
        [
            one_line(each.hook, 60), str(each.runs), str(each.blocked),
            *([str(each.would_have_blocked)] if would else ()), str(each.failed),
            str(each.failed_open), "-" if each.times is None else milliseconds(each.times.p50_ms),
            one_line(short_source(each.source), 200) or "-",
        ]
        for each in hooks
    ]  # fmt: skip
    return headed_table(rows, width)


def _times_table(hooks: Sequence[HookCounts], width: int) -> str:
    """Format the hooks that took the most time first."""
    rows = [["HOOK", "RUNS", "P50", "P95", "WORST", "TOTAL", "SOURCE"]]
    ordered = sorted(hooks, key=lambda each: -(each.times.total_ms if each.times else 0.0))
    for each in ordered:
        took = each.times
        figures = (took.p50_ms, took.p95_ms, took.worst_ms, took.total_ms) if took else ()
        shown = [milliseconds(figure) for figure in figures] or ["-"] * 4
        source = one_line(short_source(each.source), 200) or "-"
        rows.append([one_line(each.hook, 60), str(each.runs), *shown, source])
    return headed_table(rows, width)
