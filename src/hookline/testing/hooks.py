"""Provide the fixtures `hooks` and `async_hooks`: load hooks, fire events at them, see the result of each."""

import asyncio
import os
from collections.abc import Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, get_args

from msgspec import Struct

from hookline.config.engine import Engine
from hookline.engine.background import LateMessage
from hookline.engine.explain import MatchResult, accounts_of
from hookline.engine.host.bridge import Blocking
from hookline.engine.memory import lanes_of, memory_of
from hookline.engine.run_hook import admit_all
from hookline.engine.session import Session
from hookline.handlers.registry import Handler, Handlers
from hookline.jobs.runner import JobRunner
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.matching.nearest import nearest
from hookline.model.events import EVENTS, POST_TOOL_USE, PRE_TOOL_USE, USER_PROMPT_SUBMIT, EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.model.policy import Cause
from hookline.model.raw import RawResult
from hookline.model.run import Run
from hookline.model.wire import EventRequest
from hookline.testing.fakes import (
    ASKING,
    failure,
    handlers_for_tests,
    http_handler,
    put_switches,
    reply,
)
from hookline.testing.http import AnsweringPoster, HttpResponses
from hookline.testing.project import FoundProject, find_project, loader_for, refuse_diagnostics
from hookline.testing.recordings import Recorded, recorded
from hookline.testing.request import Requests
from hookline.testing.result import Result, has_run, name_of, result_of

if TYPE_CHECKING:
    from hookline.engine.host.make_hook import Action, HookDecorator, HookOptions

P = TypeVar("P")
T = TypeVar("T")
Path = str | os.PathLike[str]

#: The runs of the event that is being fired; hooks in the background keep adding to it.
_RUNS: ContextVar[list[Run] | None] = ContextVar("hookline_test_runs", default=None)


class Firing(Struct, frozen=True, eq=False):
    """One event that was fired, for the explanation of a failure."""

    request: EventRequest
    decisions: Sequence[MatchResult]
    #: Grows while hooks of the event run in the background.
    runs: Sequence[Run]
    outcome: Outcome
    result: Result


