"""Run one agent from the command line: build it, feed it its prompts, report, close."""

import argparse
import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.build import AgentHost, AgentOptions, BuiltAgent, build_agent
from hookline.agent.hooks import EventLog
from hookline.agent.mcp.servers import McpServers
from hookline.agent.models.choose import default_model, provider_model
from hookline.agent.models.hook_models import ModelAgentRunner, ModelCompleter
from hookline.agent.models.hook_tools import HookTool, read_only_tools
from hookline.agent.models.port import ModelPort, RequestLog
from hookline.agent.ports import Listener, UserPort
from hookline.agent.session.session import Agent, PromptResult
from hookline.agent.subagents.definitions import (
    AgentDefinition,
    Definitions,
    definition_hooks,
    read_definitions,
)
from hookline.cli.commands.agent.conversation import Conversation, LineAnswers, LineAsker, LineInput
from hookline.cli.commands.agent.report import NoticeLog, ProgressLines, as_document
from hookline.cli.commands.agent.untrusted import Waiting, waiting_in
from hookline.cli.engines import (
    chosen_dialect,
    command_engine,
    report_diagnostics,
    with_flag_hooks,
    working_directory,
)
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.config.trust.trust import Options as TrustOptions
from hookline.config.trust.trust import Trust
from hookline.handlers.process.pool import Processes
from hookline.model.hook import Hook
from hookline.model.safe_text import printable

_STOPPED = "stopped; Ctrl-C once more, or /exit, leaves"
#: Seconds that background hooks still have after an interrupt.
_HURRIED_SECONDS = 0.5
_STATUS = {"completed": ExitStatus.OK, "interrupted": ExitStatus.INTERRUPTED}


async def run(args: argparse.Namespace) -> ExitStatus:
    cwd, env = _real(working_directory(args.cwd)), dict(os.environ)
    defined = _definition(args)
    model = args.model or (defined.root.model if defined else None) or default_model(env)
    port = RequestLog(provider_model(model, base_url=args.base_url, env=env), keep=args.json)
    lines = _lines(args)
    log, processes = EventLog(keep=args.json), Processes(containment="subreaper")
    servers = McpServers()
    engine = _engine(port, model, processes, servers, read_only_tools(cwd, env))
    engine.journal.subscribe(log.ran)
    asker = LineAsker(lines, note) if lines is not None else None
    result: PromptResult | None = None
    try:
        trust = _trust(engine, args, cwd)
        terminal = lines is not None and sys.stdin.isatty()
        user = UserPort(listener=_listener(args), asker=asker, confirmer=asker if terminal else None)
        own = _definition_hooks(engine, defined)
        loaded, extra = _load_hooks(engine, args, cwd, own, trust)
        report_diagnostics(loaded.diagnostics)
        if await _gains_trust(engine, args, cwd, loaded, user):
            # With everything that counts now: what was not trusted was read apart from the rest.
            _, extra = _load_hooks(engine, args, cwd, own, trust)
        host = AgentHost(
            engine=None if args.no_hooks else engine,
            model=port,
            processes=processes,
            env=env,
            user=user,
            log=log,
            answers=None if asker is None else LineAnswers(asker),
            servers=servers,
            extra_hooks=extra,
            live=args.config is None and args.dialect is None,
            terminal=terminal,
            trust=trust,
        )
        ready, result = await _sessions(_options(args, cwd, model, defined), host, args, lines)
    finally:
        await _close_engine(engine, result, print_answer=lines is None and not args.json)
        await processes.close()
        await port.close()
    if args.json:
        show(as_document(ready.agent, result, log, port.requests, engine.journal), as_json=True)
    if result is None:
        return _no_prompt(args)
    return _STATUS.get(result.status, ExitStatus.PROBLEM)


def _real(directory: str) -> str:
    """Tools resolve links, and files they find must not seem to be outside of the project."""
    return os.path.realpath(directory)


async def _sessions(
    options: AgentOptions, host: AgentHost, args: argparse.Namespace, lines: LineInput | None
) -> tuple[BuiltAgent, PromptResult | None]:
    """One session, and those that are resumed from it."""
    prompts, setup = list(args.words), args.setup
    while True:
        ready = build_agent(options, host)
        report_diagnostics(ready.settings.diagnostics)
        result = await _session(ready, prompts, args, lines, setup)
        if ready.agent.resume_id is None:
            return ready, result
        options = replace(options, resume=ready.agent.resume_id, fork=False)
        prompts, setup = list(ready.agent.queue), None


