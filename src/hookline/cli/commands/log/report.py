"""The record of what `hookline log` found, as lines, as a table and as JSON; with --follow, one `Run` per line."""

import time
from array import array
from collections.abc import Iterator, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.describe import short_source
from hookline.cli.output import Colour, paint
from hookline.cli.text import count_of, json_lines, paragraph, table, with_tilde
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable

#: Records that are not a run: a hook that was not selected, and the start of one that ends later.
NOT_RUNS = frozenset({"skipped", "detached"})
_COLOURS: dict[str, Colour] = {
    "deny": "red", "blocked": "red", "ask": "yellow", "defer": "yellow", "failed": "red", "timed out": "red",
    "not started": "red", "allow": "green",
}  # fmt: skip
_INDENT = " " * 21
#: Whether a Python script was run by an interpreter that was started ahead; None: it is none that could be.
_WARM = {None: "", True: ", warm", False: ", cold"}
_PLACE_COLUMNS = 48
#: Below this width there is no room for the date and the event beside a name.
_NARROW = 72


class Totals(Struct, kw_only=True, forbid_unknown_fields=True):
    """Runs in numbers."""

    runs: int = 0
    #: Blocked the action: said no, or failed where a failure blocks.
    blocked: int = 0
    failed: int = 0
    passed_without_answer: int = 0

    def add(self, run: Run) -> None:
        self.runs += 1
        self.blocked += is_block(run)
        self.failed += is_failure(run)
        self.passed_without_answer += run.passed_without_answer


class HookCounts(Totals, kw_only=True, forbid_unknown_fields=True):
    """The runs of one hook."""

    hook: str
    source: str
    dialect: str
    p50_ms: float | None = None


class LogDocument(Struct, frozen=True, forbid_unknown_fields=True):
    journal: str
    #: Whether there is a journal at all.
    exists: bool
    #: The newest that were asked for, oldest first.
    runs: tuple[Run, ...]
    #: Over everything the filters let through, including what --limit left out.
    totals: Totals
    hooks: tuple[HookCounts, ...]
    #: Lines of the file that are not a whole record.
    damage: tuple[str, ...] = ()

    @property
    def unreadable(self) -> bool:
        return any("cannot be read" in each for each in self.damage)

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, *, counts: bool) -> str:
        """The runs, or with `counts` a table of the hooks; then the totals."""
        if not self.exists:
            return no_journal_text(self.journal, width)
        if not self.totals.runs and not self.runs:
            return paragraph(f"no run in {self.journal} matches", width)
        if counts:
            return "\n".join([_counts_table(self.hooks, width), "", _totals_line(self.totals)])
        lines = [line for run in self.runs for line in run_lines(run, width)]
        ran = sum(run.status not in NOT_RUNS for run in self.runs)
        return "\n".join([*lines, "", _totals_line(self.totals, ran)])


def no_journal_text(path: str, width: int) -> str:
    text = "no journal yet: the first hook that Hookline runs creates it. It will be in"
    return f"{paragraph(text, width)}\n  {printable(path)}"


def is_block(run: Run) -> bool:
    """It blocked the action: it said no, or it failed and its failure blocks."""
    return run.status == "blocked" or run.decision == "deny"


def is_failure(run: Run) -> bool:
    return run.status in ("failed", "timed_out", "not_started")


class Counts:
    """Runs in numbers, hook by hook, added one at a time. Of a run only its duration is kept: journals are long."""

    def __init__(self) -> None:
        self.totals = Totals()
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
        """Most runs first."""
        ordered = sorted(self._hooks.values(), key=lambda each: (-each[0].runs, each[0].hook, each[0].source))
        return tuple(
            replace(counts, p50_ms=round(median(took), 3) if took else None) for counts, took in ordered
        )


def run_lines(run: Run, width: int) -> Iterator[str]:
    """Time, event, decision, hook and duration; below it, the call and the reason. Shorter on a narrow terminal."""
    verdict = _verdict(run)
    narrow = width < _NARROW
    event = one_line(run.spelled or run.event or "?", 24)
    when = clock(run.at)
    head = f"{when[-8:]:8} " if narrow else f"{when:19}  {event:18} "
    padded = verdict if narrow else f"{verdict:11}"
    tail = "" if run.status in ("skipped", "not_started") else f"  {run.duration_ms:.0f} ms{_WARM[run.warm]}"
    name = one_line(run.hook, max(width - len(head) - len(padded) - 1 - len(tail), 4))
    colour = _COLOURS.get(verdict)
    yield f"{head}{paint(padded, colour) if colour else padded} {name}{tail}"
    indent = " " * len(head) if narrow else _INDENT
    if call := _call_line(run, width - len(indent), narrow=narrow):
        yield f"{indent}{call}"
    for text in _details(run):
        yield f"{indent}{one_line(text, width - len(indent))}"


def _call_line(run: Run, room: int, *, narrow: bool) -> str:
    """The tool and its input, then who called it and where: `Bash: git push (claude-code in ~/shop)`.

    A hook that was told the call as one of another tool has that name beside it: `shell as Bash: git push`.
    """
    call = run.call
    other = run.told_as if run.told_as != call.tool else None
    about = ": ".join(filter(None, (" as ".join(filter(None, (call.tool, other))), call.input)))
    agent = " as ".join(filter(None, (call.made_by, call.caller)))
    where = " in ".join(filter(None, (agent, with_tilde(call.project))))
    if not where or (narrow and about):
        return one_line(about, room)
    place = one_line(where, _PLACE_COLUMNS)
    return f"{one_line(about, room - len(place) - 3)} ({place})" if about else f"({place})"


def _verdict(run: Run) -> str:
    if run.decision is not None and run.status in ("ok", "blocked"):
        return run.decision
    return "pass" if run.status == "ok" else run.status.replace("_", " ")


def clock(at: float) -> str:
    """The local time; a record can hold any number."""
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
    if run.mode == "shadow":
        yield "in shadow mode: recorded, not applied"


def _consequence(run: Run) -> Iterator[str]:
    """What the missing answer meant for the action."""
    if run.passed_without_answer:
        yield "let through without an answer"
    elif is_block(run) and run.status != "blocked":
        yield "blocked, because a failure blocks here"


def _totals_line(totals: Totals, shown: int | None = None) -> str:
    some = f"{shown} of " if shown is not None and shown < totals.runs else ""
    runs = f"{some}{count_of(totals.runs, 'run')}"
    passed = totals.passed_without_answer
    without = f"{passed} let through without an answer"
    return (
        f"{runs}: {totals.blocked} blocked, {totals.failed} failed, "
        f"{paint(without, 'yellow') if passed else without}"
    )


def _counts_table(hooks: Sequence[HookCounts], width: int) -> str:
    rows = [["HOOK", "RUNS", "BLOCKED", "FAILED", "UNANSWERED", "P50", "SOURCE"]]
    rows += [
        [
            one_line(each.hook, 60), str(each.runs), str(each.blocked), str(each.failed),
            str(each.passed_without_answer), "-" if each.p50_ms is None else f"{each.p50_ms:.1f} ms",
            one_line(short_source(each.source), 200) or "-",
        ]
        for each in hooks
    ]  # fmt: skip
    return table(rows, width)
