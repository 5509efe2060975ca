"""Run the user's hooks on past events and count what they would have blocked, asked or rewritten, by session."""

import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from hookline.dialects.dialect import Dialect
from hookline.dialects.recorded_event import RecordedEvent, Tally
from hookline.history.outcomes import NOTHING, EventJudge, HookDecision, ReplayOutcome, UnjudgedEvent
from hookline.history.sources import TranscriptSource
from hookline.journal.journal import input_summary

#: Different calls that are remembered of one hook and one answer, and of one change.
_MOST_EXAMPLES = 40
_LONGEST_EXAMPLE = 400
#: Bytes between two reports of how far it is.
_TICK = 4 * 1024 * 1024

Tick = Callable[[int], None]


class CallExample(Struct):
    """A call that hooks would have answered in some way, and how often it was made."""

    agent: str
    session: str
    at: float
    cwd: str
    tool: str
    text: str
    reason: str = ""
    count: int = 0

    def add(self, other: "CallExample") -> None:
        self.count += other.count
        if other.at < self.at:
            self.agent, self.session, self.at, self.cwd = other.agent, other.session, other.at, other.cwd


class AnswerCounts(Struct):
    """Count of one kind of answer, with its sessions and examples."""

    count: int = 0
    sessions: set[str] = field(default_factory=set[str])
    examples: dict[str, CallExample] = field(default_factory=dict[str, CallExample])

    def note(self, recorded: RecordedEvent, reason: str) -> None:
        self.count += 1
        self.sessions.add(session_of(recorded))
        text = example_text(recorded)
        known = self.examples.get(text)
        if known is not None:
            known.count += 1
            if recorded.at < known.at:
                known.session, known.at, known.cwd = recorded.session, recorded.at, recorded.cwd
        elif len(self.examples) < _MOST_EXAMPLES:
            self.examples[text] = CallExample(
                recorded.agent, recorded.session, recorded.at, recorded.cwd, recorded.tool, text, reason, 1
            )

    def add(self, other: "AnswerCounts") -> None:
        self.count += other.count
        self.sessions |= other.sessions
        for text, example in other.examples.items():
            if text in self.examples:
                self.examples[text].add(example)
            elif len(self.examples) < _MOST_EXAMPLES:
                self.examples[text] = example


