"""Build the engines for replays: one for each directory in which a session began, with the hooks active there."""

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
from hookline.dialects.recorded_event import RecordedEvent
from hookline.engine.judge import PASSED
from hookline.engine.lanes import Lane
from hookline.engine.memory import memory_of
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.session import Session
from hookline.history.answer_cache import AnswerCache
from hookline.history.handlers import replay_handlers
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.matching.tool_rules import ToolCondition
from hookline.model.events import Capability, EventSpec
from hookline.model.hook import Hook
from hookline.model.run import NO_CALL, Called, Run
from hookline.model.wire import Parsed
from hookline.shell import ShellReader
from hookline.trust.project import project_root
from hookline.trust.trust import Trust, TrustOptions

_MOST_ENGINES = 64
#: Lines that one engine remembers having read: sessions repeat themselves.
_LINES = 512
#: The guard that checks which files exist.
_PROTECTS = "self-protection"
_UNDECLARED = 'it does not say side_effects = "none"'


class Configuration(Struct, frozen=True, kw_only=True):
    """Choice of the hooks to replay."""

    #: Exactly these files, which count as trusted; None: what is active in the directory of each session.
    files: tuple[str, ...] | None = None
    dialect: str | None = None
    #: Rules that are tried besides, by name.
    rules: tuple[tuple[str, str], ...] = ()
    #: Names of hooks that have no side effects, whatever their entries say.
    declared: tuple[str, ...] = ()
    #: The user trusts the hooks of projects.
    trust: bool = False
    #: Cache answers of scripts for the next time.
    keep: bool = True


class CollectedRun(NamedTuple):
    """One run. Most hooks decide nothing; of those only the names are kept."""

    hook: str
    source: str
    record: Run | None


class RunCollector(Journal):
    """A journal that keeps only the runs of the last dispatch."""

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


class ProjectEngine:
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

    def parse(self, recorded: RecordedEvent) -> Parsed:
        """Parse the payload as Hookline reads it from the agent. Raises a HooklineError."""
        if "\0" in recorded.cwd:
            raise bad_payload("its directory is not a path")
        dialect = self.dialect(recorded.agent)
        return dialect.wire.parse(recorded.document(dialect.event_key))

    def session(self, recorded: RecordedEvent, parsed: Parsed) -> Session:
        """Return a session in which the agent's call is dispatched as it was then."""
        dialect = self.dialect(recorded.agent)
        policy = dialect.events[recorded.event].policy
        session = self.engine.session(recorded.session)
        session.tools = dialect.own_tools
        session.info = replace(
            parsed.info,
            cwd=recorded.cwd,
            project_dir=parsed.info.project_dir or self.root,
            attended=bool(policy.may & Capability.PERMIT),
        )
        return session

    def asked_at(self, recorded: RecordedEvent) -> "AskedAt":
        """Return the events with configured hooks, of those that this recorded event triggers."""
        known = self._asked_at.get((recorded.agent, recorded.event))
        if known is None:
            known = self._asked_at[recorded.agent, recorded.event] = self._find_asked_at(recorded)
        return known

    def _find_asked_at(self, recorded: RecordedEvent) -> "AskedAt":
        dialect = self.dialect(recorded.agent)
        rows = dialect.recorded_events(recorded.event) if recorded.event in dialect.events else ()
        every = [each for row in rows for each in dialect.asked_at(row.event)]
        events = tuple([event for event in every if event.name in memory_of(self.engine).store.lanes])
        lanes = [lane for event in events for lane in memory_of(self.engine).store.lanes[event.name]]
        hooks = [prepared.hook for lane in lanes for prepared in lane.hooks]
        by_place = any(map(_names_place, hooks))
        by_calls = all(each.condition is None or isinstance(each.condition, ToolCondition) for each in hooks)
        return AskedAt(events, _is_memorable(lanes), by_place, by_calls)


class AskedAt(NamedTuple):
    """Events with hooks that one recorded event triggers, and how their answers may be cached."""

    events: tuple[EventSpec[Any], ...]
    #: The answer depends on the input alone, so each input is judged once.
    memorable: bool
    #: A hook uses the absolute directory, and not only paths relative to it.
    places_matter: bool
    #: Only the call decides which hooks run, and not its result.
    by_call: bool


