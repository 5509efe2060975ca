"""The engine: what all sessions share. It owns everything that outlives one dispatch."""

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, perf_counter
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, Unpack, cast

from msgspec import Struct

from hookline.engine.background import Background
from hookline.engine.lanes import HookStore
from hookline.engine.run_hook import Admit, admit_all
from hookline.engine.session import Session
from hookline.handlers.registry import Handler, close_all
from hookline.journal.journal import Journal, Subscribers
from hookline.model.errors import EngineClosedError
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Condition, Hook, Matcher, Scope
from hookline.model.policy import Policy
from hookline.model.run import Mode
from hookline.model.safe_text import one_line
from hookline.model.scene import Scene, SceneOptions, scene_fields
from hookline.model.wire import Call, Wire

if TYPE_CHECKING:
    from hookline.engine.breaker import Breaker
    from hookline.engine.host.tool import Approve
    from hookline.engine.make_hook import Action, HookDecorator, HookOptions
    from hookline.jobs.runner import JobRunner
    from hookline.journal.observer import Observer
    from hookline.tools.declare import Tool
    from hookline.tools.table import ToolTable

P = TypeVar("P")

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
        jobs: "Callable[[Engine], JobRunner]",
        events: Mapping[str, EventSpec[Any]] = EVENTS,
        admit: Admit = admit_all,
        tools: "Mapping[str, Tool]" = NO_TOOLS,
        approve: "Approve | None" = None,
        background: Background | None = None,
        drain_seconds: float = 5.0,
        env: Mapping[str, str] | None = None,
        observer: "Observer | None" = None,
    ) -> None:
        #: The environment of the agent: this process's, unless it works for another one.
        self.env: Mapping[str, str] = os.environ if env is None else env
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
        #: What hosts have been told about a hook already: once is enough.
        self.told: set[object] = set()
        #: Of hooks that have failed, by their keys.
        self.breakers: dict[object, Breaker] = {}
        self._drain_seconds = drain_seconds
        # From anywhere: receivers of http hooks take the same id for the same call, also from another process.
        self.next_number: Callable[[], int] = itertools.count(int.from_bytes(os.urandom(7))).__next__
        #: Every hook that is not waited for is durable.
        self.all_durable = False
        self._make_jobs = jobs
        self._jobs: JobRunner | None = None
        #: Told of every dispatch and run, for telemetry.
        self.observer = observer
        if observer is not None:
            journal.subscribe(observer.ran)
        self.store.swap(hooks)

    @property
    def jobs(self) -> "JobRunner":
        """Accepts and runs durable hooks; made when it is first needed."""
        if self._jobs is None:
            self._jobs = self._make_jobs(self)
        return self._jobs

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
        **scene: "Unpack[SceneOptions]",
    ) -> Session:
        """One agent conversation. A sub-agent gets its own, with its `parent`; `approve` goes before the engine's.

        The other options are what hooks are told of it: `cwd`, `project_dir`, `transcript_path`, `permission_mode`,
        `model`, `prompt_id`, `turn`, `agent_id`, `agent_type`, `parent_agent_id`, `depth`, `attended`, `extra`
        (`hookline.host.SceneOptions` says what each means). ::

            session = engine.session("conversation 1", cwd=Path.cwd(), permission_mode="plan")
        """
        if self.closed:
            raise EngineClosedError
        fields: dict[str, Any] = scene_fields("engine.session", scene) if scene else {}
        if parent is not None:
            inherited: dict[str, Any] = {
                "cwd": parent.scene.cwd,
                "project_dir": parent.scene.project_dir,
                "permission_mode": parent.scene.permission_mode,
                "attended": parent.scene.attended,
                "parent_agent_id": parent.scene.agent_id,
                "depth": parent.scene.depth + 1,
            }
            fields = inherited | fields
        return Session(self, Scene(session_id=session_id, **fields), parent, approve)

    def swap(self, hooks: Sequence[Hook]) -> None:
        """Put another configuration in force, or raise ConfigError and leave the old one as it is."""
        self.store.swap(hooks)

    def make_hook(
        self,
        event: EventSpec[P],
        action: "Action[P]",
        matcher: str | None = None,
        *,
        scope: Scope = "user",
        **options: "Unpack[HookOptions]",
    ) -> Hook:
        """A hook that is not in force yet; the options are those of `on`.

        ::

            engine.swap([engine.make_hook(PRE_TOOL_USE, "./check.sh", "Bash", timeout=5)])
        """
        from hookline.engine.make_hook import check_hook, make_hook  # noqa: PLC0415 as `on`

        check_hook("engine.make_hook", event, matcher, options, self.events)
        return make_hook(self.home, event, action, matcher, scope=scope, **options)

    def add(
        self,
        event: EventSpec[P],
        action: "Action[P]",
        matcher: str | None = None,
        *,
        scope: Scope = "user",
        **options: "Unpack[HookOptions]",
    ) -> Hook:
        """Add a hook for all sessions: a function, a shell command or a guard. It stays when the config is swapped.

        The options are those of `on`. ::

            engine.add(PRE_TOOL_USE, guard("force-push"), name="no force push")
            engine.add(POST_TOOL_USE, "./format.sh", "Edit|Write", waiting="async")
        """
        from hookline.engine.make_hook import check_hook, make_hook  # noqa: PLC0415 as `on`

        check_hook("engine.add", event, matcher, options, self.events)
        hook = make_hook(self.home, event, action, matcher, scope=scope, **options)
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

    def on(
        self,
        event: EventSpec[P],
        matcher: str | None = None,
        *,
        scope: Scope = "user",
        **options: "Unpack[HookOptions]",
    ) -> "HookDecorator[P]":
        """Decorate a function of the payload, or of payload and scene, to make it a hook of this event.

        It returns an outcome (`deny`, `ask`, `allow`, `context`, `rewrite`, `halt`) or None. An async function runs on
        the event loop and must not block it; any other function runs in a thread. ::

            @engine.on(PRE_TOOL_USE, "Bash", timeout=5)
            async def no_force_push(call: ToolCall) -> Outcome | None:
                return deny("no") if "--force" in call.tool_input["command"] else None

        `matcher` says which tools (or other subjects of the event) it is about. The options:

        - `condition`: a rule about the arguments, besides the matcher: `Bash(git push *)`.
        - `name`: what it is called in messages and in the journal; without one the function's name.
        - `rewrites`: it rewrites what the event is about, so it runs before the hooks that judge.
        - `timeout`: seconds that it may take; 600 if it is not given.
        - `on_failure`: what a failure means, `open`, `closed` or `ask`, for all or by cause: `{"timed_out": "open"}`.
        - `waiting`: `wait` for its answer, `async`: run it in the background, `rewake`: a deny then wakes the agent.
        - `durable`: of a hook that is not waited for: once accepted, it is run to its end, if need be later.
        - `order`: `session`, to run the durable hooks of a session that say so one after another.
        - `once`: run it once in a session.
        - `mode`: `enforce`, `shadow` (run it without effect) or `off`.
        - `required`: it must run; if it may not, the call is blocked, and it cannot be switched off.
        - `in_doubt`: where it cannot be told whether it is concerned: `match`, `ask` the user, or `pass`.
        - `status_message`: what is shown while it runs.
        - `scope`: whose hook it is: `user`, or `managed` for one that users cannot switch off.
        """
        from hookline.engine.make_hook import check_hook  # noqa: PLC0415 only for hosts that make hooks in code

        check_hook("engine.on", event, matcher, options, self.events)

        def register(function: Any) -> Any:
            self.add(event, function, matcher, scope=scope, **options)
            return function

        return cast("HookDecorator[P]", register)

    def has(self, event: EventSpec[Any]) -> bool:
        """Whether any hook for all sessions is configured for the event."""
        return event.name in self.store.lanes

    def next_run_id(self) -> str:
        """Unlike that of any other run, also in other processes; in a fork of this one it may come again."""
        return str(self.next_number())

    async def drain(self, limit: float | None = None) -> bool:
        """Wait for hooks that run in the background; False when the limit came first."""
        return await self.background.drain(limit)

    async def close(self, limit: float | None = None) -> tuple[str, ...]:
        """End everything: drain background hooks within the limit, kill what is left, close the handlers.

        Returns the names of the hooks that it had to kill. Durable ones are not among them: they stay in the queue.
        """
        if self.closed:
            return ()
        killed = await self.background.close(self._drain_seconds if limit is None else limit)
        if self._jobs is not None:
            killed = tuple(name for name in killed if name != self._jobs.work)
            self._jobs.close()
        self.closed = True
        await close_all(self.handlers)
        if self.observer is not None:
            self.journal.watched(self.observer.closed)
        self.journal.close()
        return killed

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
    #: Its event as people are shown it: by the hook's own name.
    label: str = ""


class RunningHooks:
    """The hooks that have started and not ended, oldest first, and the message to show meanwhile."""

    def __init__(self) -> None:
        self._calls: dict[Call, Call] = {}
        self._subscribers = Subscribers["RunningHooks"]("status")

    def started(self, call: Call) -> None:
        """A hook runs from now on."""
        self._calls[call] = call
        if self._subscribers.callbacks:
            self._subscribers.notify(self)

    def ended(self, call: Call) -> None:
        """May be called twice for the same call."""
        if self._calls.pop(call, None) is not None and self._subscribers.callbacks:
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
                call.hook.event_label,
            )
            for call in tuple(self._calls)
        )

    @property
    def message(self) -> str | None:
        """What to show: the message of the newest running hook that has one."""
        for call in reversed(tuple(self._calls)):
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
