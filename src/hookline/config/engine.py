"""The engine a host builds in one line: every handler, every dialect, a journal in memory."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec.structs import replace

from hookline.dialects.files import payload_settings
from hookline.dialects.registry import OWN_FORMAT, home_dialect
from hookline.engine import engine as core
from hookline.engine.background import Background
from hookline.engine.run_hook import Admit, admit_all
from hookline.handlers.registry import Handler, Handlers, standard_handlers
from hookline.journal.file import JournalFile, journal_path
from hookline.journal.journal import Journal, Trace, trace_wanted
from hookline.journal.redaction import Redactor
from hookline.model.events import EVENTS, EventSpec, May, event_table
from hookline.model.hook import Hook
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.config.load import Loaded, Loader
    from hookline.config.protection.calls import CallReaders
    from hookline.engine.host.tool import Approve
    from hookline.jobs.port import Durable
    from hookline.jobs.runner import JobRunner
    from hookline.journal.observer import Observer
    from hookline.journal.payloads import PayloadFile
    from hookline.matching.shell import ShellReader
    from hookline.tools.acts import Act
    from hookline.tools.declare import Tool
    from hookline.trust.trust import Options, Trust


class EngineOptions(TypedDict, total=False):
    """The options of `Engine`, for those who pass them on, such as `load`."""

    hooks: Sequence[Hook]
    handlers: Mapping[str, Handler] | None
    rows: Sequence[EventSpec[Any]]
    journal: Journal | None
    admit: Admit
    tools: "Mapping[str, Tool]"
    approve: "Approve | None"
    background: Background | None
    drain_seconds: float
    env: Mapping[str, str] | None
    durable: "Durable | None"
    observer: "Observer | None"
    loader: "Loader | None"


class Engine(core.Engine):
    """Runs hooks. The defaults are what most hosts want.

    `rows` adds events of your own to the table; `handlers` replaces the registry of handler kinds; `tools` says what
    your tools do, so that guards written for other agents hold: `tools={"run_shell": shell("cmd")}`; `approve` answers
    when hooks ask about a call of `Session.tool` (without one an ask is a denial); `env` is the environment of the
    agent, if that is another process; `durable` is the queue of durable hooks, if it is not the user's; `observer` is
    told of every dispatch and run (`hookline.telemetry.Telemetry`); `loader` reads configuration, if one is there
    already. ::

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
        rows: Sequence[EventSpec[Any]] = (),
        journal: Journal | None = None,
        admit: Admit = admit_all,
        tools: "Mapping[str, Tool]" = core.NO_TOOLS,
        approve: "Approve | None" = None,
        background: Background | None = None,
        drain_seconds: float = 5.0,
        env: Mapping[str, str] | None = None,
        durable: "Durable | None" = None,
        observer: "Observer | None" = None,
        loader: "Loader | None" = None,
    ) -> None:
        events = event_table((*EVENTS.values(), *rows)) if rows else EVENTS
        self._home = home_dialect(events) if loader is None else loader.home
        self._loader = loader
        self._durable = durable
        self._loaded = False
        #: The environment is that of this process: HOME there counts as in a command that a person runs.
        self._finds_home = env is None
        self._admits_by_trust = admit is admit_all
        #: What the user has trusted; None while no directory has been loaded.
        self.trust: Trust | None = None
        super().__init__(
            hooks,
            handlers=handlers if handlers is not None else standard_handlers(env=env),
            home=self._home,
            journal=journal if journal is not None else memory_journal(),
            jobs=self._job_runner,
            events=events,
            admit=admit,
            tools=tools,
            approve=approve,
            background=background,
            drain_seconds=drain_seconds,
            env=env,
            observer=observer,
        )
        if isinstance(self.handlers, Handlers) and self.handlers.protection.check is None:
            self.handlers.protection.check = self._changes_guards
            self.handlers.protection.reader = self._shell_reader
        self._protected: CallReaders | None = None

    def _shell_reader(self) -> "ShellReader":
        return self._home.tables()[1]

    def _job_runner(self, engine: core.Engine) -> "JobRunner":
        """Make what runs durable hooks, by default with the queue that all processes of the user share."""
        from hookline.jobs.file import user_queue  # noqa: PLC0415 few have durable hooks
        from hookline.jobs.projects import ProjectHooks  # noqa: PLC0415 as above
        from hookline.jobs.runner import JobRunner  # noqa: PLC0415 as above

        queue = self._durable if self._durable is not None else user_queue(self.env)
        return JobRunner(engine, queue, ProjectHooks(partial(hooks_of, self)))

    def _changes_guards(self, acts: "Sequence[Act]", cwd: str) -> str | None:
        """Why a call changes what guards the agent."""
        if self._protected is None:
            from hookline.config.protection.calls import CallReaders  # noqa: PLC0415 only for those who guard that

            self._protected = CallReaders(self.env)
        return self._protected.changes_guards(acts, cwd, self.hooks)

    @property
    def loader(self) -> "Loader":
        """Reads configuration for this engine."""
        if self._loader is None:
            self._find_home()
            # Only here: an engine whose hooks are made in code reads no files.
            from hookline.config.load import Loader  # noqa: PLC0415 see above

            env = None if self.env is os.environ else self.env
            self._loader = Loader(self._home, self.handlers, env, self.events)
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
        """Put Hookline's own files of a directory in force; or those of the dialects named; or exactly these files.

        What a project brings runs only if the user has trusted it, or with `trust`: then you vouch for the project.
        Files that are named one by one count as trusted.

        A bad entry is reported and the others run. If a file cannot be read at all, the hooks that were in force
        stay in force; `unreadable` of the result names the file. ::

            for diagnostic in engine.load(Path.cwd()).diagnostics:
                print(diagnostic)
        """
        cwd = os.fspath(cwd)
        if files is None:
            from hookline.trust.trust import Options  # noqa: PLC0415 as the loader

            names = [OWN_FORMAT] if dialects is None else dialects
            loaded = self.loader.directory(cwd, names, trust=self.trust_in(cwd, Options(trusts_all=trust)))
        else:
            loaded = self.loader.files(files, dialects[0] if dialects else None)
        self.use(loaded)
        return loaded

    def trust_in(self, cwd: str, options: "Options") -> "Trust":
        """From now on the user's trust decides which hooks of the project may run; not if the host has an `admit`."""
        from hookline.trust.trust import Trust  # noqa: PLC0415 as the loader

        self._find_home()
        trust = Trust(cwd, self.env, options)
        self.use_trust(trust)
        return trust

    def use_trust(self, trust: "Trust") -> None:
        """As `trust_in`, with what was found out before."""
        self.trust = trust
        if self._admits_by_trust:
            self.admit = trust.admit

    def use(self, loaded: "Loaded") -> bool:
        """Put what was loaded in force; not if a file was unreadable and there are hooks of an earlier load to keep."""
        if loaded.unreadable and self._loaded:
            return False
        self.swap(loaded.hooks)
        self._loaded = True
        return True


