"""The hooks that were in force, or would have been: an engine for each directory in which a session began."""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine
from hookline.config.install.self_calls import calls_hookline_hook
from hookline.config.load import Loaded
from hookline.config.rules import parse_rule, rule_hooks
from hookline.dialects.dialect import Dialect
from hookline.dialects.family.wire import bad_payload
from hookline.engine.judge import PASSED
from hookline.engine.lanes import Lane, PreparedHook
from hookline.engine.session import Session
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.matching.shell import ShellReader
from hookline.matching.tool_rules import ToolCondition
from hookline.model.events import EventSpec, May
from hookline.model.hook import Hook
from hookline.model.run import NO_CALL, Called, Run
from hookline.model.wire import Parsed
from hookline.replay.answers import KeptAnswers
from hookline.replay.handlers import replay_handlers
from hookline.transcripts.moment import Moment
from hookline.trust.project import project_root
from hookline.trust.trust import Options, Trust

_MOST_ENGINES = 64
#: Lines that one engine remembers having read: sessions repeat themselves.
_LINES = 512
#: The guard that looks at which files there are.
_PROTECTS = "self-protection"
_UNDECLARED = 'it does not say side_effects = "none"'


class Configuration(Struct, frozen=True, kw_only=True):
    """Which hooks look back."""

    #: Exactly these files, which count as trusted; None: what is in force in the directory of each session.
    files: tuple[str, ...] | None = None
    dialect: str | None = None
    #: Rules that are tried besides, by name.
    rules: tuple[tuple[str, str], ...] = ()
    #: Names of hooks that have no side effects, whatever their entries say.
    declared: tuple[str, ...] = ()
    #: The user vouches for what projects bring.
    trust: bool = False
    #: Whether answers of scripts are kept for the next time.
    keep: bool = True


class CollectedRun(NamedTuple):
    """One run; most are of hooks that had nothing to say, and then there is no more than their names."""

    hook: str
    source: str
    record: Run | None


class RunCollector(Journal):
    """A journal that only remembers the runs of the last dispatch."""

    def __init__(self) -> None:
        super().__init__(Redactor({}), memory=1)
        self.collected: list[CollectedRun] = []
        self._passed: dict[PreparedHook, CollectedRun] = {}

    def record(self, run: Run) -> None:
        self.collected.append(CollectedRun(run.hook, run.source, run))

    def record_later(self, status: Any, make: Any, noted: Any) -> None:
        del status
        prepared: PreparedHook = noted[0]
        if noted[1] is not PASSED:
            self.record(make(noted))
            return
        passed = self._passed.get(prepared)
        if passed is None:
            passed = self._passed[prepared] = CollectedRun(prepared.hook.name, prepared.source, None)
        self.collected.append(passed)

    def called(self, payload: Any, project: str) -> Called:
        del payload, project
        return NO_CALL


class PlacedEngine:
    """The engine of one directory."""

    def __init__(self, engine: Engine, loaded: Loaded, root: str, left_out: list[tuple[Hook, str]]) -> None:
        self.engine = engine
        self.loaded = loaded
        self.root = root
        self.journal: RunCollector = engine.journal  # pyright: ignore[reportAttributeAccessIssue] it was made with it
        self.left_out = left_out
        #: Equal ones have the same hooks, so that they give the same answers.
        self.fingerprint = hash(tuple(map(_fact, engine.hooks)))
        self._asked_at: dict[tuple[str, str], AskedAt] = {}

    def dialect(self, name: str) -> Dialect:
        return self.engine.loader.dialect(name)

    def parse(self, moment: Moment) -> Parsed:
        """The payload as Hookline reads it from the agent. Raises a HooklineError."""
        if "\0" in moment.cwd:
            raise bad_payload("its directory is no path")
        dialect = self.dialect(moment.agent)
        return dialect.wire.parse(moment.document(dialect.event_key))

    def session(self, moment: Moment, parsed: Parsed) -> Session:
        """A session in which the agent's call is dispatched as it was then."""
        dialect = self.dialect(moment.agent)
        policy = dialect.events[moment.event].policy
        session = self.engine.session(moment.session)
        session.tools = dialect.own_tools
        session.scene = replace(
            parsed.scene,
            cwd=moment.cwd,
            project_dir=parsed.scene.project_dir or self.root,
            attended=bool(policy.may & May.PERMIT),
        )
        return session

    def asked_at(self, moment: Moment) -> "AskedAt":
        """The events at which hooks are configured, of those at which this moment asks."""
        known = self._asked_at.get((moment.agent, moment.event))
        if known is None:
            known = self._asked_at[moment.agent, moment.event] = self._find_asked_at(moment)
        return known

    def _find_asked_at(self, moment: Moment) -> "AskedAt":
        dialect = self.dialect(moment.agent)
        rows = dialect.moments(moment.event) if moment.event in dialect.events else ()
        every = [each for row in rows for each in dialect.asked_at(row.event)]
        events = tuple([event for event in every if event.name in self.engine.store.lanes])
        lanes = [lane for event in events for lane in self.engine.store.lanes[event.name]]
        return AskedAt(events, _is_memorable(lanes), _looks_at_place(lanes), _looks_at_calls(lanes))


