"""Hold what all sessions share and what outlives one dispatch.

A host builds an engine in one line, with every handler, every dialect, and a journal in memory.
"""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack, cast

from msgspec.structs import replace

from hookline.config.journals import memory_journal
from hookline.dialects.registry import OWN_FORMAT, home_dialect
from hookline.engine.background import BackgroundHooks
from hookline.engine.memory import EngineMemory, RemembersHooks
from hookline.engine.run_hook import Admit, admit_all
from hookline.engine.running import RunningHooks
from hookline.engine.session import Session, info_fields
from hookline.handlers.registry import Handler, Handlers, close_all, standard_handlers
from hookline.journal.journal import Journal
from hookline.model.errors import EngineClosedError
from hookline.model.events import EVENTS, Capability, EventSpec, event_table
from hookline.model.hook import Hook, Scope
from hookline.model.run import Mode
from hookline.model.session_info import SessionInfo, SessionOptions

if TYPE_CHECKING:
    from hookline.actions.action import Action as ToolAction
    from hookline.actions.declare import Tool
    from hookline.actions.table import ToolTable
    from hookline.config.load import Loaded, Loader
    from hookline.config.protection.calls import CallReaders
    from hookline.dialects.dialect import HomeDialect
    from hookline.engine.host.make_hook import Action, HookDecorator, HookOptions
    from hookline.engine.host.report_failure import OnHookError
    from hookline.engine.host.tool import Approve
    from hookline.engine.judge import Pauses
    from hookline.jobs.port import Durable
    from hookline.jobs.runner import JobRunner
    from hookline.journal.observer import Observer
    from hookline.model.wire import HookInvocation
    from hookline.shell import ShellReader
    from hookline.trust.trust import Trust, TrustOptions

P = TypeVar("P")

_NO_TOOLS: "Mapping[str, Tool]" = MappingProxyType({})


class EngineOptions(TypedDict, total=False):
    """The options of `Engine`, for those who pass them on, such as `load`."""

    hooks: Sequence[Hook]
    handlers: Mapping[str, Handler] | None
    events: Sequence[EventSpec[Any]]
    journal: Journal | None
    admit: Admit
    tools: "Mapping[str, Tool]"
    approve: "Approve | None"
    background: BackgroundHooks | None
    drain_seconds: float
    env: Mapping[str, str] | None
    durable: "Durable | None"
    observer: "Observer | None"
    on_hook_error: "OnHookError | None"
    loader: "Loader | None"