def _fact(hook: Hook) -> tuple[Any, ...]:
    return (hook.event.name, hook.dialect, hook.name, hook.where.file, hook.where.path, hook.mode, hook.scope)


def _is_memorable(lanes: Sequence[Lane]) -> bool:
    return not any(
        lane.policy.limit is not None or prepared.hook.once or prepared.hook.kind == "function"
        for lane in lanes
        for prepared in lane.hooks
    )


def _names_place(hook: Hook) -> bool:
    """Return True if the hook names one directory, or receives the session's directory."""
    if hook.kind not in ("builtin", "prompt", "agent", "mcp_tool") and hook.side_effects == "none":
        return True
    args: Sequence[str] = getattr(hook.spec, "args", None) or ()
    texts = [hook.condition.text if hook.condition is not None else "", *args]
    return getattr(hook.spec, "name", "") == _PROTECTS or any(
        mark in text for text in texts for mark in ("(/", "(~", "=/", "=~", "//")
    )


class Engines:
    """Engines of one configuration, made when first needed."""

    def __init__(self, configuration: Configuration, env: Mapping[str, str]) -> None:
        self._configuration = configuration
        self._env = env
        self._kept = AnswerCache(env) if configuration.keep else None
        self._placed: dict[str, ProjectEngine] = {}
        self._shell: list[ShellReader] = []

    def at(self, directory: str) -> ProjectEngine:
        """Return the engine for sessions that began in this directory."""
        found = self._placed.get(directory)
        if found is not None:
            return found
        if self._configuration.files is not None:
            directory = ""
        elif not os.path.isabs(directory) or "\0" in directory:
            directory = os.sep  # where it began is unknown: use no project's hooks
        found = self._placed.get(directory)
        if found is None:
            if len(self._placed) >= _MOST_ENGINES:
                del self._placed[next(iter(self._placed))]
            found = self._placed[directory] = self._made(directory)
        return found

    @property
    def made(self) -> Sequence[ProjectEngine]:
        """The engines that were needed and are still cached."""
        return tuple(self._placed.values())

    def _made(self, directory: str) -> ProjectEngine:
        try:
            return self._make(directory)
        except OSError:  # a directory without read permission
            return self._make(os.sep)

    def _make(self, directory: str) -> ProjectEngine:
        left_out: list[tuple[Hook, str]] = []
        identities: dict[int, bytes] = {}
        trust = Trust(directory or os.getcwd(), self._env, TrustOptions(trusts_all=True, environment=False))

        def identity(hook: Hook) -> bytes:
            known = identities.get(id(hook))
            if known is None:
                known = identities[id(hook)] = sha256(trust.item(hook).identity.encode()).digest()
            return known

        handlers = replay_handlers(self._why_not, left_out, identity, self._kept)
        engine = Engine(handlers=handlers, journal=RunCollector())
        memory_of(engine).obeys_pauses = False
        loaded = self._loaded(engine, directory)
        hooks = [hook for hook in loaded.hooks if not calls_hookline_hook(hook, self._shell)]
        rules = {name: parse_rule(text) for name, text in self._configuration.rules}
        if rules:
            hooks += rule_hooks(engine.loader, rules).hooks
        if handlers.protection.reader is not None:
            handlers.protection.reader().remembered = _LINES
        declared = self._configuration.declared
        engine.swap([replace(hook, side_effects="none") if hook.name in declared else hook for hook in hooks])
        return ProjectEngine(engine, loaded, project_root(directory) if directory else "", left_out)

    def _loaded(self, engine: Engine, directory: str) -> Loaded:
        wanted = self._configuration
        if wanted.files is not None:
            return engine.loader.files(wanted.files, wanted.dialect)
        trust = engine.trust_in(directory, TrustOptions(trusts_all=wanted.trust, environment=False))
        names = None if wanted.dialect is None else [wanted.dialect]
        return engine.loader.directory(directory, names, trust=trust)

    def _why_not(self, hook: Hook) -> str:
        return "" if hook.side_effects == "none" else _UNDECLARED

    async def close(self) -> None:
        for placed in self._placed.values():
            await placed.engine.close()
        if self._kept is not None:
            self._kept.close()