class AskedAt(NamedTuple):
    """The events of one moment at which hooks are asked, and how they answer."""

    events: tuple[EventSpec[Any], ...]
    #: The answer to a question is the same whenever it is asked: then it is asked once.
    memorable: bool
    #: A hook looks at the directory itself, and not only at what is named in relation to it.
    places_matter: bool
    #: Only the call decides which hooks are asked, and not what came of it.
    by_call: bool


def _fact(hook: Hook) -> tuple[Any, ...]:
    return (hook.event.name, hook.dialect, hook.name, hook.where.file, hook.where.path, hook.mode, hook.scope)


def _is_memorable(lanes: Sequence[Lane]) -> bool:
    return not any(
        lane.policy.limit is not None or prepared.hook.once or prepared.hook.kind == "function"
        for lane in lanes
        for prepared in lane.hooks
    )


def _looks_at_place(lanes: Sequence[Lane]) -> bool:
    return any(_names_place(prepared.hook) for lane in lanes for prepared in lane.hooks)


def _looks_at_calls(lanes: Sequence[Lane]) -> bool:
    conditions = [prepared.hook.condition for lane in lanes for prepared in lane.hooks]
    return all(each is None or isinstance(each, ToolCondition) for each in conditions)


def _names_place(hook: Hook) -> bool:
    """Whether it is about one directory by its name, or is told where the session is."""
    if hook.kind not in ("builtin", "prompt", "agent", "mcp_tool") and hook.side_effects == "none":
        return True
    args: Sequence[str] = getattr(hook.spec, "args", None) or ()
    texts = [hook.condition.text if hook.condition is not None else "", *args]
    return getattr(hook.spec, "name", "") == _PROTECTS or any(
        mark in text for text in texts for mark in ("(/", "(~", "=/", "=~", "//")
    )


class Engines:
    """The engines of one configuration, made when they are first needed."""

    def __init__(self, configuration: Configuration, env: Mapping[str, str]) -> None:
        self._configuration = configuration
        self._env = env
        self._kept = KeptAnswers(env) if configuration.keep else None
        self._placed: dict[str, PlacedEngine] = {}
        self._shell: list[ShellReader] = []

    def at(self, directory: str) -> PlacedEngine:
        """The engine for sessions that began there."""
        found = self._placed.get(directory)
        if found is not None:
            return found
        if self._configuration.files is not None:
            directory = ""
        elif not os.path.isabs(directory) or "\0" in directory:
            directory = os.sep  # where it began is not known: hooks of no project count
        found = self._placed.get(directory)
        if found is None:
            if len(self._placed) >= _MOST_ENGINES:
                del self._placed[next(iter(self._placed))]
            found = self._placed[directory] = self._made(directory)
        return found

    @property
    def made(self) -> Sequence[PlacedEngine]:
        """Those that were needed, as far as they are still there."""
        return tuple(self._placed.values())

    def _made(self, directory: str) -> PlacedEngine:
        try:
            return self._make(directory)
        except OSError:  # a directory that nobody may look into
            return self._make(os.sep)

    def _make(self, directory: str) -> PlacedEngine:
        left_out: list[tuple[Hook, str]] = []
        identities: dict[int, bytes] = {}
        trust = Trust(directory or os.getcwd(), self._env, Options(trusts_all=True, environment=False))

        def identity(hook: Hook) -> bytes:
            known = identities.get(id(hook))
            if known is None:
                known = identities[id(hook)] = sha256(trust.item(hook).identity.encode()).digest()
            return known

        handlers = replay_handlers(self._why_not, left_out, identity, self._kept)
        engine = Engine(handlers=handlers, journal=RunCollector())
        loaded = self._loaded(engine, directory)
        hooks = [hook for hook in loaded.hooks if not calls_hookline_hook(hook, self._shell)]
        rules = {name: parse_rule(text) for name, text in self._configuration.rules}
        if rules:
            hooks += rule_hooks(engine.loader, rules).hooks
        if handlers.protection.reader is not None:
            handlers.protection.reader().remembered = _LINES
        engine.swap([self._as_declared(hook) for hook in hooks])
        return PlacedEngine(engine, loaded, project_root(directory) if directory else "", left_out)

    def _loaded(self, engine: Engine, directory: str) -> Loaded:
        wanted = self._configuration
        if wanted.files is not None:
            return engine.loader.files(wanted.files, wanted.dialect)
        trust = engine.trust_in(directory, Options(trusts_all=wanted.trust, environment=False))
        names = None if wanted.dialect is None else [wanted.dialect]
        return engine.loader.directory(directory, names, trust=trust)

    def _as_declared(self, hook: Hook) -> Hook:
        return replace(hook, side_effects="none") if hook.name in self._configuration.declared else hook

    def _why_not(self, hook: Hook) -> str:
        return "" if hook.side_effects == "none" else _UNDECLARED

    async def close(self) -> None:
        for placed in self._placed.values():
            await placed.engine.close()
        if self._kept is not None:
            self._kept.close()
