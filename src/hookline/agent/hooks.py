"""How the agent sees hooks: a small protocol, so that it also runs without an engine."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.ports import UserPort
from hookline.engine.background import Inbox
from hookline.engine.session import Session
from hookline.engine.tool_call import Hooks
from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Outcome
from hookline.model.run import Run
from hookline.model.scene import Scene

P = TypeVar("P")


class SessionHooks(Hooks, Protocol):
    """What the owner of a conversation needs as well: the scene that hooks see, and the inbox for late results."""

    @property
    def scene(self) -> Scene: ...

    @property
    def inbox(self) -> Inbox: ...

    def update(self, **changes: Any) -> None:
        """Change the scene: cwd, permission_mode, model, turn, ..."""
        ...

    def clear(self) -> None:
        """Forget session hooks and once marks: the session ended."""
        ...

    def renew(self) -> None:
        """Clear, then add again what every session begins with: another session takes this one's place."""
        ...

    def child(self, **scene: Any) -> "SessionHooks":
        """For a subagent: the same hooks with counters of their own."""
        ...


def _add_nothing(session: Session) -> None:
    del session


class EngineHooks:
    """The hooks of an engine's session. `furnish` adds the hooks that every session begins with."""

    def __init__(self, session: Session, furnish: Callable[[Session], None] = _add_nothing) -> None:
        self.session = session
        self._furnish = furnish
        furnish(session)

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        return await self.session.dispatch(event, payload)

    def has(self, event: EventSpec[Any]) -> bool:
        return self.session.has(event)

    @property
    def scene(self) -> Scene:
        return self.session.scene

    @property
    def inbox(self) -> Inbox:
        return self.session.inbox

    def update(self, **changes: Any) -> None:
        self.session.update(**changes)

    def clear(self) -> None:
        self.session.clear()

    def renew(self) -> None:
        self.session.clear()
        self._furnish(self.session)

    def child(self, **scene: Any) -> "EngineHooks":
        return EngineHooks(self.session.engine.session(self.session.id, self.session, **scene))


class NoHooks:
    """For an agent without an engine: every event passes."""

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene if scene is not None else Scene()
        self.inbox = Inbox()

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        del event, payload
        return GO_ON

    def has(self, event: EventSpec[Any]) -> bool:
        del event
        return False

    def update(self, **changes: Any) -> None:
        self.scene = replace(self.scene, **changes)

    def clear(self) -> None: ...

    def renew(self) -> None: ...

    def child(self, **scene: Any) -> "NoHooks":
        return NoHooks(replace(self.scene, **scene))


class Fired(Struct, kw_only=True):
    """One event that was fired. Runs of background hooks are added when they end."""

    event: str
    payload: Any
    agent: str | None = None
    outcome: Outcome = GO_ON
    runs: list[Run] = []

    @property
    def event_name(self) -> str:
        """The event's name in the dialect of the first hook that ran."""
        return next((run.spelled for run in self.runs if run.spelled), self.event)


class EventLog:
    """Every event a session fired, subagents included, in order."""

    def __init__(self, tell: Callable[[Fired], None] | None = None, *, keep: bool = True) -> None:
        #: Empty unless `keep`: a session may fire events for days.
        self.fired: list[Fired] = []
        self._tell = tell
        self._keep = keep
        # A dispatch and everything it starts share a context, which ties a run to its event.
        self._current: ContextVar[Fired | None] = ContextVar("fired", default=None)

    def ran(self, run: Run) -> None:
        """Subscribe this to the journal."""
        fired = self._current.get()
        if fired is not None:
            fired.runs.append(run)

    async def dispatch(self, hooks: SessionHooks, event: EventSpec[P], payload: P) -> Outcome:
        fired = Fired(event=event.name, payload=payload, agent=hooks.scene.agent_type)
        if self._keep:
            self.fired.append(fired)
        token = self._current.set(fired)
        try:
            fired.outcome = await hooks.dispatch(event, payload)
        finally:
            self._current.reset(token)
        if self._tell is not None:
            self._tell(fired)
        return fired.outcome


class AgentHooks:
    """The hooks of one agent. Every dispatch is logged, and messages for the user are shown."""

    def __init__(self, hooks: SessionHooks, user: UserPort, log: EventLog | None = None) -> None:
        self.session_hooks = hooks
        self._user = user
        self._log = log

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        if self._log is None:
            outcome = await self.session_hooks.dispatch(event, payload)
        else:
            outcome = await self._log.dispatch(self.session_hooks, event, payload)
        for message in outcome.messages:
            self._user.show("notice", message.text)
        return outcome

    def has(self, event: EventSpec[Any]) -> bool:
        return self.session_hooks.has(event)

    @property
    def scene(self) -> Scene:
        return self.session_hooks.scene

    @property
    def inbox(self) -> Inbox:
        return self.session_hooks.inbox

    def update(self, **changes: Any) -> None:
        self.session_hooks.update(**changes)

    def clear(self) -> None:
        self.session_hooks.clear()

    def renew(self) -> None:
        self.session_hooks.renew()

    def child(self, **scene: Any) -> "AgentHooks":
        return AgentHooks(self.session_hooks.child(**scene), self._user, self._log)
