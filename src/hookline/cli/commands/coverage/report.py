"""Print and encode the coverage of guards."""

import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.backtest.report import numbered
from hookline.cli.history import agent_title, caller_of
from hookline.cli.output import paint
from hookline.cli.text import count_of, headed_table, json_lines, paragraph, with_tilde
from hookline.dialects.dialect import Dialect
from hookline.dialects.recorded_event import Unread
from hookline.history.causes import Explained
from hookline.history.coverage import CoverageTotals, HookCoverage, SeenBy
from hookline.journal.redaction import Redactor
from hookline.model.safe_text import one_line

_SHOWN = 20
_COLUMNS = 200


class CoveredHook(Struct, frozen=True, forbid_unknown_fields=True):
    """One hook: configured, trusted, matched, seen."""

    hook: str
    source: str
    event: str
    dialect: str
    type: str
    mode: str
    guard: bool
    trusted: bool
    why_untrusted: str
    #: Moments that concerned it and at which Hookline should have been asked, and those at which it ran.
    expected: int
    seen: int
    #: Events of the agent that runs it itself, and how often that agent's transcripts mention it.
    own_expected: int
    own_seen: int
    #: From the journal, at any time.
    runs: int
    last: float
    last_decision: str
    last_failure: str
    last_failure_at: float
    failed_open: int
    #: Its decisions in shadow mode, counted.
    shadow: dict[str, int]
    agents: tuple[SeenBy, ...]


class MissedCalls(Struct, frozen=True, forbid_unknown_fields=True):
    """Calls that hooks missed."""

    cause: str
    why: str
    #: True if a guard is among the hooks; others that did not run stop nothing.
    guard: bool
    agent: str
    session: str
    subagent: str
    event: str
    tool: str
    cwd: str
    #: Seconds since the epoch.
    first: float
    last: float
    count: int
    example: str
    hooks: tuple[str, ...]
    #: Its cause was named with --except.
    excused: bool


class CoverageDocument(Struct, frozen=True, forbid_unknown_fields=True):
    seconds: float
    files: int
    sessions: int
    #: By agent.
    recorded_events: dict[str, int]
    #: Seconds since the epoch; 0: there is no journal.
    journal_begins: float
    journal_damage: int
    hooks: tuple[CoveredHook, ...]
    missed: tuple[MissedCalls, ...]
    #: Calls that a guard missed, without those that are excused.
    unguarded: int
    problems: dict[str, int]
    unread: Unread

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, *, every: bool) -> str:
        return "\n".join(_lines(self, width, every))


def coverage_document(
    sightings: CoverageTotals,
    missed: Sequence[Explained],
    dialects: Mapping[str, Dialect],
    excused: frozenset[str],
    seconds: float,
) -> CoverageDocument:
    redactor, tally = Redactor({}), sightings.tally
    shown = tuple(_missed(each, sightings, dialects, redactor, excused) for each in missed)
    return CoverageDocument(
        seconds=round(seconds, 1),
        files=tally.files,
        sessions=len(sightings.sessions),
        recorded_events={
            agent_title(dialects, name): number for name, number in sightings.recorded_events.items()
        },
        journal_begins=sightings.journal_first,
        journal_damage=sightings.damage,
        hooks=tuple(_hook(each, dialects) for each in sorted(sightings.hooks.values(), key=_by_missed)),
        missed=shown,
        unguarded=sum(each.count for each in shown if each.guard and not each.excused),
        problems=sightings.problems,
        unread=tally.unread,
    )


def _by_missed(hook: HookCoverage) -> tuple[object, ...]:
    return (not hook.guard, hook.seen - hook.expected, hook.name)


def _hook(hook: HookCoverage, dialects: Mapping[str, Dialect]) -> CoveredHook:
    record = hook.record
    agents = tuple(
        replace(by, agent=agent_title(dialects, name), caller=caller_of(dialects, name))
        for name, by in sorted(hook.agents.items())
    )
    return CoveredHook(
        hook.name, hook.source, hook.event, hook.dialect, hook.type, hook.mode, hook.guard, hook.trusted,
        hook.why_untrusted, hook.expected, hook.seen, hook.own_expected, hook.own_seen, record.runs, record.last,
        record.last_decision, one_line(record.last_failure, _COLUMNS), record.last_failure_at, record.failed_open,
        record.shadow, agents,
    )  # fmt: skip


def _missed(
    one: Explained,
    sightings: CoverageTotals,
    dialects: Mapping[str, Dialect],
    redactor: Redactor,
    excused: frozenset[str],
) -> MissedCalls:
    each = one.missed
    names = tuple(dict.fromkeys(sightings.hooks[key].name for key in each.hooks))
    return MissedCalls(
        one.cause, one.why, each.guard, agent_title(dialects, each.agent), each.session, each.subagent, each.event,
        each.tool, each.cwd, each.first, each.last, each.count, one_line(redactor.redact(each.example), _COLUMNS),
        names, one.cause in excused,
    )  # fmt: skip


def _lines(document: CoverageDocument, width: int, every: bool) -> Iterator[str]:
    recorded_events = ", ".join(
        f"{agent} {number:,}" for agent, number in sorted(document.recorded_events.items())
    )
    yield f"sessions that concern a hook: {document.sessions:,}; events: {recorded_events or 'none'}"
    begins = _when(document.journal_begins) if document.journal_begins else "none: no hook has ever run"
    yield f"journal since: {begins}"
    concerned = [hook for hook in document.hooks if hook.expected or hook.own_expected]
    if not concerned:
        yield "\nNo hook concerns an event of these sessions; `hookline list` shows the active hooks here."
    else:
        yield ""
        would = any(map(_would, concerned))
        more = ["would have"] if would else []
        head = ["hook", "event", "should", "seen", "last decision", *more, "no answer", ""]
        yield headed_table([head, *(_row(hook, would=would) for hook in concerned)], width)
    yield from _own_lines(document, width)
    yield from _failures(document, width)
    yield from _missed_lines(document, width, every)
    yield from _unread_lines(document, width)