async def _session(
    ready: BuiltAgent,
    prompts: list[str],
    args: argparse.Namespace,
    lines: LineInput | None,
    setup: str | None,
) -> PromptResult | None:
    """Start, every prompt, the end. Ctrl-C stops what is being done; the session still ends properly."""
    agent = ready.agent
    for prompt in prompts:
        agent.submit(prompt)
    task = asyncio.ensure_future(_play(ready, args, lines, setup))
    interrupts = _Interrupts(agent, task, talks=lines is not None and sys.stdin.isatty(), say=note)
    with interrupts.handled():
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await ready.end(agent.leaving or "other")
            await ready.close()
    if not interrupts.left:
        return task.result()
    result = None if task.cancelled() else task.result()
    return PromptResult(
        status="interrupted", why="interrupted", text=result.text if result is not None else ""
    )


async def _play(
    ready: BuiltAgent, args: argparse.Namespace, lines: LineInput | None, setup: str | None
) -> PromptResult | None:
    await ready.begin(setup)
    asker = ready.agent.user.asker
    if lines is None or not isinstance(asker, LineAsker):
        return await ready.agent.run()
    show_answer = _show_nothing if args.json else _show_answer
    conversation = Conversation(ready.agent, lines, asker, show_answer, eager=sys.stdin.isatty())
    return await conversation.run()


def _lines(args: argparse.Namespace) -> LineInput | None:
    """Prompts come from standard input on a terminal, and if no prompt was given."""
    talks = not (args.print or args.json) and sys.stdin.isatty()
    return LineInput(0) if talks or not args.words else None


def _listener(args: argparse.Namespace) -> Listener:
    return NoticeLog() if args.json else ProgressLines()


def _engine(
    port: ModelPort, model: str, processes: Processes, servers: McpServers, looking: Sequence[HookTool]
) -> Engine:
    return command_engine(
        completer=ModelCompleter(port, model),
        agent_runner=ModelAgentRunner(port, model, looking),
        processes=processes,
        mcp=servers,
        caller="hookline agent",
    )


def _no_prompt(args: argparse.Namespace) -> ExitStatus:
    """Fine for a conversation that is left at once; with --print the prompt is missing."""
    if not args.print:
        return ExitStatus.OK
    note("hookline agent: no prompt: pass one, or write prompts to standard input, one per line")
    return ExitStatus.PROBLEM


def _show_answer(result: PromptResult) -> None:
    if result.text or result.why:
        show(printable(result.text or result.why))


def _show_nothing(result: PromptResult) -> None:
    del result


class _Defined(Struct, frozen=True):
    """An agent definition, and which of its agents runs."""

    definitions: Definitions
    root: AgentDefinition


def _definition(args: argparse.Namespace) -> _Defined | None:
    if args.definition is None:
        return None
    definitions = read_definitions(args.definition)
    report_diagnostics(definitions.notices)
    return _Defined(definitions, definitions.root(args.agent))


def _options(args: argparse.Namespace, cwd: str, model: str, defined: _Defined | None) -> AgentOptions:
    if args.fork and args.resume is None:
        raise RequestError("--fork needs --resume: say which session to continue")
    root = defined.root if defined is not None else AgentDefinition()
    return AgentOptions(
        cwd=cwd,
        model=model,
        system=root.instruction or None,
        tools=root.tools,
        types=defined.definitions.types(root) if defined is not None else (),
        trust=args.trust,
        mode=args.mode,
        allow=tuple(args.allow or ()),
        ask=tuple(args.ask or ()),
        deny=tuple(args.deny or ()),
        directories=tuple(os.path.join(cwd, each) for each in args.add_dir or ()),
        max_iterations=args.max_iterations or root.max_iterations,
        max_tool_calls=args.max_tool_calls,
        compact_at=args.compact_at,
        resume=args.resume,
        fork=args.fork,
    )


def _trust(engine: Engine, args: argparse.Namespace, cwd: str) -> Trust:
    """What the user has trusted of the project. Files that were named one by one need no more."""
    trust = engine.trust_in(cwd, TrustOptions(vouched=args.trust))
    trust.vouch_for_files(args.config or ())
    return trust


async def _gains_trust(
    engine: Engine, args: argparse.Namespace, cwd: str, loaded: Loaded, user: UserPort
) -> bool:
    """Ask, at a terminal, about what the user has not trusted, and say what is not used without it."""
    trust = engine.trust
    if trust is None:
        return False
    names = None if args.dialect is None or args.config is not None else [args.dialect]
    in_force = replace(loaded, hooks=() if args.no_hooks else engine.hooks)
    waiting = waiting_in(cwd, engine, trust, in_force, names, hooks=not args.no_hooks)
    for problem in trust.problems:
        user.warn(problem)
    if not waiting:
        return False
    asker = user.asker if user.confirmer is not None and sys.stderr.isatty() else None
    if isinstance(asker, LineAsker) and await _agrees(waiting, asker):
        return True
    user.warn(waiting.notice)
    return False