def hooks_of(
    engine: Engine, directory: str, dialect: str = OWN_FORMAT, file: str = ""
) -> tuple[Engine, Sequence[Hook], Sequence[str]]:
    """Read the hooks of a directory, or of one file in it, for jobs of other processes and machines.

    The last of the three are the files that could not be read.

    They come with another engine, which admits them by the user's trust alone: neither what the environment of this
    process grants nor that a job names the file counts there.
    """
    from hookline.trust.trust import Options  # noqa: PLC0415 as the loader

    other = Engine(handlers=engine.handlers, journal=engine.journal, env=engine.env)
    trust = other.trust_in(directory, Options(environment=False))
    read = (
        partial(other.loader.files, [file], dialect)
        if file
        else partial(other.loader.directory, directory, [dialect])
    )
    loaded = read(trust=trust)
    return other, loaded.hooks, loaded.unreadable


def user_journal(
    env: Mapping[str, str],
    *,
    caller: str = "",
    made_by: str = "",
    subscribers: Sequence[Callable[[Run], None]] = (),
) -> Journal:
    """Make the journal that writes the user's file, with payloads if their settings ask for that."""
    redactor = Redactor(env)
    return Journal(
        redactor,
        file=JournalFile(journal_path(env)),
        subscribers=subscribers,
        caller=caller,
        made_by=made_by,
        payloads=payload_file(env, redactor),
    )


def payload_file(env: Mapping[str, str], redactor: Redactor) -> "PayloadFile | None":
    """Where payloads of events are kept; None if the user's settings do not ask for that."""
    if not keeps_payloads(env):
        return None
    from hookline.journal.payloads import PayloadFile, payloads_path  # noqa: PLC0415 few users keep them

    return PayloadFile(payloads_path(env), redactor)


def keeps_payloads(env: Mapping[str, str]) -> bool:
    """Whether `keep_payloads = true` is at the top of the user's settings. Those of a project do not count."""
    return any(value is True for _, value in payload_settings(env))


def memory_journal() -> Journal:
    """A journal that keeps the newest runs, and prints each run if HOOKLINE_TRACE is set."""
    return Journal(Redactor(dict(os.environ)), subscribers=tracers())


def tracers() -> tuple[Callable[[Run], None], ...]:
    return (Trace(sys.stderr).record,) if trace_wanted(os.environ) else ()


def strictly(engine: core.Engine, hooks: Sequence[Hook]) -> Sequence[Hook]:
    """What can block fails closed, and the `if` of another agent also holds where it does as Hookline reads it."""
    return [_strict(engine, hook) if hook.event.may & May.BLOCK else hook for hook in hooks]


def _strict(engine: core.Engine, hook: Hook) -> Hook:
    condition = hook.condition
    if condition is not None and hook.dialect != OWN_FORMAT:
        from hookline.matching.tool_rules import widened  # noqa: PLC0415 only for conditions of other agents

        condition = widened(condition, lambda text: engine.home.match(hook.event, None, text)[1])
    return replace(hook, on_failure="block", condition=condition)