class Engine(RemembersHooks):
    """An engine that runs hooks. The defaults suit most hosts.

    `events` adds your events to the table; `handlers` replaces the registry of handler kinds; `tools` describes
    your tools, so that guards written for other agents apply: `tools={"run_shell": shell("cmd")}`; `approve`
    answers when hooks ask about a call of `Session.tool` (without one an ask is a denial); `env` is the
    environment of the agent, if that is another process; `durable` is the queue of durable hooks, if it is
    not the user's; `observer` is notified of every dispatch and run (`hookline.telemetry.Telemetry`);
    `on_hook_error` is called with each hook that gives no answer, and what it raised; `loader` reads
    configuration, if you have one already. ::

        async with Engine() as engine:
            engine.load(cwd)
            engine.add(PRE_TOOL_USE, guard("force-push"))
            session = engine.session("conversation 1", cwd=cwd)
    """

    def __init__(
        self,
        hooks: Sequence[Hook] = (),
        *,
        handlers: Mapping[str, Handler] | None = None,
        events: Sequence[EventSpec[Any]] = (),
        journal: Journal | None = None,
        admit: Admit = admit_all,
        tools: "Mapping[str, Tool]" = _NO_TOOLS,
        approve: "Approve | None" = None,
        background: BackgroundHooks | None = None,
        drain_seconds: float = 5.0,
        env: Mapping[str, str] | None = None,
        durable: "Durable | None" = None,
        observer: "Observer | None" = None,
        on_hook_error: "OnHookError | None" = None,
        loader: "Loader | None" = None,
    ) -> None:
        self.events: Mapping[str, EventSpec[Any]] = (
            event_table((*EVENTS.values(), *events)) if events else EVENTS
        )
        #: The dialect of hooks made in Python.
        self.home: HomeDialect = home_dialect(self.events) if loader is None else loader.home
        self._loader = loader
        self._durable = durable
        self._loaded = False
        #: The environment of the agent: this process's, unless it works for another one.
        self.env: Mapping[str, str] = os.environ if env is None else env
        #: The environment is that of this process: HOME is used as in a command that a person runs.
        self._finds_home = env is None
        self.admit = admit
        self._admits_by_trust = admit is admit_all
        #: The user's trust; None while no directory has been loaded.
        self.trust: Trust | None = None
        #: Answers when hooks ask about a call of `Session.tool`; None turns each ask into a denial.
        self.approve = approve
        if approve is not None:
            _check_callback("approve", approve, "ApprovalRequest")
        if on_hook_error is not None:
            _check_callback("on_hook_error", on_hook_error, "HookError")
        #: Called with each hook that gives no answer; the log `hookline` has the same.
        self.on_hook_error = on_hook_error
        #: The meaning of the program's tools, where their names are not canonical.
        self.tools = tools
        self._tool_table: ToolTable | None = None
        self.handlers: Mapping[str, Handler] = (
            handlers if handlers is not None else standard_handlers(env=env)
        )
        self.journal = journal if journal is not None else memory_journal()
        self.background = background if background is not None else BackgroundHooks()
        self.status = RunningHooks()
        self._memory = EngineMemory(self.handlers, self.events)
        self.closed = False
        self._drain_seconds = drain_seconds
        self._jobs: JobRunner | None = None
        #: Observes every dispatch and run, for telemetry.
        self.observer = observer
        if observer is not None:
            self.journal.subscribe(observer.ran)
        if hooks:
            self._memory.store.swap(hooks)
        if isinstance(self.handlers, Handlers) and self.handlers.protection.check is None:
            self.handlers.protection.check = self._changes_guards
            self.handlers.protection.reader = self._shell_reader
        self._protected: CallReaders | None = None
        self._pauses: Pauses | None = None

    @property
    def pauses(self) -> "Pauses | None":
        """The pauses of guards by the user; read when a guard stops something."""
        if self._pauses is None and self._memory.obeys_pauses:
            from hookline.config.pauses import GuardPauses  # noqa: PLC0415 most calls pass

            self._pauses = GuardPauses(self.env)
        return self._pauses if self._memory.obeys_pauses else None

    def _shell_reader(self) -> "ShellReader":
        return self.home.tables()[1]

    @property
    def jobs(self) -> "JobRunner":
        """The runner that accepts and runs durable hooks; made when it is first needed."""
        if self._jobs is None:
            self._jobs = self._job_runner()
        return self._jobs

    @jobs.setter
    def jobs(self, runner: "JobRunner") -> None:
        self._jobs = runner

    def _job_runner(self) -> "JobRunner":
        """Make the runner, by default with the queue that all processes of the user share."""
        from hookline.config.job_settings import job_settings  # noqa: PLC0415 as above
        from hookline.jobs.file import user_queue  # noqa: PLC0415 few have durable hooks
        from hookline.jobs.projects import ProjectHooks  # noqa: PLC0415 as above
        from hookline.jobs.runner import JobRunner  # noqa: PLC0415 as above

        queue = self._durable if self._durable is not None else user_queue(self.env, job_settings(self.env))
        return JobRunner(self, queue, ProjectHooks(partial(hooks_of, self)))

    def _changes_guards(self, actions: "Sequence[ToolAction]", cwd: str) -> str | None:
        """Return why a call changes what guards the agent, or None."""
        if self._protected is None:
            from hookline.config.protection.calls import CallReaders  # noqa: PLC0415 only for those who guard that

            self._protected = CallReaders(self.env, self._shell_reader)
        return self._protected.changes_guards(actions, cwd, self.hooks)

    @property
    def loader(self) -> "Loader":
        """The reader of configuration for this engine."""
        if self._loader is None:
            self._find_home()
            # Only here: an engine whose hooks are made in code reads no files.
            from hookline.config.load import Loader  # noqa: PLC0415 see above

            env = None if self.env is os.environ else self.env
            self._loader = Loader(self.home, self.handlers, env, self.events)
        return self._loader

    def _find_home(self) -> None:
        """Decide on the home directory before files of the user are read. Raises HomeError."""
        if self._finds_home:
            from hookline.config.home import home_by_hand  # noqa: PLC0415 as the loader

            home = home_by_hand(os.environ).path
            if home != os.environ.get("HOME"):
                self.env = {**os.environ, "HOME": home}
            self._finds_home = False

    def load(
        self,
        cwd: str | os.PathLike[str],
        files: Sequence[str] | None = None,
        dialects: Sequence[str] | None = None,
        *,
        trust: bool = False,
    ) -> "Loaded":
        """Activate Hookline's own files of a directory; or those of the named dialects; or exactly these
        files.

        A project's hooks run only if the user trusts them, or with `trust`: then you trust the project. Files
        that are named one by one are treated as trusted.

        A bad entry is reported and the others run. If a file cannot be read at all, the earlier hooks stay
        active; `unreadable` of the result names the file. ::

            for diagnostic in engine.load(Path.cwd()).diagnostics:
                print(diagnostic)
        """
        cwd = os.fspath(cwd)
        if files is None:
            from hookline.trust.trust import TrustOptions  # noqa: PLC0415 as the loader

            names = [OWN_FORMAT] if dialects is None else dialects
            loaded = self.loader.directory(
                cwd, names, trust=self.trust_in(cwd, TrustOptions(trusts_all=trust))
            )
        else:
            loaded = self.loader.files(files, dialects[0] if dialects else None)
        self.use(loaded)
        return loaded

    def trust_in(self, cwd: str, options: "TrustOptions") -> "Trust":
        """Let the user's trust decide from now on which hooks of the project may run; not if the host has an
        `admit`."""
        from hookline.trust.trust import Trust  # noqa: PLC0415 as the loader

        self._find_home()
        trust = Trust(cwd, self.env, options)
        self.use_trust(trust)
        return trust

    def use_trust(self, trust: "Trust") -> None:
        """Do the same as `trust_in`, with an existing `Trust`."""
        self.trust = trust
        if self._admits_by_trust:
            self.admit = trust.admit

    def use(self, loaded: "Loaded") -> bool:
        """Activate the loaded hooks; not if a file was unreadable and there are hooks of an earlier load to
        keep."""
        if loaded.unreadable and self._loaded:
            return False
        self.swap(loaded.hooks)
        self._loaded = True
        return True

    @property
    def tool_table(self) -> "ToolTable":
        """The program's tools: those it declared, canonical ones, and usual names."""
        if self._tool_table is None:
            from hookline.actions.standard_tools import host_table  # noqa: PLC0415 most calls need no translation

            self._tool_table = host_table(self.tools)
        return self._tool_table

    def session(
        self,
        session_id: str = "",
        parent: Session | None = None,
        *,
        approve: "Approve | None" = None,
        state: Mapping[str, Any] | None = None,
        **info: "Unpack[SessionOptions]",
    ) -> Session:
        """Open a session for one agent conversation. A subagent gets its own, with its `parent`; `approve`
        here takes precedence over the engine's; `state` is what `session.state()` returned for an earlier session
        of this conversation, also in another process.

        The other options describe the conversation to hooks: `cwd`, `project_dir`, `transcript_path`,
        `permission_mode`, `model`, `prompt_id`, `turn`, `agent_id`, `agent_type`, `parent_agent_id`, `depth`,
        `attended`, `extra` (`hookline.host.SessionOptions` says what each means). ::

            session = engine.session("conversation 1", cwd=Path.cwd(), permission_mode="plan")
        """
        if self.closed:
            raise EngineClosedError
        if approve is not None:
            _check_callback("approve", approve, "ApprovalRequest")
        if parent is not None and getattr(parent, "engine", None) is not self:
            from hookline.engine.host.misuse import wrong_parent  # noqa: PLC0415 only for a mistake

            raise wrong_parent(parent)
        fields: dict[str, Any] = info_fields("engine.session", info) if info else {}
        if parent is not None:
            inherited: dict[str, Any] = {
                "cwd": parent.info.cwd,
                "project_dir": parent.info.project_dir,
                "permission_mode": parent.info.permission_mode,
                "attended": parent.info.attended,
                "parent_agent_id": parent.info.agent_id,
                "depth": parent.info.depth + 1,
            }
            fields = inherited | fields
        session = Session(self, SessionInfo(session_id=session_id, **fields), parent, approve)
        if state is not None:
            from hookline.engine.host.state import restore_state  # noqa: PLC0415 most hosts keep their sessions

            restore_state(session, state)
        return session

    def swap(self, hooks: Sequence[Hook]) -> None:
        """Activate another configuration, or raise ConfigError and keep the old one.

        Entries that call Hookline are kept and never run.
        """
        self._memory.store.swap(_own_entries_apart(hooks))

    def make_hook(
        self,
        event: EventSpec[P],
        action: "Action[P]",
        matcher: str | None = None,
        *,
        scope: Scope = "user",
        **options: "Unpack[HookOptions]",
    ) -> Hook:
        """Make a hook without activating it; the options are those of `on`.

        ::

            engine.swap([engine.make_hook(PRE_TOOL_USE, "./check.sh", "Bash", timeout=5)])
        """
        from hookline.engine.host.make_hook import check_hook, make_hook  # noqa: PLC0415 as `on`

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
        """Add a hook for all sessions: a function, a shell command or a guard. It stays when the config is
        swapped.

        The options are those of `on`. ::

            engine.add(PRE_TOOL_USE, guard("force-push"), name="no force push")
            engine.add(POST_TOOL_USE, "./format.sh", "Edit|Write", waiting="async")
        """
        from hookline.engine.host.make_hook import check_hook, make_hook  # noqa: PLC0415 as `on`

        check_hook("engine.add", event, matcher, options, self.events)
        hook = make_hook(self.home, event, action, matcher, scope=scope, **options)
        self._memory.store.add(hook)
        return hook

    def remove(self, hook: Hook) -> bool:
        """Remove a hook that was added in code; return False if it is not active."""
        return self._memory.store.remove(hook)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """Every hook that is active for all sessions, in order."""
        return self._memory.store.hooks

    def set_mode(self, hook: Hook, mode: Mode) -> str | None:
        """Run a hook in another mode until the engine ends, also after a reload. Return None, or why that is
        not allowed.

        ::

            engine.set_mode(engine.hooks[0], "shadow")
        """
        if mode != "enforce" and hook.mode == "enforce" and (stays := _must_stay(hook)):
            return stays
        self._memory.store.set_mode(hook, mode)
        return None

    def skip(self, call: "HookInvocation", why: str) -> str | None:
        """End a hook that is running, without its answer, this once. Return None, or why that is not allowed.

        Call it on the engine's loop; `engine.status.calls` has the running hooks, and the journal gets `why`.
        """
        if call.hook.mode == "enforce" and (stays := _must_stay(call.hook)):
            return stays
        return (
            None if self.status.skip(call, why) else f"{call.hook.name} has ended, or cannot be interrupted"
        )

    def mode_of(self, hook: Hook) -> Mode:
        """Return the mode a hook runs in: the one it was set to, else the one in its configuration."""
        return self._memory.store.mode_of(hook)

    def on(
        self,
        event: EventSpec[P],
        matcher: str | None = None,
        *,
        scope: Scope = "user",
        **options: "Unpack[HookOptions]",
    ) -> "HookDecorator[P]":
        """Decorate a function of the payload, or of payload and session info, to make it a hook of this
        event.

        It returns an outcome (`deny`, `ask`, `allow`, `context`, `rewrite`, `halt`) or None. An async
        function runs on the event loop and must not block it; any other function runs in a thread. ::

            @engine.on(PRE_TOOL_USE, "Bash", timeout=5)
            async def no_force_push(call: ToolCall) -> Outcome | None:
                return deny("no") if "--force" in call.tool_input["command"] else None

        `matcher` says which tools (or other subjects of the event) it is about. The options:

        - `condition`: a rule about the arguments, besides the matcher: `Bash(git push *)`.
        - `name`: its name in messages and in the journal; by default the function's name.
        - `rewrites`: it rewrites what the event is about, so it runs before the hooks that judge.
        - `quick`: a plain function that neither waits nor computes for long: it runs on the event loop, which
          costs a tenth of a thread.
        - `timeout`: seconds that it may take; 600 if it is not given.
        - `on_failure`: the reaction to a failure, `open`, `closed` or `ask`, for all or by cause:
          `{"timed_out": "open"}`.
        - `waiting`: `wait` for its answer, `async`: run it in the background, `rewake`: a deny then wakes the
          agent.
        - `durable`: for a background hook: once accepted, it runs to its end, if need be later.
        - `order`: `session`, to run the durable hooks of a session that say so one after another.
        - `once`: run it once in a session.
        - `mode`: `enforce`, `shadow` (run it without effect) or `off`.
        - `required`: it must run; if it may not, the call is blocked, and it cannot be switched off.
        - `in_doubt`: the reaction when the match is uncertain: `match`, `ask` the user, or `pass`.
        - `actions`: the calls that a hook about files is asked about: `all` that touch such a file, also by a
          shell line, or those of tools that are `named`.
        - `status_message`: shown while it runs.
        - `scope`: whose hook it is: `user`, or `managed` for one that users cannot switch off.
        """
        from hookline.engine.host.make_hook import check_hook  # noqa: PLC0415 only for hosts that make hooks in code

        check_hook("engine.on", event, matcher, options, self.events)

        def register(function: Any) -> Any:
            self.add(event, function, matcher, scope=scope, **options)
            return function

        return cast("HookDecorator[P]", register)

    def has(self, event: EventSpec[Any]) -> bool:
        """Return True if any hook for all sessions is configured for the event."""
        return event.name in self._memory.store.lanes

    async def drain(self, limit: float | None = None) -> bool:
        """Wait for background hooks; return False when the limit came first."""
        return await self.background.drain(limit)

    async def close(self, limit: float | None = None) -> tuple[str, ...]:
        """End everything: drain background hooks within the limit, kill those that are left, close the
        handlers.

        Returns the names of the hooks that it had to kill. Durable ones are not among them: they stay in the
        queue.
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


def _check_callback(name: str, given: Any, gets: str) -> None:
    """Raise TypeError for a function of the host's that cannot be called with one argument."""
    import inspect  # noqa: PLC0415 hosts without an approver do without

    try:
        inspect.signature(given).bind(None)
    except ValueError:  # some callables written in C have no signature
        return
    except TypeError:
        raise TypeError(f"{name} is a function of one {gets}, not {given!r}") from None