def _row(hook: CoveredHook, *, would: bool) -> list[str]:
    last = f"{hook.last_decision}, {_when(hook.last)}" if hook.last else "never ran"
    failed_open = str(hook.failed_open) if hook.failed_open else "-"
    return [
        one_line(hook.hook, 50),
        hook.event,
        f"{hook.expected:,}",
        f"{hook.seen:,}",
        last,
        *([_would(hook) or "-"] if would else ()),
        failed_open,
        _state(hook),
    ]


def _state(hook: CoveredHook) -> str:
    if not hook.trusted:
        return f"untrusted: {hook.why_untrusted}"
    missed = hook.expected - hook.seen
    if missed > 0:
        return f"missed {missed:,}" + ("" if hook.guard else " (stops nothing)")
    if hook.mode == "shadow":
        return "shadow: only recorded"
    return "ok" if hook.expected else "run by its agent" if hook.own_expected else "not concerned"


def _would(hook: CoveredHook) -> str:
    """Return the decisions that were only recorded: in shadow mode, or while a person had paused the hook."""
    counted = sorted(hook.shadow.items())
    return ", ".join(f"{word} {number:,}" for word, number in counted if word != "pass")


def _own_lines(document: CoverageDocument, width: int) -> Iterator[str]:
    own = [hook for hook in document.hooks if hook.own_expected]
    if own:
        yield "\nRun by their own agent, whose transcripts mention only hooks that printed something:"
        for hook in own:
            text = f"{hook.hook} ({with_tilde(hook.source)}): {hook.own_expected:,} events, {hook.own_seen:,} mentioned"
            yield paragraph(one_line(text, 400), width, "  ")


def _failures(document: CoverageDocument, width: int) -> Iterator[str]:
    failed = [hook for hook in document.hooks if hook.last_failure]
    if failed:
        yield "\nLast failures:"
        for hook in failed:
            text = f"{_when(hook.last_failure_at)} {hook.hook}: {hook.last_failure}"
            yield paragraph(one_line(text, 400), width, "  ")


def _missed_lines(document: CoverageDocument, width: int, every: bool) -> Iterator[str]:
    guards = [each for each in document.missed if each.guard]
    if not guards:
        if any(hook.guard and (hook.expected or hook.own_expected) for hook in document.hooks):
            yield ""
            yield paint("Every active guard saw every call that concerned it.", "green")
        return
    yield ""
    number = sum(each.count for each in guards)
    were = "was" if number == 1 else "were"
    yield paint(f"{count_of(number, 'call')} that should have been guarded and {were} not:", "red")
    groups: dict[tuple[str, ...], list[MissedCalls]] = {}
    for each in guards:
        groups.setdefault((each.cause, each.why, each.agent, each.session, each.subagent), []).append(each)
    shown = list(groups.values())[: None if every else _SHOWN]
    for group in shown:
        yield from _group_lines(group, width)
    if len(groups) > len(shown):
        yield f"  and in {len(groups) - len(shown)} more sessions; --all lists them"
    yield ""
    causes: dict[str, int] = {}
    for each in guards:
        causes[each.cause] = causes.get(each.cause, 0) + each.count
    ordered = sorted(causes.items(), key=lambda item: -item[1])
    yield paragraph("By cause: " + ", ".join(f"{cause} {each:,}" for cause, each in ordered), width)


def _group_lines(group: Sequence[MissedCalls], width: int) -> Iterator[str]:
    """Format the missed calls of one session and one cause."""
    first = min(group, key=lambda each: each.first)
    who = f"{first.agent} {first.session[:8]}" + (
        f", subagent {first.subagent[:8]}" if first.subagent else ""
    )
    tools: dict[str, int] = {}
    for each in group:
        tools[each.tool or each.event] = tools.get(each.tool or each.event, 0) + each.count
    calls = ", ".join(name if number == 1 else f"{number:,} × {name}" for name, number in tools.items())
    example = f", first: {first.example}" if first.example else ""
    yield f"  {one_line(f'{_when(first.first)}  {who}  {calls}{example}', max(width - 2, 40))}"
    hooks = ", ".join(dict.fromkeys(name for each in group for name in each.hooks))
    mark = " (excused)" if first.excused else ""
    yield paragraph(one_line(f"{first.cause}{mark}: {first.why}; not asked: {hooks}", 600), width, "      ")


def _unread_lines(document: CoverageDocument, width: int) -> Iterator[str]:
    unread = document.unread
    parts = [
        (unread.torn_lines, "torn line"), (unread.too_long_lines, "line that is too long"),
        (unread.unknown_records, "record of an unknown kind"), (unread.clock_jumps, "jump of the clock"),
        (unread.duplicate_calls, "call with an id seen before"), (len(unread.files), "file that cannot be read"),
        (document.journal_damage, "damaged line of the journal"),
    ]  # fmt: skip
    translated = [numbered(number, noun) for number, noun in parts if number]
    if translated:
        yield ""
        yield paragraph(f"Skipped: {', '.join(translated)}.", width)


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
