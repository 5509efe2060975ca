"""What the resident keeps between calls: configuration that was read, sessions, and calls that are made twice."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hookline.config.engine import Engine, keeps_payloads, payload_file
from hookline.config.load import Loader
from hookline.dialects.registry import dialect_named, home_dialect
from hookline.engine.background import Inbox
from hookline.engine.session import BlockCounts, Session
from hookline.handlers.registry import Handler, standard_handlers
from hookline.journal.file import journal_path
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.hook import Hook
from hookline.model.outcome import Permission
from hookline.model.scene import Scene
from hookline.model.wire import HookReply, Parsed
from hookline.resident.call.answer import Kept, Project, find_project
from hookline.resident.call.place import Place, find_place
from hookline.resident.call.protect import Protection, protection_in
from hookline.resident.call.twin import Asked, Given, call_key, now
from hookline.resident.journal import CallJournal, JournalFiles
from hookline.resident.probes import Remembered
from hookline.trust.sessions import SessionRecord, Sessions

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.journal.observer import Observer

#: Variables that differ from call to call and mean nothing to Hookline.
_PASSING: Final = frozenset(("_", "SHLVL", "OLDPWD", "PWD"))
_MOST_CALLERS, _MOST_PROJECTS, _MOST_PLACES, _MOST_SESSIONS, _MOST_ANSWERS = 16, 32, 64, 1000, 64

#: What is known of a session, and why it cannot be used.
Recalled = tuple[SessionRecord | None, tuple[str, ...]]


class Caller:
    """What calls with the same environment share. Another environment may mean other files, secrets and limits."""

    def __init__(self, dialect: str, env: Mapping[str, str], observer: "Observer | None" = None) -> None:
        self._dialect = dialect
        self._env = env
        self._observer = observer
        self._redactor = Redactor(env)
        self._journal_path = journal_path(env)
        #: Dialects are built once.
        self._loader = Loader(home_dialect(), standard_handlers(env=env), env)
        self._keeps_payloads = Remembered[bool](1)
        self._projects = Remembered[Project](_MOST_PROJECTS)
        self._places = Remembered[Place | None](_MOST_PLACES)
        self._protected = Remembered[Protection](_MOST_PLACES)

    def journal(self, files: JournalFiles) -> CallJournal:
        keeps = self._keeps_payloads.get((), lambda: keeps_payloads(self._env))
        payloads = payload_file(self._env, self._redactor) if keeps else None
        return files.of_call(self._redactor, self._journal_path, self._dialect, payloads)

    def engine(self, env: Mapping[str, str], handlers: Mapping[str, Handler], journal: Journal) -> Engine:
        """For one call, so that nothing of it can reach another: environment, admission, background work."""
        return Engine(
            handlers=handlers, journal=journal, env=env, loader=self._loader, observer=self._observer
        )

    def project(self, engine: Engine, cwd: str, caller: str, *, strict: bool) -> Project:
        found = self._projects.get(
            (cwd, strict), lambda: find_project(engine, cwd, caller, None, strict=strict)
        )
        if found.trust is not None:
            engine.use_trust(found.trust)
        return found

    def place(self, cwd: str, told: Mapping[str, str], began_in: str | None) -> Place | None:
        """`told` are the variables that name the project, which may be among those that vary."""
        env = {**self._env, **told}
        key = cwd, began_in, *told.items()
        return self._places.get(key, lambda: find_place(cwd, tuple(told), began_in, env))

    def protection(self, place: Place, hooks: Sequence[Hook]) -> Protection:
        key = place.cwd, place.directory, place.root, id(hooks)
        return self._protected.get(key, lambda: protection_in(place, hooks, self._env))


class SessionState:
    """What a session has beyond one call."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self.counts = BlockCounts()
        self.once_marks: set[object] = set()


class Twins:
    """Calls under way, and answers of a moment ago, by what is the same in two calls."""

    def __init__(self) -> None:
        self._calls: OrderedDict[bytes, asyncio.Future[Given | None]] = OrderedDict()

    def call(self, key: bytes, started: Callable[[], float]) -> "ResidentTwin":
        return ResidentTwin(self, key, started)

    def current(self, key: bytes) -> "asyncio.Future[Given | None] | None":
        return self._calls.get(key)

    def begin(self, key: bytes) -> "asyncio.Future[Given | None]":
        future: asyncio.Future[Given | None] = asyncio.get_running_loop().create_future()
        self._calls[key] = future
        _forget(self._calls, _MOST_ANSWERS)
        return future


