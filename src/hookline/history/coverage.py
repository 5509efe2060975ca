"""Compare which hooks should have run at past events with those that did, by the journal and the transcripts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from hookline.dialects.dialect import Dialect
from hookline.dialects.recorded_event import HookNote, RecordedEvent, Tally
from hookline.dialects.registry import OWN_FORMAT
from hookline.engine.lanes import Lane
from hookline.engine.memory import lanes_of, memory_of
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.select_hooks import follow, select
from hookline.engine.session import Session
from hookline.history.backtest import Tick, example_text
from hookline.history.engines import Engines, ProjectEngine
from hookline.history.journal_index import CallRuns, JournalHook, JournalIndex, hook_name
from hookline.history.outcomes import Questions
from hookline.history.sources import TranscriptSource
from hookline.model.errors import HooklineError
from hookline.model.events import EventSpec
from hookline.model.hook import Hook

_MOST_REMEMBERED = 400_000
_TICK = 4 * 1024 * 1024
_SEPARATOR = "\0"


def _asked(lane: Lane, event: EventSpec[Any], payload: Any, session: Session) -> Iterator[PreparedHook]:
    """Yield the hooks that a call concerns: also guards of files that their agent does not ask about the shell, so that
    such calls count as missed."""
    selected = select(lane, event, payload, session)
    yield from selected
    known = {prepared.key for prepared in selected}
    for prepared in lane.hooks if event.guard and event.follows else ():
        hook = prepared.hook
        narrow = hook.actions == "named" and hook.dialect != OWN_FORMAT and hook.mode != "off"
        if narrow and prepared.key not in known and (hook.matcher is not None or hook.condition is not None):
            found = follow(prepared, event, payload, session)
            if found is not None:
                yield found


class SeenBy(Struct):
    """Coverage of a hook by one agent's events; `HookCoverage` explains the fields."""

    #: As people and as the journal call the agent, where it is shown.
    agent: str = ""
    caller: str = ""
    expected: int = 0
    seen: int = 0
    own_expected: int = 0

    def add(self, other: "SeenBy") -> None:
        self.expected += other.expected
        self.seen += other.seen
        self.own_expected += other.own_expected


