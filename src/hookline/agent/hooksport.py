"""The agent's view of hooks: small enough that it runs without an engine."""

from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from hookline.background.inbox import Inbox
from hookline.engine.sessions import Session
from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Outcome
from hookline.model.scene import Scene

P = TypeVar("P")


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

    def child(self, **scene: Any) -> "SessionHooks":
        """For a sub-agent: the same hooks, counters of its own."""
        ...

    @property
    def working(self) -> int:
        """How many hooks run in the background right now."""
        ...


class EngineHooks:
    """The hooks of a session of an engine."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        return await self._session.dispatch(event, payload)

    def has(self, event: EventSpec[Any]) -> bool:
        return self._session.has(event)

    @property
    def scene(self) -> Scene:
        return self._session.scene

    @property
    def inbox(self) -> Inbox:
        return self._session.inbox

    def update(self, **changes: Any) -> None:
        self._session.update(**changes)

    def clear(self) -> None:
        self._session.clear()

    def child(self, **scene: Any) -> "EngineHooks":
        return EngineHooks(self._session.engine.session(self._session.id, self._session, **scene))

    @property
    def working(self) -> int:
        return len(self._session.engine.background)


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

    def child(self, **scene: Any) -> "NoHooks":
        return NoHooks(replace(self.scene, **scene))
