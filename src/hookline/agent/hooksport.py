"""The agent's view of hooks: small enough that it runs without an engine."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from hookline.background.inbox import Inbox
from hookline.engine.sessions import Session
from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Outcome
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