class ResidentTwin:
    """One call that may be made twice at the same time, in this process."""

    def __init__(self, twins: Twins, key: bytes, started: Callable[[], float]) -> None:
        self._twins = twins
        self._key = key
        self._started = started
        self._own: asyncio.Future[Given | None] | None = None

    async def given(self) -> Given | None:
        """The answer of the other one, waited for; None: the hooks are to be asked for this one."""
        other = self._twins.current(self._key)
        if other is not None:
            found = await asyncio.shield(other)
            # An agent that asks a second time has had the first answer before it started this process.
            if found is not None and self._started() <= found.at <= now():
                return found
        self._own = self._twins.begin(self._key)
        return None

    def share(self, reply: HookReply, permission: Permission | None) -> None:
        if self._own is not None and not self._own.done():
            self._own.set_result(Given(reply, permission, now()))

    def close(self) -> None:
        """Let the other one go on."""
        if self._own is not None and not self._own.done():
            self._own.set_result(None)


class Keep:
    """Everything that is kept, for all callers."""

    def __init__(self, observer: "Observer | None" = None, home: str | None = None) -> None:
        """`home` is the `--home` of the resident."""
        self._observer = observer
        self.home = home
        self._callers: OrderedDict[tuple[str, frozenset[tuple[str, str]]], Caller] = OrderedDict()
        self._sessions: OrderedDict[tuple[str, str, str], SessionState] = OrderedDict()
        self.records = Remembered[Recalled](_MOST_PLACES)
        self.twins = Twins()
        self.journals = JournalFiles()
        self._dialects: dict[str, Dialect] = {}

    def dialect(self, name: str) -> "Dialect | None":
        """An agent's, for its facts."""
        found = self._dialects.get(name) or dialect_named(name)
        if found is not None:
            self._dialects[name] = found
        return found

    def caller(self, dialect: str, env: Mapping[str, str], varying: Sequence[str] = ()) -> Caller:
        """`varying` are the beginnings of names whose values are part of the payload."""
        stable = {
            name: value
            for name, value in env.items()
            if name not in _PASSING and not (varying and name.startswith(tuple(varying)))
        }
        key = dialect, frozenset(stable.items())
        found = self._callers.get(key)
        if found is None:
            found = self._callers[key] = Caller(dialect, stable, self._observer)
            _forget(self._callers, _MOST_CALLERS)
        else:
            self._callers.move_to_end(key)
        return found

    def session(self, dialect: str, scene: Scene) -> SessionState:
        """That of a sub-agent is its own."""
        key = dialect, scene.session_id, scene.agent_id or ""
        state = self._sessions.setdefault(key, SessionState())
        self._sessions.move_to_end(key)
        _forget(self._sessions, _MOST_SESSIONS)
        return state

    def end_session(self, dialect: str, session: str) -> None:
        for key in [key for key in self._sessions if key[:2] == (dialect, session)]:
            del self._sessions[key]

    @property
    def sessions(self) -> int:
        return len(self._sessions)


class KeptSessions(Sessions):
    """The records of sessions, each read again only if its file has changed."""

    def __init__(self, home: str, known: "Remembered[Recalled]") -> None:
        super().__init__(home)
        self._home = home
        self._known = known

    def recall(self, new: SessionRecord) -> SessionRecord | None:
        def read() -> Recalled:
            sessions = Sessions(self._home)
            return sessions.recall(new), tuple(sessions.problems)

        found, problems = self._known.get((self._home, new.dialect, new.session, new.files), read)
        self.problems += problems
        return found


class KeptForCall(Kept):
    """What one call gets of it."""

    def __init__(self, keep: Keep, caller: Caller, dialect: str, started: Callable[[], float]) -> None:
        self._keep = keep
        self._caller = caller
        self._dialect = dialect
        self._started = started

    def project(
        self, engine: Engine, cwd: str, caller: str, files: Sequence[str] | None, *, strict: bool
    ) -> Project:
        if files is not None:
            return super().project(engine, cwd, caller, files, strict=strict)
        return self._caller.project(engine, cwd, caller, strict=strict)

    def place(
        self, cwd: str, variables: Sequence[str], began_in: str | None, env: Mapping[str, str]
    ) -> Place | None:
        return self._caller.place(cwd, {name: env.get(name, "") for name in variables}, began_in)

    def protection(self, place: Place, hooks: Sequence[Hook], env: Mapping[str, str]) -> Protection:
        del env
        return self._caller.protection(place, hooks)

    def recalled(self, home: str) -> Sessions:
        return KeptSessions(home, self._keep.records)

    def twin(self, dialect: "Dialect", parsed: Parsed, asked: Asked) -> ResidentTwin | None:
        key = call_key(dialect, parsed, asked)
        return None if key is None else self._keep.twins.call(key, self._started)

    def join(self, session: Session) -> None:
        state = self._keep.session(self._dialect, session.scene)
        session.inbox, session.counts, session.once_marks = state.inbox, state.counts, state.once_marks


def _forget(kept: "OrderedDict[Any, Any]", most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