class Kit:
    """Shared part of `Hooks` and `AsyncHooks`."""

    def __init__(self, *, approve: bool | None = None, caller: str | None = None, root: Path = "") -> None:
        """Set up the engine. `approve` is the user's answer when a hook asks, None without a user; `caller`
        the calling agent.

        Relative paths that do not exist in the working directory are searched in `root`.
        """
        self._poster = AnsweringPoster()
        #: The answers to HTTP hooks.
        self.http: HttpResponses = self._poster
        self._approve = approve
        self._root = os.fspath(root)
        self._stand_ins: dict[str, RawResult] = {}
        self._fired: list[Firing] = []
        self._install(
            Engine(handlers=handlers_for_tests(self._poster), journal=Journal(Redactor(os.environ))),
            answered=False,
        )
        self._requests.caller = caller

    def _install(self, engine: Engine, *, answered: bool) -> None:
        #: The engine that runs the hooks; it is the test's own. A pause of the user's guards is not one of the tests.
        self.engine = engine
        memory_of(engine).obeys_pauses = False
        #: The conversation of the test: `hooks.session.update(permission_mode="plan")` changes what hooks see.
        here = os.getcwd()
        self.session: Session = engine.session(
            "test", cwd=here, project_dir=here, attended=self._approve is not None
        )
        self._answered = answered
        self._loader = loader_for(engine)
        self._requests = Requests(self._loader, engine.events, self.session)
        engine.journal.subscribe(_collect)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(self.names) or 'no hooks'}>"

    # --- which hooks ---------------------------------------------------------------------------------------------

    def load(self, *paths: Path, dialect: str | None = None, ignore: Sequence[str] = ()) -> None:
        """Load the hooks of a project, or of files; errors in them fail the test.

        ::

            hooks.load(".")                                    # .hookline/hooks.toml of this project
            hooks.load(".", dialect="claude-code")             # the files of another agent
            hooks.load(".claude/settings.json")                # a file, recognised by its name or its shape

        Neither the user's own files nor those of the machine are read, nor files that are local to a checkout; name
        these. Files that are named together add up. `ignore` lists codes of findings that are allowed.
        """
        __tracebackhide__ = True
        found = find_project(self._loader, paths or (".",), dialect, self._root)
        refuse_diagnostics(found.loaded.diagnostics, ignore)
        self._use(found)

    def _use(self, found: FoundProject) -> None:
        order = self._loader.names.index
        hooks = (*self._configured(), *found.loaded.hooks)
        self.engine.swap(sorted(hooks, key=lambda hook: order(hook.dialect)))
        dialects = (*self._requests.dialects, *found.dialects)
        if not self._requests.dialects:
            self.session.update(cwd=found.directory, project_dir=found.directory)
        self._requests.dialects = tuple(dict.fromkeys(dialects))

    def _configured(self) -> list[Hook]:
        """Return the hooks of files, without those made in Python."""
        return [hook for hook in self.engine.hooks if hook.where.file]

    def add(
        self,
        event: EventSpec[P],
        action: "Action[P]",
        matcher: str | None = None,
        **options: "Unpack[HookOptions]",
    ) -> Hook:
        """Add a hook made in Python: a function, a shell command or a guard. The options are those of `engine.on`.

        ::

            hooks.add(PRE_TOOL_USE, guard("force-push"), name="no force push")
        """
        return self.engine.add(event, action, matcher, **options)

    def on(
        self, event: EventSpec[P], matcher: str | None = None, **options: "Unpack[HookOptions]"
    ) -> "HookDecorator[P]":
        """Decorate a function to make it a hook. The options are those of `engine.on`.

        ::

            @hooks.on(PRE_TOOL_USE, "Bash")
            def no_bash(call):
                return deny("no")
        """
        return self.engine.on(event, matcher, **options)

    def use(self, engine: Engine) -> None:
        """Test the current hooks of an engine, with its tools and handlers. The engine itself does not change.

        ::

            hooks.use(my_agent.engine)
        """
        if self.engine.hooks or self._fired:
            raise RuntimeError("call hooks.use(engine) first: hooks are loaded already")
        own = Engine(
            handlers=_with_http(engine.handlers, self._poster),
            events=[row for name, row in engine.events.items() if name not in EVENTS],
            journal=Journal(Redactor(os.environ)),
            admit=admit_all if engine.trust is not None else engine.admit,
            tools=engine.tools,
            loader=loader_for(engine),
        )
        own.jobs = JobRunner(own)  # without a queue: nothing of a test outlives it
        caller = self._requests.caller
        self._install(own, answered=True)
        self._requests.caller = caller
        own.swap([hook for hook in engine.hooks if hook.where.file])
        for hook in engine.hooks:
            if not hook.where.file:
                memory_of(own).store.add(hook)

    @property
    def names(self) -> list[str]:
        """The names of all active hooks."""
        return list(dict.fromkeys(hook.name for hook in self.engine.hooks))

    @staticmethod
    def recorded(dialect: str, event: str | None = None) -> list[Recorded]:
        """Return recorded payloads of a dialect's agent, to be fired with `event`.

        ::

            for payload in hooks.recorded("claude-code", "PreToolUse"):
                assert hooks.event(payload).allowed
        """
        return recorded(dialect, event)

    # --- stand-ins for their code ---------------------------------------------------------------------------------

    def fails(self, name: str, cause: Cause = "crashed") -> "StandsIn":
        """Make this hook fail from now on, to see if its guard fails closed; in a `with` block until it ends.

        ::

            hooks.fails("no force push", "timed_out")
            assert hooks.tool("Bash", command="ls").denied

        The causes: not_started, crashed, signalled, timed_out, unreadable, truncated, transport, cancelled.
        """
        if cause not in get_args(Cause):
            raise ValueError(f"unknown cause {cause!r}; there are: {', '.join(get_args(Cause))}")
        self._hooks_named(name)
        return StandsIn(self._stand_ins, name, failure(cause))

    def answers(self, name: str, answer: Any) -> "StandsIn":
        """Let the model or the MCP server of this hook answer this from now on: text as it is, anything else as JSON.

        ::

            hooks.answers("reviewer", {"ok": False, "reason": "no tests"})
        """
        for hook in self._hooks_named(name):
            if hook.kind not in ASKING:
                raise ValueError(
                    f"{name!r} is a {hook.kind} hook, and a test runs it: only models are answered for"
                )
        return StandsIn(self._stand_ins, name, reply(answer))

    def _hooks_named(self, name: str) -> list[Hook]:
        found = [hook for hook in self.engine.hooks if hook.name == name]
        if not found:
            close = nearest(name, self.names)
            hint = f"did you mean {close!r}?" if close else f"there are: {', '.join(self.names) or 'none'}"
            raise LookupError(f"no hook is called {name!r}; {hint}")
        return found

    # --- events --------------------------------------------------------------------------------------------------

    def _tool(self, tool: str, arguments: Mapping[str, Any] | None, more: Mapping[str, Any]) -> EventRequest:
        return self._requests.call(PRE_TOOL_USE, tool, tool_input={**(arguments or {}), **more})

    def _result(
        self, tool: str, response: Any, arguments: Mapping[str, Any] | None, more: Mapping[str, Any]
    ) -> EventRequest:
        given = {**(arguments or {}), **more}
        return self._requests.call(POST_TOOL_USE, tool, tool_input=given, tool_response=response)

    def _prompt(self, text: str) -> EventRequest:
        return self._requests.named(USER_PROMPT_SUBMIT, None, {"prompt": text})

    def _event(
        self, event: EventSpec[Any] | str | Recorded, payload: Any, fields: Mapping[str, Any]
    ) -> EventRequest:
        if isinstance(event, Recorded):
            return self._requests.recorded(event, self.session.info.cwd)
        return self._requests.named(event, payload, fields)

    async def _fire(self, request: EventRequest) -> Result:
        event, payload, session = request.event, request.payload, self.session
        runs: list[Run] = []
        token = _RUNS.set(runs)
        try:
            with self._as_called(request):
                put_switches(lanes_of(session, event.name), self._stand_ins, answered=self._answered)
                decisions = session.explain(event, payload)
                outcome = await session.dispatch(event, payload)
        finally:
            _RUNS.reset(token)
        accounts, again = accounts_of(decisions, runs, self.engine.journal.cleaned)
        result = result_of(event, payload, outcome, accounts, again, self._approve)
        self._fired.append(Firing(request, decisions, runs, outcome, result))
        return result

    @contextmanager
    def _as_called(self, request: EventRequest) -> Generator[None]:
        """Apply the session info, the tools and the hooks of this event alone."""
        session, info, tools = self.session, self.session.info, self.session.tools
        configured = self._configured()
        concerned = [hook for hook in configured if request.concerns(hook)]
        session.info = request.info
        if request.dialect is not None:
            session.tools = self._loader.dialect(request.dialect).own_tools
        if len(concerned) < len(configured):
            self.engine.swap(concerned)
        try:
            yield
        finally:
            if request.info is not info:
                session.info = info
            if request.dialect is not None:
                session.tools = tools
            if len(concerned) < len(configured):
                self.engine.swap(configured)

    # --- afterwards ----------------------------------------------------------------------------------------------

    def assert_all_hooks_ran(self) -> None:
        """Fail if a hook did not run at any event of this test, and say why.

        ::

            hooks.assert_all_hooks_ran()
        """
        __tracebackhide__ = True
        missing = {
            (hook.name, str(hook.where), hook.event.name): f"{hook.event.name} was never fired"
            for hook in self.engine.hooks
        }
        for firing in self._fired:
            accounts, _again = accounts_of(firing.decisions, firing.runs, self.engine.journal.cleaned)
            for account in accounts:
                hook = account.decision.prepared.hook
                key = (name_of(account), str(hook.where), hook.event.name)
                if has_run(account):
                    missing[key] = ""
                elif missing.get(key):
                    missing[key] = account.runs[0].detail or account.runs[0].why
        project = f"{self.session.info.cwd.rstrip('/')}/"
        lines = [
            f"  {name}{f' ({source.removeprefix(project)})' if source else ''}: {why}"
            for (name, source, _event), why in missing.items()
            if why
        ]
        if lines:
            count = f"{len(lines)} of {len(missing)} hooks did not run"
            raise AssertionError("\n".join([count, *lines]))

    def verify(self) -> None:
        """Fail if HTTP responses were not used, or requests not expected. The fixture calls it after the test."""
        __tracebackhide__ = True
        problems = self._poster.problems()
        if problems:
            raise AssertionError("\n".join(problems))

    def explain(self) -> str:
        """Describe every hook at every event so far; shown when a test fails.

        ::

            print(hooks.explain())
        """
        from hookline.testing.report import explained  # noqa: PLC0415 most tests pass

        return explained(self._fired, self.engine.journal, self.session.info.cwd)

    async def _drain(self, timeout: float) -> list[LateMessage]:
        __tracebackhide__ = True
        if not await self.engine.drain(timeout):
            running = ", ".join(dict.fromkeys(each.hook for each in self.engine.status.now()))
            raise AssertionError(f"after {timeout:g} s these hooks still run: {running or 'unknown'}")
        return list(self.session.inbox.take_all())