class HookCoverage(Struct):
    """Coverage of one hook: how often it should have run, and how often it did."""

    name: str
    source: str
    event: str
    dialect: str
    type: str
    mode: str
    scope: str
    #: True if its block stops an action.
    guard: bool
    trusted: bool = True
    why_untrusted: str = ""
    #: Moments of agents that ask Hookline: those that concerned it, and those at which it ran.
    expected: int = 0
    seen: int = 0
    #: Moments of the agent whose hook it is, which runs it itself.
    own_expected: int = 0
    own_seen: int = 0
    #: The first three by agent.
    agents: dict[str, SeenBy] = field(default_factory=dict[str, SeenBy])
    record: JournalHook = field(default_factory=JournalHook)

    def by(self, agent: str) -> SeenBy:
        found = self.agents.get(agent)
        if found is None:
            found = self.agents[agent] = SeenBy()
        return found

    def add(self, other: "HookCoverage") -> None:
        _join(self.agents, other.agents)
        for name in ("expected", "seen", "own_expected", "own_seen"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class MissedCall(Struct):
    """Calls of one kind in one session that hooks should have seen and did not."""

    agent: str
    session: str
    event: str
    tool: str
    cwd: str
    began_in: str
    subagent: str
    headless: bool | None
    first: float
    last: float
    count: int = 0
    example: str = ""
    #: Keys of the hooks.
    hooks: tuple[str, ...] = ()
    guard: bool = True
    #: Hookline was asked about the calls, because other hooks ran.
    asked: bool = False
    #: The hooks were there, and may not run.
    untrusted: bool = False

    def add(self, other: "MissedCall") -> None:
        if other.first < self.first:
            self.first, self.example = other.first, other.example
        self.last = max(self.last, other.last)
        self.count += other.count


class CoveredSession(Struct):
    """Facts of one session, from which causes of missed calls are inferred."""

    agent: str
    began_in: str = ""
    headless: bool | None = None
    main: int = 0
    subagents: int = 0
    #: When Hookline was first and last asked about it.
    first: float = 0.0
    last: float = 0.0
    tools: set[str] = field(default_factory=set[str])
    directories: set[str] = field(default_factory=set[str])
    events: set[str] = field(default_factory=set[str])

    def add(self, other: "CoveredSession") -> None:
        self.main += other.main
        self.subagents += other.subagents
        self.first = min(self.first or other.first, other.first or self.first)
        self.last = max(self.last, other.last)
        self.tools |= other.tools
        self.directories |= other.directories
        self.events |= other.events


class CoverageTotals(Struct):
    """Totals of everything that was compared."""

    hooks: dict[str, HookCoverage] = field(default_factory=dict[str, HookCoverage])
    missed_calls: dict[str, MissedCall] = field(default_factory=dict[str, MissedCall])
    sessions: dict[str, CoveredSession] = field(default_factory=dict[str, CoveredSession])
    #: By agent: the number of events at which hooks run.
    recorded_events: dict[str, int] = field(default_factory=dict[str, int])
    problems: dict[str, int] = field(default_factory=dict[str, int])
    tally: Tally = field(default_factory=Tally)
    #: When the journal begins, when each agent first called Hookline, and which parts could not be read.
    journal_first: float = 0.0
    callers: dict[str, float] = field(default_factory=dict[str, float])
    damage: int = 0

    def add(self, other: "CoverageTotals") -> None:
        for mine, theirs in (
            (self.hooks, other.hooks),
            (self.missed_calls, other.missed_calls),
            (self.sessions, other.sessions),
        ):
            _join(mine, theirs)
        for mine, theirs in ((self.recorded_events, other.recorded_events), (self.problems, other.problems)):
            for name, number in theirs.items():
                mine[name] = mine.get(name, 0) + number
        self.tally.add(other.tally)


def _join(mine: dict[str, Any], theirs: Mapping[str, Any]) -> None:
    for key, each in theirs.items():
        if key in mine:
            mine[key].add(each)
        else:
            mine[key] = each


class MatchedHook(Struct, frozen=True, eq=False):
    """A hook that a recorded event concerns."""

    key: str
    hook: Hook
    #: Its number in the journal.
    number: int
    guard: bool


class Observation:
    """Comparison of recorded events with the journal."""

    def __init__(self, engines: Engines, since: float, env: Mapping[str, str]) -> None:
        self.sightings = CoverageTotals()
        self._engines = engines
        self._since = since
        self._index = JournalIndex(env, since)
        self._questions = Questions()
        self._memory: dict[tuple[Any, ...], tuple[MatchedHook, ...]] = {}
        self._known: dict[str, MatchedHook] = {}
        self._once: set[tuple[str, str]] = set()
        self._missed_calls: dict[tuple[Any, ...], MissedCall] = {}
        #: Hook runs that transcripts record: by agent, event and command.
        self._notes: dict[tuple[str, str, str], int] = {}
        self._callers: dict[str, str] = {}

    async def read(
        self, sources: Iterable[TranscriptSource], dialects: Mapping[str, Dialect], tick: Tick
    ) -> CoverageTotals:
        tally, shown = self.sightings.tally, 0
        for source in sources:
            transcripts = dialects[source.dialect].transcripts
            if transcripts is None:
                continue
            self._callers[source.dialect] = transcripts.caller or source.dialect
            for item in transcripts.read(source.path, tally):
                if type(item) is HookNote:
                    key = (item.agent, item.event, item.command)
                    self._notes[key] = self._notes.get(key, 0) + 1
                elif type(item) is RecordedEvent and item.event and (item.at >= self._since or not item.at):
                    self._look_at(item)
                if tally.bytes - shown > _TICK:
                    shown = tally.bytes
                    tick(shown)
        return self.finished()

    def _look_at(self, recorded: RecordedEvent) -> None:
        self.sightings.recorded_events[recorded.agent] = (
            self.sightings.recorded_events.get(recorded.agent, 0) + 1
        )
        placed = self._engines.at(recorded.began_in or recorded.cwd)
        asked_at = placed.asked_at(recorded)
        if not asked_at.events:
            return
        key = self._questions.key(recorded, placed, asked_at, by_call=asked_at.by_call)
        concerned = self._memory.get(key) if key is not None else None
        if concerned is None:
            concerned = self._concerned(recorded, placed)
            if concerned is None:
                return
            if key is not None:
                if len(self._memory) >= _MOST_REMEMBERED:
                    self._memory.clear()
                self._memory[key] = concerned
        if concerned:
            self._compare(recorded, concerned)

    def _concerned(self, recorded: RecordedEvent, placed: ProjectEngine) -> tuple[MatchedHook, ...] | None:
        """Return the hooks that the engine would select, or None if the event is not a valid payload of its agent."""
        try:
            parsed = placed.parse(recorded)
        except HooklineError as problem:
            text = str(problem)
            self.sightings.problems[text] = self.sightings.problems.get(text, 0) + 1
            return None
        session = placed.session(recorded, parsed)
        return tuple(
            self._known_as(prepared, event.name, placed)
            for event in placed.dialect(recorded.agent).asked_at(parsed.event)
            for lane in lanes_of(session, event.name)
            for prepared in _asked(lane, event, parsed.payload, session)
        )

    def _known_as(self, prepared: PreparedHook, event: str, placed: ProjectEngine) -> MatchedHook:
        hook = prepared.hook
        key = _SEPARATOR.join(hook_name(event, hook.name, prepared.source))
        found = self._known.get(key)
        if found is None:
            stops = hook.waiting == "wait" and hook.mode == "enforce"
            guard = hook.event.guard and prepared.can_block and stops
            number = self._index.number(event, hook.name, prepared.source)
            found = self._known[key] = MatchedHook(key, hook, number, guard)
            self.sightings.hooks[key] = self._seen_hook(prepared, event, guard, placed)
        return found

    def _seen_hook(
        self, prepared: PreparedHook, event: str, guard: bool, placed: ProjectEngine
    ) -> HookCoverage:
        hook, trust = prepared.hook, placed.engine.trust
        standing = trust.status(hook) if trust is not None else None
        seen = HookCoverage(
            hook.name, prepared.source, event, hook.dialect, hook.kind, hook.mode, hook.scope, guard,
            standing is None or standing.runs, "" if standing is None or standing.runs else standing.why,
        )  # fmt: skip
        seen.record = self._index.hooks.get(hook_name(event, hook.name, prepared.source), seen.record)
        return seen

    def _compare(self, recorded: RecordedEvent, concerned: Sequence[MatchedHook]) -> None:
        """Compare the hooks that should have run on an event with those that did."""
        missing: list[MatchedHook] = []
        untrusted: list[MatchedHook] = []
        ran, event = False, ""
        asked: CallRuns | None = None
        asks = self._callers.get(recorded.agent, recorded.agent) in self._index.callers
        for one in concerned:
            seen = self.sightings.hooks[one.key]
            if self._is_excluded(recorded, one, asks=asks):
                continue
            if one.hook.dialect == recorded.agent and recorded.agent != OWN_FORMAT:
                seen.own_expected += recorded.certain
                seen.by(recorded.agent).own_expected += recorded.certain
                continue
            if one.hook.event.name != event:
                event = one.hook.event.name
                asked = self._index.asked(recorded, event) if "tool_use_id" in recorded.fields else None
            state = self._state(recorded, one, asked)
            if state == "missing" and self._index.was_rewritten(recorded):
                continue  # it may have judged another call than the one that is recorded
            seen.expected += recorded.certain or state == "ran"
            seen.seen += state == "ran"
            by_agent = seen.by(recorded.agent)
            by_agent.expected += recorded.certain or state == "ran"
            by_agent.seen += state == "ran"
            ran |= state == "ran"
            if recorded.certain and state != "ran":
                (untrusted if state == "untrusted" else missing).append(one)
        if ran or (untrusted and not missing):
            self._mark(recorded)
        for unasked, not_trusted in ((missing, False), (untrusted, True)):
            if unasked:
                self._add_missed(recorded, unasked, asked=ran or bool(untrusted), untrusted=not_trusted)

    def _is_excluded(self, recorded: RecordedEvent, one: MatchedHook, *, asks: bool) -> bool:
        """Return True if nothing shows that a hook should have run."""
        if one.hook.once and not self._is_first(recorded, one):
            return True
        # Only Hookline takes the hooks of one agent to another.
        return not asks and one.hook.dialect not in (OWN_FORMAT, recorded.agent)

    def _is_first(self, recorded: RecordedEvent, one: MatchedHook) -> bool:
        known = (recorded.session, one.key)
        first = known not in self._once
        self._once.add(known)
        return first

    def _state(self, recorded: RecordedEvent, one: MatchedHook, asked: CallRuns | None) -> str:
        if one.number < 0:
            return "missing"
        if asked is not None:
            if one.number in asked.ran:
                return "ran"
            if one.number in asked.untrusted:
                return "untrusted"
        return "ran" if self._index.take(recorded, one.hook.event.name, one.number) else "missing"

    def _session(self, recorded: RecordedEvent) -> CoveredSession:
        key = f"{recorded.agent}:{recorded.session}"
        found = self.sightings.sessions.get(key)
        if found is None:
            found = self.sightings.sessions[key] = CoveredSession(
                recorded.agent, recorded.began_in, recorded.headless
            )
        return found

    def _mark(self, recorded: RecordedEvent) -> None:
        session = self._session(recorded)
        if recorded.subagent:
            session.subagents += 1
        else:
            session.main += 1
        session.first = min(session.first or recorded.at, recorded.at)
        session.last = max(session.last, recorded.at)
        session.directories.add(recorded.cwd)
        session.events.add(recorded.event)
        if recorded.tool:
            session.tools.add(recorded.tool)

    def _add_missed(
        self, recorded: RecordedEvent, missing: Sequence[MatchedHook], *, asked: bool, untrusted: bool
    ) -> None:
        hooks = tuple([one.key for one in missing])
        of_call = (
            recorded.agent,
            recorded.session,
            recorded.subagent,
            recorded.event,
            recorded.tool,
            recorded.cwd,
        )
        key = (*of_call, hooks, asked, untrusted)
        missed = self._missed_calls.get(key)
        if missed is None:
            self._session(recorded)
            missed = self._missed_calls[key] = MissedCall(
                recorded.agent, recorded.session, missing[0].hook.event.name, recorded.tool, recorded.cwd,
                recorded.began_in,
                recorded.subagent, recorded.headless, recorded.at, recorded.at, 0, example_text(recorded), hooks,
                any(one.guard for one in missing), asked, untrusted,
            )  # fmt: skip
        missed.count += 1
        missed.last = max(missed.last, recorded.at)

    def _add_unconcerned(self) -> None:
        """Add configured guards that no event concerned."""
        for placed in self._engines.made:
            for event, lanes in memory_of(placed.engine).store.lanes.items():
                for prepared in (each for lane in lanes for each in lane.hooks if each.hook.event.guard):
                    self._known_as(prepared, event, placed)

    def finished(self) -> CoverageTotals:
        sightings = self.sightings
        self._add_unconcerned()
        for key, missed in self._missed_calls.items():
            sightings.missed_calls[_SEPARATOR.join(map(str, key))] = missed
        for one in self._known.values():
            command: str = getattr(one.hook.spec, "command", "")
            noted = self._notes.get((one.hook.dialect, one.hook.policy.event_name, command), 0)
            sightings.hooks[one.key].own_seen = noted
        sightings.journal_first, sightings.callers = self._index.first, self._index.callers
        sightings.damage = self._index.damage
        return sightings
