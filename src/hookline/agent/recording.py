"""Every event that was fired, in order, with what hooks said and each hook's run."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from msgspec import Struct

from hookline.agent.hooksport import SessionHooks
from hookline.background.inbox import Inbox
from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Outcome
from hookline.model.run import Run
from hookline.model.scene import Scene

P = TypeVar("P")


class Fired(Struct, kw_only=True):
    """One event. Runs of hooks nobody waited for are added when they end."""

    event: str
    payload: Any
    agent: str | None = None
    outcome: Outcome = GO_ON
    runs: list[Run] = []

    @property
    def spelled(self) -> str:
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
