"""The engine: what all sessions share. It owns everything that outlives one dispatch."""

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, perf_counter
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from msgspec import Struct

from hookline.engine.background import Background
from hookline.engine.lanes import HookStore
from hookline.engine.run_hook import Admit, admit_all
from hookline.engine.session import Session
from hookline.handlers.registry import Handler, close_all
from hookline.journal.journal import Journal, Subscribers
from hookline.model.errors import EngineClosedError
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Condition, Hook, Matcher
from hookline.model.policy import Policy
from hookline.model.run import Mode
from hookline.model.safe_text import one_line
from hookline.model.scene import Scene
from hookline.model.wire import Call, Wire

if TYPE_CHECKING:
    from hookline.engine.host_call import Approve
    from hookline.engine.make_hook import Action
    from hookline.tools.declare import Tool
    from hookline.tools.table import ToolTable

P = TypeVar("P")
F = TypeVar("F", bound=Callable[..., Any])

_STATUS_COLUMNS = 200
NO_TOOLS: "Mapping[str, Tool]" = MappingProxyType({})


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
        tools: "Mapping[str, Tool]" = NO_TOOLS,
        approve: "Approve | None" = None,
        background: Background | None = None,
        drain_seconds: float = 5.0,
    ) -> None:
        #: Who answers when hooks ask about a call of `Session.tool`; None: an ask is a denial.
        self.approve = approve
        #: What the tools of the program mean that has the engine, where their names are not canonical ones.
        self.tools = tools
        self._tool_table: ToolTable | None = None
        self.handlers = handlers
        self.home = home
        self.journal = journal
        self.events = events
        self.admit = admit
        self.background = background if background is not None else Background()
        self.status = RunningHooks()
        self.store = HookStore(self.handlers, self.events)
        self.closed = False
        self._drain_seconds = drain_seconds
        # From anywhere: receivers of http hooks take the same id for the same call, also from another process.
        self.next_number: Callable[[], int] = itertools.count(int.from_bytes(os.urandom(7))).__next__
        self.store.swap(hooks)

    @property
    def tool_table(self) -> "ToolTable":
        """The tools of the program that has the engine: those it declared, canonical ones, and usual names."""
        if self._tool_table is None:
            from hookline.tools.standard import host_table  # noqa: PLC0415 most calls are told as they are

            self._tool_table = host_table(self.tools)
        return self._tool_table

    def session(
        self,
        session_id: str = "",
        parent: Session | None = None,
        *,
        approve: "Approve | None" = None,
        **scene: Any,
    ) -> Session:
        """One agent conversation. A sub-agent gets its own, with its parent's. `approve` goes before the engine's."""
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
        return Session(self, Scene(session_id=session_id, **scene), parent, approve)

    def swap(self, hooks: Sequence[Hook]) -> None:
        """Put another configuration in force, or raise ConfigError and leave the old one as it is."""
        self.store.swap(hooks)

    def make_hook(
        self, event: EventSpec[P], action: "Action[P]", matcher: str | None = None, **options: Any
    ) -> Hook:
        """A hook that is not in force yet; see `add` for what it takes."""
        from hookline.engine.make_hook import make_hook  # noqa: PLC0415 only for hosts that make hooks in code

        return make_hook(self.home, event, action, matcher, **options)

    def add(
        self, event: EventSpec[P], action: "Action[P]", matcher: str | None = None, **options: Any
    ) -> Hook:
        """Add a hook for all sessions: a function, a shell command or a guard. It stays when the config is swapped."""
        hook = self.make_hook(event, action, matcher, **options)
        self.store.add(hook)
        return hook

    def remove(self, hook: Hook) -> bool:
        """Remove a hook that was added in code; False when it is not in force."""
        return self.store.remove(hook)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """Every hook in force for all sessions, in order."""
        return self.store.hooks

    def set_mode(self, hook: Hook, mode: Mode) -> str | None:
        """Run a hook in another mode until the engine ends, also after a reload. None, or why that may not be.

        ::

            engine.set_mode(engine.hooks[0], "shadow")
        """
        if mode != "enforce" and hook.mode == "enforce" and (hook.scope == "managed" or hook.required):
            return f"{hook.name} is {'managed' if hook.scope == 'managed' else 'required'}: it stays in force"
        self.store.set_mode(hook, mode)
        return None

    def mode_of(self, hook: Hook) -> Mode:
        """The mode that counts: the one it was set to, else the one in its configuration."""
        return self.store.mode_of(hook)

    def on(self, event: EventSpec[P], matcher: str | None = None, **options: Any) -> Callable[[F], F]:
        """Decorate a function to make it a hook of this event."""

        def register(function: F) -> F:
            self.add(event, function, matcher, **options)
            return function

        return register

    def has(self, event: EventSpec[Any]) -> bool:
        return event.name in self.store.lanes

    def next_run_id(self) -> str:
        """Unlike that of any other run, also in other processes; in a fork of this one it may come again."""
        return str(self.next_number())

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


class RunningHook(Struct, frozen=True):
    """One hook that is running. `since` is a reading of `time.monotonic()`."""

    hook: str
    event: str
    since: float
    message: str | None = None
    run_id: str = ""
    #: The session, and the sub-agent, that waits for it or has started it.
    session: str = ""
    agent: str | None = None
    #: Where it is configured: file:line.
    source: str = ""


class RunningHooks:
    """The hooks that have started and not ended, oldest first, and the message to show meanwhile."""

    def __init__(self) -> None:
        self._calls: dict[int, Call] = {}
        self._subscribers = Subscribers["RunningHooks"]("status")

    def started(self, call: Call) -> None:
        """A hook runs from now on."""
        self._calls[id(call)] = call
        if self._subscribers.callbacks:
            self._subscribers.notify(self)

    def ended(self, call: Call) -> None:
        """May be called twice for the same call."""
        if self._calls.pop(id(call), None) is not None and self._subscribers.callbacks:
            self._subscribers.notify(self)

    def now(self) -> tuple[RunningHook, ...]:
        ahead = monotonic() - perf_counter()
        return tuple(
            RunningHook(
                call.hook.name,
                call.hook.event.name,
                call.started + ahead,
                _status_message(call.hook),
                call.run_id,
                call.scene.session_id,
                call.scene.agent_id,
                str(call.hook.where),
            )
            for call in tuple(self._calls.values())
        )

    @property
    def message(self) -> str | None:
        """What to show: the message of the newest running hook that has one."""
        for call in reversed(tuple(self._calls.values())):
            if call.hook.status_message:
                return _status_message(call.hook)
        return None

    @property
    def problems(self) -> tuple[str, ...]:
        return self._subscribers.problems

    def subscribe(self, callback: Callable[["RunningHooks"], None]) -> Callable[[], None]:
        """Be called at each start and end. Call the returned function to unsubscribe."""
        return self._subscribers.add(callback)


def _status_message(hook: Hook) -> str | None:
    return one_line(hook.status_message, _STATUS_COLUMNS) if hook.status_message else None
