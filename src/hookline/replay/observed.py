"""Which hooks should have been asked at past moments, and which were, by the journal and by transcripts themselves."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from hookline.dialects.dialect import Dialect
from hookline.dialects.registry import OWN_FORMAT
from hookline.engine.lanes import PreparedHook, select
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook
from hookline.replay.backtest import Tick, example_text
from hookline.replay.engines import Engines, PlacedEngine
from hookline.replay.journal_index import Asked, HookRecord, JournalIndex, hook_name
from hookline.replay.sources import Source
from hookline.replay.verdicts import Questions
from hookline.transcripts.moment import HookNote, Moment, Tally

_MOST_REMEMBERED = 400_000
_TICK = 4 * 1024 * 1024
_SEPARATOR = "\0"


class SeenBy(Struct):
    """What one agent's moments say of a hook; for the meaning see `SeenHook`."""

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


class SeenHook(Struct):
    """One hook: what is configured, what should have been, and what was."""

    name: str
    source: str
    event: str
    dialect: str
    type: str
    mode: str
    scope: str
    #: Whether its block stops an action.
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
    record: HookRecord = field(default_factory=HookRecord)

    def by(self, agent: str) -> SeenBy:
        found = self.agents.get(agent)
        if found is None:
            found = self.agents[agent] = SeenBy()
        return found

    def add(self, other: "SeenHook") -> None:
        _join(self.agents, other.agents)
        for name in ("expected", "seen", "own_expected", "own_seen"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Hole(Struct):
    """Calls of one kind in one session that hooks should have been asked about and were not."""

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

    def add(self, other: "Hole") -> None:
        if other.first < self.first:
            self.first, self.example = other.first, other.example
        self.last = max(self.last, other.last)
        self.count += other.count


class SeenSession(Struct):
    """What was seen of one session, to tell why something was not."""

    agent: str
    began_in: str = ""
    headless: bool | None = None
    main: int = 0
    subagents: int = 0
    tools: set[str] = field(default_factory=set[str])
    directories: set[str] = field(default_factory=set[str])
    events: set[str] = field(default_factory=set[str])

    def add(self, other: "SeenSession") -> None:
        self.main += other.main
        self.subagents += other.subagents
        self.tools |= other.tools
        self.directories |= other.directories
        self.events |= other.events


class Sightings(Struct):
    """Everything that was looked at."""

    hooks: dict[str, SeenHook] = field(default_factory=dict[str, SeenHook])
    holes: dict[str, Hole] = field(default_factory=dict[str, Hole])
    sessions: dict[str, SeenSession] = field(default_factory=dict[str, SeenSession])
    #: By agent: how many moments at which hooks are asked.
    moments: dict[str, int] = field(default_factory=dict[str, int])
    problems: dict[str, int] = field(default_factory=dict[str, int])
    tally: Tally = field(default_factory=Tally)
    #: When the journal begins, when each agent first asked Hookline, and what of the journal could not be read.
    journal_first: float = 0.0
    callers: dict[str, float] = field(default_factory=dict[str, float])
    damage: int = 0

    def add(self, other: "Sightings") -> None:
        for mine, theirs in (
            (self.hooks, other.hooks),
            (self.holes, other.holes),
            (self.sessions, other.sessions),
        ):
            _join(mine, theirs)
        for mine, theirs in ((self.moments, other.moments), (self.problems, other.problems)):
            for name, number in theirs.items():
                mine[name] = mine.get(name, 0) + number
        self.tally.add(other.tally)


def _join(mine: dict[str, Any], theirs: Mapping[str, Any]) -> None:
    for key, each in theirs.items():
        if key in mine:
            mine[key].add(each)
        else:
            mine[key] = each


class Concerned(Struct, frozen=True, eq=False):
    """A hook that a moment concerns."""

    key: str
    hook: Hook
    #: Its number in the journal.
    number: int
    guard: bool


class Observation:
    """Compares moments with the journal."""

    def __init__(self, engines: Engines, since: float, env: Mapping[str, str]) -> None:
        self.sightings = Sightings()
        self._engines = engines
        self._since = since
        self._index = JournalIndex(env, since)
        self._questions = Questions()
        self._memory: dict[tuple[Any, ...], tuple[Concerned, ...]] = {}
        self._known: dict[str, Concerned] = {}
        self._once: set[tuple[str, str]] = set()
        self._holes: dict[tuple[Any, ...], Hole] = {}
        #: What transcripts say of hooks: by agent, event and command.
        self._notes: dict[tuple[str, str, str], int] = {}
        self._callers: dict[str, str] = {}

    async def read(self, sources: Iterable[Source], dialects: Mapping[str, Dialect], tick: Tick) -> Sightings:
        tally, told = self.sightings.tally, 0
        for source in sources:
            transcripts = dialects[source.dialect].transcripts
            if transcripts is None:
                continue
            self._callers[source.dialect] = transcripts.caller or source.dialect
            for item in transcripts.read(source.path, tally):
                if type(item) is HookNote:
                    key = (item.agent, item.event, item.command)
                    self._notes[key] = self._notes.get(key, 0) + 1
                elif type(item) is Moment and item.event and (item.at >= self._since or not item.at):
                    self._look_at(item)
                if tally.bytes - told > _TICK:
                    told = tally.bytes
                    tick(told)
        return self.finished()

    def _look_at(self, moment: Moment) -> None:
        self.sightings.moments[moment.agent] = self.sightings.moments.get(moment.agent, 0) + 1
        placed = self._engines.at(moment.began_in or moment.cwd)
        asked_at = placed.asked_at(moment)
        if not asked_at.events:
            return
        key = self._questions.key(moment, placed, asked_at, by_call=asked_at.by_call)
        concerned = self._memory.get(key) if key is not None else None
        if concerned is None:
            concerned = self._concerned(moment, placed)
            if concerned is None:
                return
            if key is not None:
                if len(self._memory) >= _MOST_REMEMBERED:
                    self._memory.clear()
                self._memory[key] = concerned
        if concerned:
            self._compare(moment, concerned)

    def _concerned(self, moment: Moment, placed: PlacedEngine) -> tuple[Concerned, ...] | None:
        """The hooks that the engine would select; None where the moment is no payload of its agent."""
        try:
            parsed = placed.parse(moment)
        except HooklineError as problem:
            text = str(problem)
            self.sightings.problems[text] = self.sightings.problems.get(text, 0) + 1
            return None
        session = placed.session(moment, parsed)
        return tuple(
            self._known_as(prepared, event.name, placed)
            for event in placed.dialect(moment.agent).asked_at(parsed.event)
            for lane in session.lanes(event.name)
            for prepared in select(lane, event, parsed.payload, session)
        )

    def _known_as(self, prepared: PreparedHook, event: str, placed: PlacedEngine) -> Concerned:
        hook = prepared.hook
        key = _SEPARATOR.join(hook_name(event, hook.name, prepared.source))
        found = self._known.get(key)
        if found is None:
            stops = hook.waiting == "wait" and hook.mode == "enforce"
            guard = hook.event.guard and prepared.can_block and stops
            number = self._index.number(event, hook.name, prepared.source)
            found = self._known[key] = Concerned(key, hook, number, guard)
            self.sightings.hooks[key] = self._seen_hook(prepared, event, guard, placed)
        return found

    def _seen_hook(self, prepared: PreparedHook, event: str, guard: bool, placed: PlacedEngine) -> SeenHook:
        hook, trust = prepared.hook, placed.engine.trust
        standing = trust.status(hook) if trust is not None else None
        seen = SeenHook(
            hook.name, prepared.source, event, hook.dialect, hook.kind, hook.mode, hook.scope, guard,
            standing is None or standing.runs, "" if standing is None or standing.runs else standing.why,
        )  # fmt: skip
        seen.record = self._index.hooks.get(hook_name(event, hook.name, prepared.source), seen.record)
        return seen

    def _compare(self, moment: Moment, concerned: Sequence[Concerned]) -> None:
        """What should have run on a moment with what did."""
        missing: list[Concerned] = []
        untrusted: list[Concerned] = []
        ran, event = False, ""
        asked: Asked | None = None
        asks = self._callers.get(moment.agent, moment.agent) in self._index.callers
        for one in concerned:
            seen = self.sightings.hooks[one.key]
            if one.hook.once and not self._is_first(moment, one):
                continue
            if one.hook.dialect == moment.agent and moment.agent != OWN_FORMAT:
                seen.own_expected += moment.certain
                seen.by(moment.agent).own_expected += moment.certain
                continue
            if one.hook.dialect != OWN_FORMAT and not asks:
                continue  # only Hookline takes the hooks of one agent to another
            if one.hook.event.name != event:
                event = one.hook.event.name
                asked = self._index.asked(moment, event) if "tool_use_id" in moment.fields else None
            state = self._state(moment, one, asked)
            seen.expected += moment.certain or state == "ran"
            seen.seen += state == "ran"
            by_agent = seen.by(moment.agent)
            by_agent.expected += moment.certain or state == "ran"
            by_agent.seen += state == "ran"
            ran |= state == "ran"
            if moment.certain and state != "ran":
                (untrusted if state == "untrusted" else missing).append(one)
        if ran or (untrusted and not missing):
            self._mark(moment)
        for holes, not_trusted in ((missing, False), (untrusted, True)):
            if holes:
                self._hole(moment, holes, asked=ran or bool(untrusted), untrusted=not_trusted)

    def _is_first(self, moment: Moment, one: Concerned) -> bool:
        known = (moment.session, one.key)
        first = known not in self._once
        self._once.add(known)
        return first

    def _state(self, moment: Moment, one: Concerned, asked: Asked | None) -> str:
        if one.number < 0:
            return "missing"
        if asked is not None:
            if one.number in asked.ran:
                return "ran"
            if one.number in asked.untrusted:
                return "untrusted"
        return "ran" if self._index.take(moment, one.hook.event.name, one.number) else "missing"

    def _session(self, moment: Moment) -> SeenSession:
        key = f"{moment.agent}:{moment.session}"
        found = self.sightings.sessions.get(key)
        if found is None:
            found = self.sightings.sessions[key] = SeenSession(moment.agent, moment.began_in, moment.headless)
        return found

    def _mark(self, moment: Moment) -> None:
        session = self._session(moment)
        if moment.subagent:
            session.subagents += 1
        else:
            session.main += 1
        session.directories.add(moment.cwd)
        session.events.add(moment.event)
        if moment.tool:
            session.tools.add(moment.tool)

    def _hole(self, moment: Moment, missing: Sequence[Concerned], *, asked: bool, untrusted: bool) -> None:
        hooks = tuple([one.key for one in missing])
        of_call = (moment.agent, moment.session, moment.subagent, moment.event, moment.tool, moment.cwd)
        key = (*of_call, hooks, asked, untrusted)
        hole = self._holes.get(key)
        if hole is None:
            self._session(moment)
            hole = self._holes[key] = Hole(
                moment.agent, moment.session, missing[0].hook.event.name, moment.tool, moment.cwd, moment.began_in,
                moment.subagent, moment.headless, moment.at, moment.at, 0, example_text(moment), hooks,
                any(one.guard for one in missing), asked, untrusted,
            )  # fmt: skip
        hole.count += 1
        hole.last = max(hole.last, moment.at)

    def _add_unconcerned(self) -> None:
        """Guards that are configured, and that no moment concerned."""
        for placed in self._engines.made:
            for event, lanes in placed.engine.store.lanes.items():
                for prepared in (each for lane in lanes for each in lane.hooks if each.hook.event.guard):
                    self._known_as(prepared, event, placed)

    def finished(self) -> Sightings:
        sightings = self.sightings
        self._add_unconcerned()
        for key, hole in self._holes.items():
            sightings.holes[_SEPARATOR.join(map(str, key))] = hole
        for one in self._known.values():
            command: str = getattr(one.hook.spec, "command", "")
            noted = self._notes.get((one.hook.dialect, one.hook.policy.event_name, command), 0)
            sightings.hooks[one.key].own_seen = noted
        sightings.journal_first, sightings.callers = self._index.first, self._index.callers
        sightings.damage = self._index.damage
        return sightings
