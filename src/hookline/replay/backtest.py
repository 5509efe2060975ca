"""The user's hooks on past moments, in numbers: what would have been blocked, asked or rewritten, in which sessions."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from hookline.dialects.dialect import Dialect
from hookline.journal.journal import input_summary
from hookline.replay.sources import Source
from hookline.replay.verdicts import NOTHING, Judge, Verdict, Voice
from hookline.transcripts.moment import Moment, Tally

#: Different calls that are remembered of one hook and one answer, and of one change.
_MOST_EXAMPLES = 40
_LONGEST_EXAMPLE = 400
#: Bytes between two reports of how far it is.
_TICK = 4 * 1024 * 1024

Tick = Callable[[int], None]


class Example(Struct):
    """A call that hooks would have answered in some way, and how often it was made."""

    agent: str
    session: str
    at: float
    cwd: str
    tool: str
    text: str
    reason: str = ""
    count: int = 0

    def add(self, other: "Example") -> None:
        self.count += other.count
        if other.at < self.at:
            self.agent, self.session, self.at, self.cwd = other.agent, other.session, other.at, other.cwd


class Answers(Struct):
    """How often something was said, in which sessions, and to what."""

    count: int = 0
    sessions: set[str] = field(default_factory=set[str])
    examples: dict[str, Example] = field(default_factory=dict[str, Example])

    def note(self, moment: Moment, reason: str) -> None:
        self.count += 1
        self.sessions.add(session_of(moment))
        text = example_text(moment)
        known = self.examples.get(text)
        if known is not None:
            known.count += 1
            if moment.at < known.at:
                known.session, known.at, known.cwd = moment.session, moment.at, moment.cwd
        elif len(self.examples) < _MOST_EXAMPLES:
            self.examples[text] = Example(
                moment.agent, moment.session, moment.at, moment.cwd, moment.tool, text, reason, 1
            )

    def add(self, other: "Answers") -> None:
        self.count += other.count
        self.sessions |= other.sessions
        for text, example in other.examples.items():
            if text in self.examples:
                self.examples[text].add(example)
            elif len(self.examples) < _MOST_EXAMPLES:
                self.examples[text] = example


class HookTotals(Struct):
    """One hook."""

    name: str
    source: str
    dialect: str = ""
    type: str = ""
    mode: str = "enforce"
    #: Moments that concerned it.
    asked: int = 0
    #: By what it said: deny, ask, allow, defer, rewrite.
    said: dict[str, Answers] = field(default_factory=dict[str, Answers])
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
            self.said.setdefault(word, Answers()).add(answers)


class Totals(Struct):
    """All moments that were looked at."""

    #: By agent and kind.
    moments: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    sessions: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    first: float = 0.0
    last: float = 0.0
    #: Moments that concerned a hook, and how often hooks were really asked for that.
    concerned: int = 0
    judgements: int = 0
    effects: dict[str, Answers] = field(default_factory=dict[str, Answers])
    #: By day, YYYY-MM-DD: how many moments there were, and those with an effect.
    days: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    hooks: dict[str, HookTotals] = field(default_factory=dict[str, HookTotals])
    #: With another configuration to compare: by `before>after`.
    changes: dict[str, Answers] = field(default_factory=dict[str, Answers])
    problems: dict[str, int] = field(default_factory=dict[str, int])
    tally: Tally = field(default_factory=Tally)

    def add(self, other: "Totals") -> None:
        for agent, kinds in other.moments.items():
            _sum(self.moments.setdefault(agent, {}), kinds)
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
        return sum(sum(kinds.values()) for kinds in self.moments.values())

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


def session_of(moment: Moment) -> str:
    return f"{moment.agent}:{moment.session}"


def example_text(moment: Moment) -> str:
    """What a moment is about, as people would say it."""
    if moment.input:
        try:
            text = input_summary(msgspec.json.decode(moment.input))
        except msgspec.DecodeError:
            text = ""
    else:
        said: Any = moment.fields.get("prompt", moment.fields.get("last_assistant_message", ""))
        text = said if isinstance(said, str) else ""
    return text[:_LONGEST_EXAMPLE]


class Backtest:
    """Counts what one configuration says to moments, and how another one differs."""

    def __init__(self, judge: Judge, before: Judge | None = None, since: float = 0.0) -> None:
        self.totals = Totals()
        self._judge = judge
        self._before = before
        self._since = since
        #: How often each verdict was given in which no hook said anything.
        self._quiet: dict[int, tuple[Verdict, int]] = {}
        self._days: dict[int, dict[str, int]] = {}
        #: The agent and the session of the last moment: those of one session come one after another.
        self._last = "", ""

    async def read(self, sources: Iterable[Source], dialects: Mapping[str, Dialect], tick: Tick) -> Totals:
        """All moments of these transcripts."""
        told = 0
        for source in sources:
            transcripts = dialects[source.dialect].transcripts
            if transcripts is None:
                continue
            for item in transcripts.read(source.path, self.totals.tally):
                if type(item) is Moment and (item.at >= self._since or not item.at):
                    await self.look_at(item)
                if self.totals.tally.bytes - told > _TICK:
                    told = self.totals.tally.bytes
                    tick(told)
        return self.finished()

    async def look_at(self, moment: Moment) -> None:
        day = self._count(moment)
        if not moment.event:
            return
        verdict = await self._judge.verdict(moment)
        if self._before is not None:
            self._compare(moment, await self._before.verdict(moment), verdict)
        if verdict is NOTHING:
            return
        if verdict.problem:
            self.totals.problems[verdict.problem] = self.totals.problems.get(verdict.problem, 0) + 1
        elif not verdict.voices and verdict.effect == "none":
            known = self._quiet.get(id(verdict))
            self._quiet[id(verdict)] = (verdict, 1 if known is None else known[1] + 1)
        else:
            self._add(moment, verdict, day)

    def _count(self, moment: Moment) -> dict[str, int]:
        totals = self.totals
        kinds = totals.moments.get(moment.agent)
        if kinds is None:
            kinds = totals.moments[moment.agent] = {}
            totals.sessions[moment.agent] = set()
        kinds[moment.kind] = kinds.get(moment.kind, 0) + 1
        if moment.session != self._last[1] or moment.agent != self._last[0]:
            self._last = moment.agent, moment.session
            totals.sessions[moment.agent].add(moment.session)
        at = moment.at
        if at and not totals.first <= at <= totals.last:
            totals.first = min(totals.first or at, at)
            totals.last = max(totals.last, at)
        hour = int(at // 3600)
        day = self._days.get(hour)
        if day is None:
            name = time.strftime("%Y-%m-%d", time.localtime(at)) if at else "?"
            day = self._days[hour] = totals.days.setdefault(name, {})
        day["moments"] = day.get("moments", 0) + 1
        return day

    def _add(self, moment: Moment, verdict: Verdict, day: dict[str, int]) -> None:
        self.totals.concerned += 1
        if verdict.effect != "none":
            self.totals.effects.setdefault(verdict.effect, Answers()).note(moment, verdict.reason)
            day[verdict.effect] = day.get(verdict.effect, 0) + 1
        for voice in verdict.voices:
            self._hear(moment, voice)
        self._pass(verdict, 1)

    def _hear(self, moment: Moment, voice: Voice) -> None:
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
                hook.said.setdefault(word, Answers()).note(moment, voice.reason)

    def _pass(self, verdict: Verdict, times: int) -> None:
        for name, source in verdict.passed:
            self._hook(name, source).asked += times
        for name, source, why in verdict.unjudged:
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

    def _compare(self, moment: Moment, before: Verdict, after: Verdict) -> None:
        if before.effect != after.effect:
            change = f"{before.effect}>{after.effect}"
            self.totals.changes.setdefault(change, Answers()).note(moment, after.reason or before.reason)

    def finished(self) -> Totals:
        """With all that was only counted."""
        for verdict, times in self._quiet.values():
            self.totals.concerned += times
            self._pass(verdict, times)
        self._quiet.clear()
        self.totals.judgements = self._judge.judgements
        return self.totals


def by_weight(hooks: Iterable[HookTotals]) -> Sequence[HookTotals]:
    """Those that would have done most first."""
    return sorted(
        hooks, key=lambda hook: (-sum(each.count for each in hook.said.values()), -hook.asked, hook.name)
    )