async def _agrees(waiting: Waiting, asker: LineAsker) -> bool:
    from hookline.cli.commands.agent.trust_question import ask_about  # only where there is something to ask

    return await ask_about(waiting, partial(_typed, asker), note) != "no"


async def _typed(asker: LineAsker, question: str) -> str | None:
    """The line that the user types to a question; None for Ctrl-C and at the end of the input."""
    typing = asyncio.ensure_future(asker.next_line())
    left: list[bool] = []

    def leave() -> None:
        left.append(True)
        typing.cancel()

    with _on_signals(typing.cancel, leave):
        # What was typed before the question was there is not an answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        note(question)
        await asyncio.wait({typing})
    if left:
        raise KeyboardInterrupt
    return None if typing.cancelled() else typing.result()


def _load_hooks(
    engine: Engine, args: argparse.Namespace, cwd: str, own: Sequence[Hook], trust: Trust
) -> tuple[Loaded, tuple[Hook, ...]]:
    """Put everything in force; returns also the hooks that are in no file, so that a live reload keeps them.

    `own` are those of a definition.
    """
    if args.no_hooks:
        return Loaded(), ()
    chosen = chosen_dialect(engine, args.dialect, args.config)
    if args.config is not None:
        loaded = engine.loader.files(args.config, args.dialect)
    else:
        names = None if args.dialect is None else [args.dialect]
        loaded = engine.loader.directory(cwd, names, trust=trust)
    engine.use(loaded)
    # A definition in a place where its agent looks was read as hooks already, for another main agent.
    files = {hook.where.file for hook in own}
    hooks = [*(hook for hook in loaded.hooks if hook.where.file not in files), *own]
    in_force = with_flag_hooks(engine, hooks, args.hook or (), chosen)
    engine.swap(in_force)
    in_files = {id(hook) for hook in loaded.hooks}
    return loaded, tuple(hook for hook in in_force if id(hook) not in in_files)


def _definition_hooks(engine: Engine, defined: _Defined | None) -> Sequence[Hook]:
    if defined is None:
        return ()
    hooks, notices = definition_hooks(engine, defined.definitions, defined.root.name)
    report_diagnostics(notices)
    return hooks


class _Interrupts:
    """Ctrl-C and other signals during one session. If the user `talks` at a terminal, Ctrl-C stops only the turn."""

    def __init__(
        self, agent: Agent, task: "asyncio.Future[Any]", *, talks: bool, say: Callable[[str], None]
    ) -> None:
        self._agent = agent
        self._task = task
        self._talks = talks
        self._say = say
        self._stopped_turn: int | None = None
        #: Whether a signal ended the session.
        self.left = False

    def stop(self) -> None:
        agent = self._agent
        if not self._talks or not agent.busy or self._stopped_turn == agent.turns:
            self.leave()
            return
        self._stopped_turn = agent.turns
        agent.queue.clear()
        agent.interrupt()
        self._say(_STOPPED)

    def leave(self) -> None:
        """Stop what is being done, and end the session properly."""
        self.left = True
        self._agent.queue.clear()
        self._agent.leaving = self._agent.leaving or "other"
        # A turn settles itself. Anything else, such as hooks of the start or waiting for a wake, is cancelled.
        if not self._agent.interrupt():
            self._task.cancel()

    @contextmanager
    def handled(self) -> Generator[None]:
        """While signals are handled here; closing the terminal sends one, too."""
        with _on_signals(self.stop, self.leave):
            yield


async def _close_engine(engine: Engine, result: PromptResult | None, *, print_answer: bool) -> None:
    """Background hooks have time to end, unless the user interrupts that, too.

    The answer is printed once signals are handled: from then on, an interrupt ends the wait and not the command.
    """
    interrupted = result is not None and result.status == "interrupted"
    closing = asyncio.ensure_future(engine.close(_HURRIED_SECONDS if interrupted else None))
    with _on_signals(closing.cancel, closing.cancel):
        if result is not None and print_answer:
            _show_answer(result)
        await asyncio.wait({closing})
    if closing.cancelled():
        await engine.close(0.0)
    else:
        closing.result()


@contextmanager
def _on_signals(stop: Callable[[], object], leave: Callable[[], object]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    signals = {signal.SIGINT: stop, signal.SIGTERM: leave, signal.SIGHUP: leave}
    for number, react in signals.items():
        loop.add_signal_handler(number, react)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
