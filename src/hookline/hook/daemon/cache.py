"""Cache what calls in the daemon share: what they read, and their sessions."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from hookline.dialects.registry import dialect_named
from hookline.engine.background import Inbox
from hookline.engine.memory import BlockCounts, share_memory
from hookline.engine.session import Session
from hookline.hook.call.resources import CallResources
from hookline.hook.daemon.journal import JournalFiles
from hookline.hook.daemon.path_cache import PathCache

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.hook.daemon.protocol import RelayReply
    from hookline.journal.observer import Observer

#: Variables that differ from call to call and mean nothing to Hookline: those of shells, and of traces. Where a hook's
#: command names one, its snapshot has the value.
_PASSING: Final = frozenset(("_", "SHLVL", "OLDPWD", "PWD", "TRACEPARENT", "TRACESTATE"))
_MOST_CALLERS, _MOST_READ, _MOST_SESSIONS = 16, 256, 1000


class DaemonCache:
    """Everything that outlives a call."""

    def __init__(self, observer: "Observer | None" = None, home: str | None = None) -> None:
        """Make the cache; `home` is the `--home` of the daemon."""
        self.observer = observer
        self.home = home
        self.journals = JournalFiles()
        #: The answers of relays if the daemon ends, by agent and event.
        self.if_lost: dict[tuple[str, str], RelayReply] = {}
        self._dialects: dict[str, Dialect] = {}
        #: By agent and environment.
        self._resources: OrderedDict[tuple[str, frozenset[tuple[str, str]]], CallResources] = OrderedDict()
        #: By agent, session and subagent.
        self._sessions: OrderedDict[tuple[str, str, str], SessionState] = OrderedDict()

    def dialect(self, name: str) -> "Dialect | None":
        """Return an agent's dialect, for its facts."""
        found = self._dialects.get(name) or dialect_named(name)
        if found is not None:
            self._dialects[name] = found
        return found

    def resources(self, dialect: str, env: Mapping[str, str]) -> CallResources:
        """Return the resources that calls of an agent with this environment share."""
        known = self.dialect(dialect)
        varying = known.payload_variables if known is not None else ()
        stable = {
            name: value
            for name, value in env.items()
            if name not in _PASSING and not (varying and name.startswith(varying))
        }
        key = dialect, frozenset(stable.items())
        found = self._resources.get(key)
        if found is None:
            found = self._resources[key] = CallResources(stable, PathCache(_MOST_READ), self)
            _forget(self._resources, _MOST_CALLERS)
        else:
            self._resources.move_to_end(key)
        return found

    def join(self, dialect: str, session: Session) -> None:
        """Give a session the state that earlier calls left. A subagent has its own."""
        key = dialect, session.info.session_id, session.info.agent_id or ""
        state = self._sessions.setdefault(key, SessionState())
        self._sessions.move_to_end(key)
        _forget(self._sessions, _MOST_SESSIONS)
        session.inbox = state.inbox
        share_memory(session, state.counts, state.once_marks)

    def end_session(self, dialect: str, session: str) -> None:
        for key in [key for key in self._sessions if key[:2] == (dialect, session)]:
            del self._sessions[key]

    @property
    def sessions(self) -> int:
        return len(self._sessions)


class SessionState:
    """The state of a session beyond one call."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self.counts = BlockCounts()
        self.once_marks: set[object] = set()


def _forget(kept: "OrderedDict[Any, Any]", most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