class Hooks(Kit):
    """The hooks of one test. As a fixture, or `with Hooks() as hooks:`.

    ::

        def test_redacts(hooks):
            hooks.load(".")
            assert hooks.result("Bash", "SECRET", command="env").output == "***"
    """

    _bridge: Blocking | None = None

    def tool(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> Result:
        """Fire PreToolUse: a tool is about to run.

        ::

            assert hooks.tool("Bash", command="git push --force").denied
        """
        return self._wait(self._fire(self._tool(tool, arguments, more)))

    def result(
        self, tool: str, response: Any, arguments: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Result:
        """Fire PostToolUse: a tool has run.

        ::

            assert hooks.result("Bash", "SECRET", command="env").output == "***"
        """
        return self._wait(self._fire(self._result(tool, response, arguments, more)))

    def prompt(self, text: str) -> Result:
        """Fire UserPromptSubmit: the user has submitted a prompt.

        ::

            assert hooks.prompt("deploy").context == ["today is a release day"]
        """
        return self._wait(self._fire(self._prompt(text)))

    def event(self, event: EventSpec[Any] | str | Recorded, payload: Any = None, /, **fields: Any) -> Result:
        """Fire any event: by its canonical name, an agent's name, or its row in `hookline.events`; or a recorded one.

        ::

            assert hooks.event("Stop", last_assistant_message="done").denied == "run the tests first"
            hooks.event("pre_tool_use", {"tool_name": "shell", "tool_input": {"cmd": "ls"}})

        A mapping is a payload as the agent whose name for the event it is writes it.
        """
        return self._wait(self._fire(self._event(event, payload, fields)))

    def drain(self, timeout: float = 10.0) -> list[LateMessage]:
        """Wait for background hooks, and return their late messages. Fails if they take longer.

        ::

            hooks.tool("Bash", command="make")
            assert [late.text for late in hooks.drain()] == ["the build is broken"]
        """
        __tracebackhide__ = True
        return self._wait(self._drain(timeout))

    def close(self) -> None:
        """End everything that still runs. The fixture calls it."""
        if self._bridge is not None:
            self._bridge.close(0)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        __tracebackhide__ = True
        if self._bridge is None:
            self._bridge = Blocking(self.engine)
        return self._bridge.wait_for(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncHooks(Kit):
    """Hooks of one async test, which run on the loop of the test.

    ::

        async def test_force_push(async_hooks):
            async_hooks.load(".")
            assert (await async_hooks.tool("Bash", command="git push --force")).denied
    """

    _loop: asyncio.AbstractEventLoop | None = None

    async def tool(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> Result:
        """Fire PreToolUse, as `Hooks.tool`."""
        return await self._here(self._tool(tool, arguments, more))

    async def result(
        self, tool: str, response: Any, arguments: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Result:
        """Fire PostToolUse, as `Hooks.result`."""
        return await self._here(self._result(tool, response, arguments, more))

    async def prompt(self, text: str) -> Result:
        """Fire UserPromptSubmit, as `Hooks.prompt`."""
        return await self._here(self._prompt(text))

    async def event(
        self, event: EventSpec[Any] | str | Recorded, payload: Any = None, /, **fields: Any
    ) -> Result:
        """Fire any event, as `Hooks.event`."""
        return await self._here(self._event(event, payload, fields))

    async def drain(self, timeout: float = 10.0) -> list[LateMessage]:
        """Wait for background hooks, as `Hooks.drain`."""
        __tracebackhide__ = True
        return await self._drain(timeout)

    async def aclose(self) -> None:
        """End everything that still runs. The fixture does it, too."""
        await self.engine.close(0)

    def close(self) -> None:
        """Close on the loop of the test if it is still open; a closed one has ended its processes."""
        loop = self._loop
        if loop is not None and not self.engine.closed:
            if loop.is_closed() or loop.is_running():
                asyncio.run(self.aclose())
            else:
                loop.run_until_complete(self.aclose())

    async def _here(self, request: EventRequest) -> Result:
        self._loop = asyncio.get_running_loop()
        return await self._fire(request)


class StandsIn:
    """A stand-in for a hook's code; as a context manager until its block ends."""

    def __init__(self, stand_ins: dict[str, RawResult], name: str, stand_in: RawResult) -> None:
        self._stand_ins = stand_ins
        self._name = name
        stand_ins[name] = stand_in

    def __enter__(self) -> None:
        return None

    def __exit__(self, *problem: object) -> Literal[False]:
        self._stand_ins.pop(self._name, None)
        return False


def _collect(run: Run) -> None:
    runs = _RUNS.get()
    if runs is not None:
        runs.append(run)


def _with_http(handlers: Mapping[str, Handler], http: AnsweringPoster) -> Mapping[str, Handler]:
    own = {"http": http_handler(http)}
    return handlers | own if isinstance(handlers, Handlers) else {**handlers, **own}
