"""The engine: what all sessions share. It owns everything that outlives one dispatch."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from hookline.background.detached import Background
from hookline.engine.admission import Admit, admit_all
from hookline.engine.journal import Journal
from hookline.engine.sessions import Session
from hookline.engine.status import Running
from hookline.engine.store import Store
from hookline.handlers.registry import Handler, close_all
from hookline.model.errors import EngineClosedError
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Condition, Hook, Matcher
from hookline.model.policy import Policy
from hookline.model.scene import Scene
from hookline.model.wire import Wire

if TYPE_CHECKING:
    from hookline.engine.making import Action

P = TypeVar("P")
F = TypeVar("F", bound=Callable[..., Any])


class Home(Protocol):
    """The dialect of hooks made in Python."""

    @property
    def wire(self) -> Wire: ...

    def policy(self, event: EventSpec[Any]) -> Policy: ...

    def match(
        self, event: EventSpec[Any], matcher: str | None, condition: str | None
    ) -> tuple[Matcher | None, Condition | None]: ...


class Engine:
    """Hooks, handlers, journal and background work. Everything it needs comes through the constructor."""

    def __init__(
        self,
        hooks: Sequence[Hook] = (),
        *,
        handlers: Mapping[str, Handler],
        home: Home,
        journal: Journal,
        events: Mapping[str, EventSpec[Any]] = EVENTS,
        admit: Admit = admit_all,
        background: Background | None = None,
        drain_seconds: float = 5.0,
    ) -> None:
        self.handlers = handlers
        self.home = home
        self.journal = journal
        self.events = events
        self.admit = admit
        self.background = background if background is not None else Background()
        self.status = Running()
        self.store = Store(self.handlers, self.events)
        self.closed = False
        self._drain_seconds = drain_seconds
        self._ids = itertools.count(1)
        self.store.swap(hooks)

    def session(self, session_id: str = "", parent: Session | None = None, **scene: Any) -> Session:
        """One agent conversation. A sub-agent gets its own, with its parent's."""
        if self.closed:
            raise EngineClosedError
        if parent is not None:
            scene = {
                "cwd": parent.scene.cwd,
                "project_dir": parent.scene.project_dir,
                "permission_mode": parent.scene.permission_mode,
                "attended": parent.scene.attended,
                "parent_agent_id": parent.scene.agent_id,
                "depth": parent.scene.depth + 1,
            } | scene
        return Session(self, Scene(session_id=session_id, **scene), parent)

    def swap(self, hooks: Sequence[Hook]) -> None:
        """Put another configuration in force, or raise ConfigError and leave the old one as it is."""
        self.store.swap(hooks)

    def make_hook(
        self, event: EventSpec[P], action: "Action[P]", matcher: str | None = None, **options: Any
    ) -> Hook:
        """A hook that is not in force yet; see `add` for what it takes."""
        from hookline.engine.making import make_hook  # noqa: PLC0415 only for hosts that make hooks in code

        return make_hook(self.home, event, action, matcher, **options)

    def add(
        self, event: EventSpec[P], action: "Action[P]", matcher: str | None = None, **options: Any
    ) -> Hook:
        """Add a hook for all sessions: a function, or a shell command. It stays when the config is swapped."""
        hook = self.make_hook(event, action, matcher, **options)
        self.store.add(hook)
        return hook

    def remove(self, hook: Hook) -> bool:
        """Take back a hook that was added in code; False when there is none."""
        return self.store.remove(hook)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """Every hook in force for all sessions, in order."""
        return self.store.hooks

    def on(self, event: EventSpec[P], matcher: str | None = None, **options: Any) -> Callable[[F], F]:
        """Decorate a function to make it a hook of this event."""

        def register(function: F) -> F:
            self.add(event, function, matcher, **options)
            return function

        return register

    def has(self, event: EventSpec[Any]) -> bool:
        return event.name in self.store.lanes

    def next_run_id(self) -> str:
        return str(next(self._ids))

    async def drain(self, limit: float | None = None) -> bool:
        """Wait for hooks that run in the background; False when the limit came first."""
        return await self.background.drain(limit)

    async def close(self, limit: float | None = None) -> None:
        """End everything: drain background hooks within the limit, kill what is left, close the handlers."""
        if self.closed:
            return
        await self.background.close(self._drain_seconds if limit is None else limit)
        self.closed = True
        await close_all(self.handlers)
        self.journal.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
