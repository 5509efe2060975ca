"""What `hookline observed` prints."""

import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.backtest.report import numbered
from hookline.cli.history import agent_title, caller_of
from hookline.cli.output import paint
from hookline.cli.text import count_of, json_lines, paragraph, table, with_tilde
from hookline.dialects.dialect import Dialect
from hookline.journal.redaction import Redactor
from hookline.model.safe_text import one_line
from hookline.replay.causes import Explained
from hookline.replay.observed import SeenBy, SeenHook, Sightings
from hookline.transcripts.moment import Unread

_SHOWN = 20
_COLUMNS = 200


class ObservedHook(Struct, frozen=True, forbid_unknown_fields=True):
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
    #: Moments of the agent that runs it by itself, and how often that agent's transcripts tell of it.
    own_expected: int
    own_seen: int
    #: From the journal, at any time.
    runs: int
    last: float
    last_verdict: str
    last_failure: str
    last_failure_at: float
    passed_without_answer: int
    #: What it would have done while it only watched, by decision.
    shadow: dict[str, int]
    agents: tuple[SeenBy, ...]


class ObservedHole(Struct, frozen=True, forbid_unknown_fields=True):
    """Calls that hooks were not asked about."""

    cause: str
    why: str
    #: Whether a guard is among the hooks; others that were not asked stop nothing.
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


class ObservedDocument(Struct, frozen=True, forbid_unknown_fields=True):
    seconds: float
    files: int
    sessions: int
    #: By agent.
    moments: dict[str, int]
    #: Seconds since the epoch; 0: there is no journal.
    journal_begins: float
    journal_damage: int
    hooks: tuple[ObservedHook, ...]
    holes: tuple[ObservedHole, ...]
    #: Calls that a guard should have been asked about and was not, without those that are excused.
    unguarded: int
    problems: dict[str, int]
    unread: Unread

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, *, every: bool) -> str:
        return "\n".join(_lines(self, width, every))


def observed_document(
    sightings: Sightings,
    holes: Sequence[Explained],
    dialects: Mapping[str, Dialect],
    excused: frozenset[str],
    seconds: float,
) -> ObservedDocument:
    redactor, tally = Redactor({}), sightings.tally
    shown = tuple(_hole(each, sightings, dialects, redactor, excused) for each in holes)
    return ObservedDocument(
        seconds=round(seconds, 1),
        files=tally.files,
        sessions=len(sightings.sessions),
        moments={agent_title(dialects, name): number for name, number in sightings.moments.items()},
        journal_begins=sightings.journal_first,
        journal_damage=sightings.damage,
        hooks=tuple(_hook(each, dialects) for each in sorted(sightings.hooks.values(), key=_by_holes)),
        holes=shown,
        unguarded=sum(each.count for each in shown if each.guard and not each.excused),
        problems=sightings.problems,
        unread=tally.unread,
    )


def _by_holes(hook: SeenHook) -> tuple[object, ...]:
    return (not hook.guard, hook.seen - hook.expected, hook.name)


def _hook(hook: SeenHook, dialects: Mapping[str, Dialect]) -> ObservedHook:
    record = hook.record
    agents = tuple(
        replace(by, agent=agent_title(dialects, name), caller=caller_of(dialects, name))
        for name, by in sorted(hook.agents.items())
    )
    return ObservedHook(
        hook.name, hook.source, hook.event, hook.dialect, hook.type, hook.mode, hook.guard, hook.trusted,
        hook.why_untrusted, hook.expected, hook.seen, hook.own_expected, hook.own_seen, record.runs, record.last,
        record.last_verdict, one_line(record.last_failure, _COLUMNS), record.last_failure_at, record.unanswered,
        record.shadow, agents,
    )  # fmt: skip


def _hole(
    one: Explained,
    sightings: Sightings,
    dialects: Mapping[str, Dialect],
    redactor: Redactor,
    excused: frozenset[str],
) -> ObservedHole:
    hole = one.hole
    names = tuple(dict.fromkeys(sightings.hooks[key].name for key in hole.hooks))
    return ObservedHole(
        one.cause, one.why, hole.guard, agent_title(dialects, hole.agent), hole.session, hole.subagent, hole.event,
        hole.tool, hole.cwd, hole.first, hole.last, hole.count, one_line(redactor.redact(hole.example), _COLUMNS),
        names, one.cause in excused,
    )  # fmt: skip


def _lines(document: ObservedDocument, width: int, every: bool) -> Iterator[str]:
    moments = ", ".join(f"{agent} {number:,}" for agent, number in sorted(document.moments.items()))
    yield f"sessions that concern a hook: {document.sessions:,}; moments: {moments or 'none'}"
    begins = (
        _when(document.journal_begins) if document.journal_begins else "there is none: no hook has ever run"
    )
    yield f"journal since: {begins}"
    concerned = [hook for hook in document.hooks if hook.expected or hook.own_expected]
    if not concerned:
        yield "\nNo hook concerns what happened in these sessions; `hookline list` shows those in force here."
    else:
        yield ""
        head = ["hook", "event", "should", "seen", "last verdict", "no answer", ""]
        yield table([head, *(_row(hook) for hook in concerned)], width)
    yield from _own_lines(document, width)
    yield from _failures(document, width)
    yield from _hole_lines(document, width, every)
    yield from _unread_lines(document, width)