def hooks_of(
    engine: Engine, directory: str, dialect: str = OWN_FORMAT, file: str = ""
) -> tuple[Engine, Sequence[Hook], Sequence[str]]:
    """Read the hooks of a directory, or of one file in it, for jobs of other processes and machines.

    The last of the three are the files that could not be read.

    They come with another engine, which admits them by the user's trust alone: neither a grant in the
    environment of this process nor the name of the file in a job is used there. `--trust` covers the project
    that it was given for.
    """
    from hookline.trust.trust import TrustOptions  # noqa: PLC0415 as the loader

    other = Engine(handlers=engine.handlers, journal=engine.journal, env=engine.env)
    trust = other.trust_in(directory, TrustOptions(environment=False))
    given = engine.trust
    if given is not None and given.options.trusts_all and trust.root == given.root:
        trust = other.trust_in(directory, TrustOptions(trusts_all=True, environment=False))
    read = (
        partial(other.loader.files, [file], dialect)
        if file
        else partial(other.loader.directory, directory, [dialect])
    )
    loaded = read(trust=trust)
    return other, loaded.hooks, loaded.unreadable


def strictly(engine: Engine, hooks: Sequence[Hook]) -> Sequence[Hook]:
    """Make hooks that can block fail closed, and let the `if` of another agent also hold as Hookline reads
    it."""
    return [_strict(engine, hook) if hook.event.may & Capability.BLOCK else hook for hook in hooks]


def _strict(engine: Engine, hook: Hook) -> Hook:
    condition = hook.condition
    if condition is not None and hook.dialect != OWN_FORMAT:
        from hookline.matching.tool_rules import widened  # noqa: PLC0415 only for conditions of other agents

        condition = widened(condition, lambda text: engine.home.match(hook.event, None, text)[1])
    return replace(hook, on_failure="block", condition=condition)


def _must_stay(hook: Hook) -> str:
    """Return why a person may not switch a hook off, or nothing."""
    if hook.scope != "managed" and not hook.required:
        return ""
    return f"{hook.name} is {'managed' if hook.scope == 'managed' else 'required'}: it stays active"


def _own_entries_apart(hooks: Sequence[Hook]) -> Sequence[Hook]:
    """Mark the entries by which agents call Hookline."""
    if all(hook.kind != "command" for hook in hooks):
        return hooks
    from hookline.config.install.self_calls import own_entries_marked  # noqa: PLC0415 only for commands

    return own_entries_marked(hooks)