class HookTotals(Struct):
    """Totals of one hook."""

    name: str
    source: str
    dialect: str = ""
    type: str = ""
    mode: str = "enforce"
    #: Moments that concerned it.
    asked: int = 0
    #: By its decision: deny, ask, allow, defer, rewrite.
    said: dict[str, AnswerCounts] = field(default_factory=dict[str, AnswerCounts])
    failures: int = 0
    last_failure: str = ""
    unjudged: int = 0
    why_unjudged: str = ""
    milliseconds: float = 0.0
    timed: int = 0

    def add(self, other: "HookTotals") -> None:
        self.dialect, self.type, self.mode = (
            self.dialect or other.dialect,
            self.type or other.type,
            other.mode,
        )
        for name in ("asked", "failures", "unjudged", "milliseconds", "timed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.last_failure = self.last_failure or other.last_failure
        self.why_unjudged = self.why_unjudged or other.why_unjudged
        for word, answers in other.said.items():
            self.said.setdefault(word, AnswerCounts()).add(answers)


class BacktestTotals(Struct):
    """Totals over all replayed events."""

    #: By agent and kind.
    recorded_events: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    sessions: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    first: float = 0.0
    last: float = 0.0
    #: Moments that concerned a hook, and how often hooks were really asked for that.
    concerned: int = 0
    judgements: int = 0
    effects: dict[str, AnswerCounts] = field(default_factory=dict[str, AnswerCounts])
    #: By day, YYYY-MM-DD: the number of events, and of those with an effect.
    days: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    hooks: dict[str, HookTotals] = field(default_factory=dict[str, HookTotals])
    #: With another configuration to compare: by `before>after`.
    changes: dict[str, AnswerCounts] = field(default_factory=dict[str, AnswerCounts])
    problems: dict[str, int] = field(default_factory=dict[str, int])
    tally: Tally = field(default_factory=Tally)

    def add(self, other: "BacktestTotals") -> None:
        for agent, kinds in other.recorded_events.items():
            _sum(self.recorded_events.setdefault(agent, {}), kinds)
        for agent, sessions in other.sessions.items():
            self.sessions.setdefault(agent, set()).update(sessions)
        self.first = min(self.first or other.first, other.first or self.first)
        self.last = max(self.last, other.last)
        self.concerned += other.concerned
        self.judgements += other.judgements
        for day, numbers in other.days.items():
            _sum(self.days.setdefault(day, {}), numbers)
        _join(self.effects, other.effects)
        _join(self.changes, other.changes)
        _join(self.hooks, other.hooks)
        _sum(self.problems, other.problems)
        self.tally.add(other.tally)

    @property
    def number(self) -> int:
        return sum(sum(kinds.values()) for kinds in self.recorded_events.values())

    @property
    def session_count(self) -> int:
        return sum(map(len, self.sessions.values()))


def _sum(mine: dict[str, int], theirs: Mapping[str, int]) -> None:
    for name, number in theirs.items():
        mine[name] = mine.get(name, 0) + number


def _join(mine: dict[str, Any], theirs: Mapping[str, Any]) -> None:
    for name, each in theirs.items():
        if name in mine:
            mine[name].add(each)
        else:
            mine[name] = each


def session_of(recorded: RecordedEvent) -> str:
    return f"{recorded.agent}:{recorded.session}"


def example_text(recorded: RecordedEvent) -> str:
    """Return a short text for people that says what an event is about."""
    if recorded.input:
        try:
            text = input_summary(msgspec.json.decode(recorded.input))
        except msgspec.DecodeError:
            text = ""
    else:
        said: Any = recorded.fields.get("prompt", recorded.fields.get("last_assistant_message", ""))
        text = said if isinstance(said, str) else ""
    return text[:_LONGEST_EXAMPLE]


class Backtest:
    """Counter of one configuration's decisions on past events, and of their differences from another one's."""

    def __init__(self, judge: EventJudge, before: EventJudge | None = None, since: float = 0.0) -> None:
        self.totals = BacktestTotals()
        self._judge = judge
        self._before = before
        self._since = since
        #: How often each outcome without any decision occurred.
        self._quiet: dict[int, tuple[ReplayOutcome, int]] = {}
        self._days: dict[int, dict[str, int]] = {}
        #: Agent and session of the last event: events of one session follow each other.
        self._last = "", ""

    async def read(
        self, sources: Iterable[TranscriptSource], dialects: Mapping[str, Dialect], tick: Tick
    ) -> BacktestTotals:
        """Replay all events of these transcripts."""
        shown = 0
        for source in sources:
            transcripts = dialects[source.dialect].transcripts
            if transcripts is None:
                continue
            for item in transcripts.read(source.path, self.totals.tally):
                if type(item) is RecordedEvent and (item.at >= self._since or not item.at):
                    unjudged = self.look_at(item)
                    if unjudged is not None:
                        await unjudged
                if self.totals.tally.bytes - shown > _TICK:
                    shown = self.totals.tally.bytes
                    tick(shown)
        return self.finished()

    def look_at(self, recorded: RecordedEvent) -> Coroutine[Any, Any, None] | None:
        """Count an event; return the rest of the work if it has to be judged first."""
        day = self._count(recorded)
        if not recorded.event:
            return None
        found = self._judge.recall(recorded)
        if self._before is None and isinstance(found, ReplayOutcome):
            self._note(recorded, found, day)
            return None
        return self._judged(recorded, found, day)

    async def _judged(
        self, recorded: RecordedEvent, found: ReplayOutcome | UnjudgedEvent, day: dict[str, int]
    ) -> None:
        decision = await self._judge.judge(found)
        if self._before is not None:
            before = await self._before.judge(self._before.recall(recorded))
            self._compare(recorded, before, decision)
        self._note(recorded, decision, day)

    def _note(self, recorded: RecordedEvent, decision: ReplayOutcome, day: dict[str, int]) -> None:
        if decision is NOTHING:
            return
        if decision.problem:
            self.totals.problems[decision.problem] = self.totals.problems.get(decision.problem, 0) + 1
        elif not decision.voices and decision.effect == "none":
            known = self._quiet.get(id(decision))
            self._quiet[id(decision)] = (decision, 1 if known is None else known[1] + 1)
        else:
            self._add(recorded, decision, day)

    def _count(self, recorded: RecordedEvent) -> dict[str, int]:
        totals = self.totals
        kinds = totals.recorded_events.get(recorded.agent)
        if kinds is None:
            kinds = totals.recorded_events[recorded.agent] = {}
            totals.sessions[recorded.agent] = set()
        kinds[recorded.kind] = kinds.get(recorded.kind, 0) + 1
        if recorded.session != self._last[1] or recorded.agent != self._last[0]:
            self._last = recorded.agent, recorded.session
            totals.sessions[recorded.agent].add(recorded.session)
        at = recorded.at
        if at and not totals.first <= at <= totals.last:
            totals.first = min(totals.first or at, at)
            totals.last = max(totals.last, at)
        hour = int(at // 3600)
        day = self._days.get(hour)
        if day is None:
            name = time.strftime("%Y-%m-%d", time.localtime(at)) if at else "?"
            day = self._days[hour] = totals.days.setdefault(name, {})
        day["recorded_events"] = day.get("recorded_events", 0) + 1
        return day

    def _add(self, recorded: RecordedEvent, decision: ReplayOutcome, day: dict[str, int]) -> None:
        self.totals.concerned += 1
        if decision.effect != "none":
            self.totals.effects.setdefault(decision.effect, AnswerCounts()).note(recorded, decision.reason)
            day[decision.effect] = day.get(decision.effect, 0) + 1
        for voice in decision.voices:
            self._hear(recorded, voice)
        self._pass(decision, 1)

    def _hear(self, recorded: RecordedEvent, voice: HookDecision) -> None:
        hook = self._hook(voice.hook, voice.source)
        hook.dialect, hook.type, hook.mode = voice.dialect, voice.type, voice.mode
        hook.asked += 1
        hook.milliseconds += voice.milliseconds
        hook.timed += 1
        if voice.failure:
            hook.failures += 1
            hook.last_failure = voice.failure
        for word in (voice.decision, "rewrite" if voice.rewrote else None):
            if word is not None:
                hook.said.setdefault(word, AnswerCounts()).note(recorded, voice.reason)

    def _pass(self, decision: ReplayOutcome, times: int) -> None:
        for name, source in decision.passed:
            self._hook(name, source).asked += times
        for name, source, why in decision.unjudged:
            hook = self._hook(name, source)
            hook.asked += times
            hook.unjudged += times
            hook.why_unjudged = why

    def _hook(self, name: str, source: str) -> HookTotals:
        key = f"{name}\0{source}"
        hook = self.totals.hooks.get(key)
        if hook is None:
            hook = self.totals.hooks[key] = HookTotals(name, source)
        return hook

    def _compare(self, recorded: RecordedEvent, before: ReplayOutcome, after: ReplayOutcome) -> None:
        if before.effect != after.effect:
            change = f"{before.effect}>{after.effect}"
            self.totals.changes.setdefault(change, AnswerCounts()).note(
                recorded, after.reason or before.reason
            )

    def finished(self) -> BacktestTotals:
        """Return the totals, with the outcomes that were only counted so far."""
        for decision, times in self._quiet.values():
            self.totals.concerned += times
            self._pass(decision, times)
        self._quiet.clear()
        self.totals.judgements = self._judge.judgements
        return self.totals


def by_weight(hooks: Iterable[HookTotals]) -> Sequence[HookTotals]:
    """Sort hooks by how often they would have acted, most often first."""
    return sorted(
        hooks, key=lambda hook: (-sum(each.count for each in hook.said.values()), -hook.asked, hook.name)
    )