def _row(hook: ObservedHook) -> list[str]:
    last = f"{hook.last_verdict}, {_when(hook.last)}" if hook.last else "never ran"
    unanswered = str(hook.passed_without_answer) if hook.passed_without_answer else "-"
    return [
        one_line(hook.hook, 50),
        hook.event,
        f"{hook.expected:,}",
        f"{hook.seen:,}",
        last,
        unanswered,
        _state(hook),
    ]


def _state(hook: ObservedHook) -> str:
    if not hook.trusted:
        return f"untrusted: {hook.why_untrusted}"
    missed = hook.expected - hook.seen
    if missed > 0:
        return f"missed {missed:,}" + ("" if hook.guard else " (stops nothing)")
    if hook.mode == "shadow":
        would = ", ".join(
            f"{word} {number:,}" for word, number in sorted(hook.shadow.items()) if word != "pass"
        )
        return f"shadow: would {would}" if would else "shadow: would do nothing"
    return "ok" if hook.expected else "run by its agent" if hook.own_expected else "not concerned"


def _own_lines(document: ObservedDocument, width: int) -> Iterator[str]:
    own = [hook for hook in document.hooks if hook.own_expected]
    if own:
        yield "\nRun by their own agent, whose transcripts tell only of hooks that said something:"
        for hook in own:
            text = f"{hook.hook} ({with_tilde(hook.source)}): {hook.own_expected:,} moments, told of {hook.own_seen:,}"
            yield paragraph(one_line(text, 400), width, "  ")


def _failures(document: ObservedDocument, width: int) -> Iterator[str]:
    failed = [hook for hook in document.hooks if hook.last_failure]
    if failed:
        yield "\nLast failures:"
        for hook in failed:
            text = f"{_when(hook.last_failure_at)} {hook.hook}: {hook.last_failure}"
            yield paragraph(one_line(text, 400), width, "  ")


def _hole_lines(document: ObservedDocument, width: int, every: bool) -> Iterator[str]:
    guards = [hole for hole in document.holes if hole.guard]
    if not guards:
        if any(hook.guard and (hook.expected or hook.own_expected) for hook in document.hooks):
            yield ""
            yield paint("Every guard in force was asked about every call that concerned it.", "green")
        return
    yield ""
    number = sum(hole.count for hole in guards)
    were = "was" if number == 1 else "were"
    yield paint(f"{count_of(number, 'call')} that should have been guarded and {were} not:", "red")
    groups: dict[tuple[str, ...], list[ObservedHole]] = {}
    for hole in guards:
        groups.setdefault((hole.cause, hole.why, hole.agent, hole.session, hole.subagent), []).append(hole)
    shown = list(groups.values())[: None if every else _SHOWN]
    for group in shown:
        yield from _group_lines(group, width)
    if len(groups) > len(shown):
        yield f"  and in {len(groups) - len(shown)} more sessions; --all lists them"
    yield ""
    causes: dict[str, int] = {}
    for hole in guards:
        causes[hole.cause] = causes.get(hole.cause, 0) + hole.count
    ordered = sorted(causes.items(), key=lambda item: -item[1])
    yield paragraph("By cause: " + ", ".join(f"{cause} {each:,}" for cause, each in ordered), width)


def _group_lines(group: Sequence[ObservedHole], width: int) -> Iterator[str]:
    """Holes of one session and one cause."""
    first = min(group, key=lambda hole: hole.first)
    who = f"{first.agent} {first.session[:8]}" + (
        f", sub-agent {first.subagent[:8]}" if first.subagent else ""
    )
    tools: dict[str, int] = {}
    for hole in group:
        tools[hole.tool or hole.event] = tools.get(hole.tool or hole.event, 0) + hole.count
    calls = ", ".join(name if number == 1 else f"{number:,} × {name}" for name, number in tools.items())
    example = f", first: {first.example}" if first.example else ""
    yield f"  {one_line(f'{_when(first.first)}  {who}  {calls}{example}', max(width - 2, 40))}"
    hooks = ", ".join(dict.fromkeys(name for hole in group for name in hole.hooks))
    mark = " (excused)" if first.excused else ""
    yield paragraph(one_line(f"{first.cause}{mark}: {first.why}; not asked: {hooks}", 600), width, "      ")


def _unread_lines(document: ObservedDocument, width: int) -> Iterator[str]:
    unread = document.unread
    parts = [
        (unread.torn_lines, "torn line"), (unread.too_long_lines, "line that is too long"),
        (unread.unknown_records, "record of an unknown kind"), (unread.clock_jumps, "jump of the clock"),
        (unread.duplicate_calls, "call with an id seen before"), (len(unread.files), "file that cannot be read"),
        (document.journal_damage, "damaged line of the journal"),
    ]  # fmt: skip
    told = [numbered(number, noun) for number, noun in parts if number]
    if told:
        yield ""
        yield paragraph(f"Passed over: {', '.join(told)}.", width)


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
