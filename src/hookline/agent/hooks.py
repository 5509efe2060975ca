"""The agent's view of hooks: small enough that it runs without an engine."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.ports import Listener, Shown
from hookline.engine.background import Inbox
from hookline.engine.session import Session
from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Outcome
from hookline.model.run import Run
from hookline.model.scene import Scene

P = TypeVar("P")


def _add_nothing(session: Session) -> None:
    del session


class Hooks(Protocol):
    """All that the turn loop, the tools and the permission questions need."""

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome: ...

    def has(self, event: EventSpec[Any]) -> bool:
        """Whether any hook is configured for the event."""
        ...


class SessionHooks(Hooks, Protocol):
    """What the owner of a conversation needs beside: the surroundings hooks see, and their late words."""

    @property
    def scene(self) -> Scene: ...

    @property
    def inbox(self) -> Inbox: ...

    def update(self, **changes: Any) -> None:
        """Change what hooks are told about the surroundings: cwd, permission_mode, model, turn ..."""
        ...

    def clear(self) -> None:
        """Forget session hooks and once marks: the session ended."""
        ...

    def renew(self) -> None:
        """The same, and another session begins in its place: what belongs to every session is there again."""
        ...

    def child(self, **scene: Any) -> "SessionHooks":
        """For a sub-agent: the same hooks, counters of its own."""
        ...

    @property
    def working(self) -> int:
        """How many hooks run in the background right now."""
        ...


class EngineHooks:
    """The hooks of a session of an engine. `furnish` adds what belongs to every session."""

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

    @property
    def working(self) -> int:
        return len(self.session.engine.background)


class NoHooks:
    """An agent without an engine: every event passes."""

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene if scene is not None else Scene()
        self.inbox = Inbox()
        self.working = 0

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        del event, payload
        return GO_ON

    def has(self, event: EventSpec[Any]) -> bool:
        del event
        return False

    def update(self, **changes: Any) -> None:
        self.scene = replace(self.scene, **changes)

    def clear(self) -> None:
        """Nothing was remembered."""

    def renew(self) -> None:
        """Nor is there anything to begin with."""

    def child(self, **scene: Any) -> "NoHooks":
        return NoHooks(replace(self.scene, **scene))


class Speaking:
    """Dispatches, and shows what hooks have to say to the user."""

    def __init__(self, hooks: Hooks, listener: Listener) -> None:
        self._hooks = hooks
        self._listener = listener

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        outcome = await self._hooks.dispatch(event, payload)
        for message in outcome.messages:
            self._listener.show(Shown(kind="notice", text=message.text))
        return outcome

    def has(self, event: EventSpec[Any]) -> bool:
        return self._hooks.has(event)


class Fired(Struct, kw_only=True):
    """One event. Runs of hooks nobody waited for are added when they end."""

    event: str
    payload: Any
    agent: str | None = None
    outcome: Outcome = GO_ON
    runs: list[Run] = []

    @property
    def event_name(self) -> str:
        """As the first hook that ran there calls it."""
        return next((run.spelled for run in self.runs if run.spelled), self.event)


class EventLog:
    """What a whole session fired, sub-agents included."""

    def __init__(self, tell: Callable[[Fired], None] | None = None, *, keep: bool = True) -> None:
        #: Stays empty where nobody will read it: a session may fire events for days.
        self.fired: list[Fired] = []
        self._tell = tell
        self._keep = keep
        # A dispatch and everything it starts share a context, so a run is known to belong to its event.
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


class Recorded:
    """Hooks whose every dispatch is logged."""

    def __init__(self, hooks: SessionHooks, log: EventLog) -> None:
        self.hooks = hooks
        self._log = log

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        return await self._log.dispatch(self.hooks, event, payload)

    def has(self, event: EventSpec[Any]) -> bool:
        return self.hooks.has(event)

    @property
    def scene(self) -> Scene:
        return self.hooks.scene

    @property
    def inbox(self) -> Inbox:
        return self.hooks.inbox

    def update(self, **changes: Any) -> None:
        self.hooks.update(**changes)

    def clear(self) -> None:
        self.hooks.clear()

    def renew(self) -> None:
        self.hooks.renew()

    def child(self, **scene: Any) -> "Recorded":
        return Recorded(self.hooks.child(**scene), self._log)

    @property
    def working(self) -> int:
        return self.hooks.working
