"""Print what hooks would have done, for `hookline backtest`."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.history import agent_title
from hookline.cli.output import paint
from hookline.cli.text import count_of, headed_table, json_lines, paragraph, with_tilde
from hookline.dialects.dialect import Dialect
from hookline.dialects.recorded_event import Unread
from hookline.history.backtest import AnswerCounts, BacktestTotals, CallExample, HookTotals, by_weight
from hookline.journal.redaction import Redactor
from hookline.model.safe_text import one_line

_EFFECTS = ("block", "ask", "rewrite", "stop", "allow", "context")
_WORDS = {
    "block": "would be blocked", "ask": "would be asked", "rewrite": "would be rewritten",
    "stop": "would end the turn", "allow": "would be allowed unasked", "context": "would get text for the model",
    "none": "proceed unchanged",
}  # fmt: skip
_SHOWN = 5
_COLUMNS = 200


class BacktestCounts(Struct, frozen=True, forbid_unknown_fields=True):
    recorded_events: int
    sessions: int
    #: The most frequent first.
    examples: tuple[CallExample, ...] = ()


class BacktestedHook(Struct, frozen=True, forbid_unknown_fields=True):
    hook: str
    source: str
    dialect: str
    type: str
    mode: str
    #: Moments that concerned it.
    asked: int
    #: By its decision: deny, ask, allow, defer, rewrite.
    said: dict[str, BacktestCounts]
    failures: int
    last_failure: str
    #: Moments at which it was not run, and why.
    not_judged: int
    why_not_judged: str
    #: Milliseconds of one judgement.
    milliseconds: float


class BacktestDocument(Struct, frozen=True, forbid_unknown_fields=True):
    files: int
    megabytes: float
    seconds: float
    recorded_events: int
    sessions: int
    first: float
    last: float
    #: By agent and kind.
    agents: dict[str, dict[str, int]]
    #: Moments that concerned a hook, and how often hooks were really asked for that.
    concerned: int
    judgements: int
    #: By block, ask, rewrite, stop, allow, context.
    effects: dict[str, BacktestCounts]
    hooks: tuple[BacktestedHook, ...]
    #: With --diff: by `before>after`.
    changes: dict[str, BacktestCounts] | None
    days: dict[str, dict[str, int]]
    #: Moments that could not be judged at all, by the reason.
    problems: dict[str, int]
    unread: Unread

    def as_json(self) -> str:
        return json_lines(self)

    def facts(self) -> Any:
        return msgspec.to_builtins(self)

    def as_text(self, width: int) -> str:
        return "\n".join(_lines(self, width))


def backtest_document(
    totals: BacktestTotals, dialects: Mapping[str, Dialect], seconds: float, *, compared: bool
) -> BacktestDocument:
    """Return the numbers as they are shown, with secrets removed from the examples."""
    redactor = Redactor({})
    tally = totals.tally
    return BacktestDocument(
        files=tally.files,
        megabytes=round(tally.bytes / 1e6, 1),
        seconds=round(seconds, 1),
        recorded_events=totals.number,
        sessions=totals.session_count,
        first=totals.first,
        last=totals.last,
        agents={agent_title(dialects, name): kinds for name, kinds in totals.recorded_events.items()},
        concerned=totals.concerned,
        judgements=totals.judgements,
        effects={
            name: _counted(totals.effects[name], dialects, redactor)
            for name in _EFFECTS
            if name in totals.effects
        },
        hooks=tuple(_hook(hook, dialects, redactor) for hook in by_weight(totals.hooks.values())),
        changes={name: _counted(each, dialects, redactor) for name, each in sorted(totals.changes.items())}
        if compared
        else None,
        days=dict(sorted(totals.days.items())),
        problems=totals.problems,
        unread=tally.unread,
    )


def _counted(answers: AnswerCounts, dialects: Mapping[str, Dialect], redactor: Redactor) -> BacktestCounts:
    often = sorted(answers.examples.values(), key=lambda each: (-each.count, each.at))[: 4 * _SHOWN]
    examples = (
        replace(
            each,
            agent=agent_title(dialects, each.agent),
            text=_safe(each.text, redactor),
            reason=_safe(each.reason, redactor),
        )
        for each in often
    )
    return BacktestCounts(answers.count, len(answers.sessions), tuple(examples))


def _safe(text: str, redactor: Redactor) -> str:
    return one_line(redactor.redact(text), _COLUMNS)


def _hook(hook: HookTotals, dialects: Mapping[str, Dialect], redactor: Redactor) -> BacktestedHook:
    return BacktestedHook(
        hook.name, hook.source, hook.dialect, hook.type, hook.mode, hook.asked,
        {word: _counted(answers, dialects, redactor) for word, answers in sorted(hook.said.items())},
        hook.failures, _safe(hook.last_failure, redactor), hook.unjudged, hook.why_unjudged,
        round(hook.milliseconds / hook.timed, 3) if hook.timed else 0.0,
    )  # fmt: skip


def _lines(document: BacktestDocument, width: int) -> Iterator[str]:
    yield _headline(document)
    for agent, kinds in sorted(document.agents.items()):
        yield f"  {agent}: {sum(kinds.values()):,} events, {kinds.get('call', 0):,} calls"
    yield ""
    if document.effects:
        yield from (_effect_line(name, each) for name, each in document.effects.items())
    elif document.concerned:
        yield f"Of {document.concerned:,} events that concern a hook, none would be blocked, asked or rewritten."
    elif document.recorded_events:
        yield "No hook concerns these events; `hookline list` shows the active hooks here, --rule tries one out."
    else:
        yield "The transcripts have nothing of that time; --since all takes everything."
    yield from _changes(document, width)
    yield from _hooks(document, width)
    yield from _examples(document, width)
    yield from _notes(document, width)


def _headline(document: BacktestDocument) -> str:
    days = " – ".join(_day(at) for at in (document.first, document.last) if at)
    sessions = count_of(document.sessions, "session")
    during = f", {days}" if days else ""
    return f"{sessions}, {document.recorded_events:,} events{during}, read in {document.seconds:.1f} s"


def _effect_line(name: str, each: BacktestCounts) -> str:
    number = paint(
        f"{each.recorded_events:>7,}", "red" if name == "block" else "yellow" if name == "ask" else "bold"
    )
    return f"{number} {_WORDS[name]}, in {count_of(each.sessions, 'session')}"


def _changes(document: BacktestDocument, width: int) -> Iterator[str]:
    if document.changes is None:
        return
    yield "\nWhat changes:"
    if not document.changes:
        yield "  nothing: every event is decided as before"
    for name, each in document.changes.items():
        before, _, after = name.partition(">")
        words = f"{_plain(before)} → {_plain(after)}"
        yield f"{each.recorded_events:>7,} {words}, in {count_of(each.sessions, 'session')}"
        yield from _example_lines(each.examples[:_SHOWN], width)


def _plain(effect: str) -> str:
    return {"none": "proceeds", "block": "blocked", "ask": "asked", "rewrite": "rewritten"}.get(
        effect, effect
    )


def _hooks(document: BacktestDocument, width: int) -> Iterator[str]:
    judged = [hook for hook in document.hooks if hook.asked > hook.not_judged]
    if judged:
        yield ""
        rows = [["hook", "asked", "deny", "ask", "allow", "rewrite", "failed", ""]]
        rows += [_hook_row(hook) for hook in judged]
        yield headed_table(rows, width)
    left_out = [hook for hook in document.hooks if hook.not_judged]
    if left_out:
        yield "\nNot judged:"
        for hook in left_out:
            where = with_tilde(hook.source)
            text = f"{hook.hook} ({where}): {hook.not_judged:,} events; {hook.why_not_judged}"
            yield paragraph(one_line(text, 500), width, "  ")


def _hook_row(hook: BacktestedHook) -> list[str]:
    said = {word: each.recorded_events for word, each in hook.said.items()}
    numbers = [f"{said[word]:,}" if word in said else "-" for word in ("deny", "ask", "allow", "rewrite")]
    mode = f"{hook.mode}: only recorded" if hook.mode == "shadow" else ""
    failed = f"{hook.failures:,}" if hook.failures else "-"
    return [one_line(hook.hook, 60), f"{hook.asked:,}", *numbers, failed, mode]


def _examples(document: BacktestDocument, width: int) -> Iterator[str]:
    for name in ("block", "ask", "rewrite"):
        each = document.effects.get(name)
        if each is not None and each.examples:
            yield f"\n{_plain(name).capitalize()}, the most frequent first:"
            yield from _example_lines(each.examples[:_SHOWN], width)


def _example_lines(examples: Sequence[CallExample], width: int) -> Iterator[str]:
    for each in examples:
        who = f"{_day(each.at)} {each.agent} {each.session[:8]}"
        yield f"  {each.count:>5,}×  {one_line(f'{each.tool} {each.text}', max(width - 10, 40))}".rstrip()
        said = one_line(f"{who}: {each.reason}".rstrip(": "), max(width - 10, 40))
        yield f"          {paint(said, 'dim')}"


def numbered(number: int, noun: str) -> str:
    """Format `1 torn line`, `2 × torn line`: for nouns of more than one word."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} × {noun}"


def _notes(document: BacktestDocument, width: int) -> Iterator[str]:
    unread = document.unread
    parts = [
        (unread.torn_lines, "torn line"), (unread.too_long_lines, "line that is too long"),
        (unread.unknown_records, "record of an unknown kind"), (unread.duplicate_calls, "call with an id seen before"),
        (unread.clock_jumps, "jump of the clock"), (len(unread.files), "file that cannot be read"),
        (sum(document.problems.values()), "event that is not a payload of its agent"),
    ]  # fmt: skip
    translated = [numbered(number, noun) for number, noun in parts if number]
    if translated:
        yield ""
        yield paragraph(f"Skipped: {', '.join(translated)}.", width)
    for problem in list(document.problems)[:3]:
        yield paragraph(one_line(problem, 300), width, "  ")


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
