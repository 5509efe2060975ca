"""Ctrl-C and other signals that want something of an agent: stop what it does, or leave."""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.build import Parts, Ready, Wanted, make_agent
from hookline.agent.hooks import EventLog
from hookline.agent.mcp.servers import McpServers
from hookline.agent.models.choose import default_model, provider_model
from hookline.agent.models.hook_models import HookTool, ModelAgentRunner, ModelCompleter
from hookline.agent.models.hook_tools import looking_tools
from hookline.agent.models.port import ModelPort, RequestLog
from hookline.agent.ports import Listener
from hookline.agent.session.session import Agent, Told
from hookline.agent.subagents.definitions import (
    AgentDefinition,
    Definitions,
    definition_hooks,
    read_definitions,
)
from hookline.cli.commands.agent.conversation import Conversing, LineAnswers, LineAsker, LineInput
from hookline.cli.commands.agent.report import Silent, Transcribing, as_document
from hookline.cli.engines import chosen_dialect, command_engine, with_flag_hooks
from hookline.cli.output import show, tell
from hookline.cli.requests import RequestError, working_directory
from hookline.config.engine import Engine
from hookline.handlers.process.pool import Processes
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook
from hookline.model.safe_text import printable

_STAYS = "stopped; Ctrl-C once more, or /exit, leaves"


class Stopping:
    """For one session. `talks`: the user is at a terminal, so Ctrl-C in a turn stops that turn alone."""

    def __init__(
        self, agent: Agent, playing: "asyncio.Future[Any]", *, talks: bool, say: Callable[[str], None]
    ) -> None:
        self._agent = agent
        self._playing = playing
        self._talks = talks
        self._say = say
        self._stopped_turn: int | None = None
        #: Whether the session was told to end.
        self.left = False

    def stop(self) -> None:
        agent = self._agent
        if not self._talks or not agent.busy or self._stopped_turn == agent.turns:
            self.leave()
            return
        self._stopped_turn = agent.turns
        agent.queue.clear()
        agent.interrupt()
        self._say(_STAYS)

    def leave(self) -> None:
        """What is done ends now, and the session ends as it should."""
        self.left = True
        self._agent.queue.clear()
        self._agent.leaving = self._agent.leaving or "other"
        # A turn settles itself. What is no turn, such as hooks of the start or waiting for a wake, just ends.
        if not self._agent.interrupt():
            self._playing.cancel()

    @contextmanager
    def heard(self) -> Generator[None]:
        """While signals come here. A terminal that is closed is one of them."""
        with _on_signals(self.stop, self.leave):
            yield


async def close_engine(engine: Engine, limit: float | None) -> None:
    """Hooks in the background get their time, unless the user has none."""
    closing = asyncio.ensure_future(engine.close(limit))
    with _on_signals(closing.cancel, closing.cancel):
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


class Defined(Struct, frozen=True):
    """An agent definition, and which of its agents runs."""

    definitions: Definitions
    root: AgentDefinition


def defined_agent(args: argparse.Namespace) -> Defined | None:
    if args.definition is None:
        return None
    definitions = read_definitions(args.definition)
    tell_all(definitions.notices)
    return Defined(definitions, definitions.root(args.agent))


def wanted_agent(args: argparse.Namespace, cwd: str, model: str, defined: Defined | None) -> Wanted:
    if args.fork and args.resume is None:
        raise RequestError("--fork goes with --resume: say which session is to be gone on with")
    root = defined.root if defined is not None else AgentDefinition()
    return Wanted(
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


def load_hooks(
    engine: Engine, args: argparse.Namespace, cwd: str, defined: Defined | None
) -> tuple[Hook, ...]:
    """Put everything in force; returns the hooks that stand in no file a live reload would look for."""
    chosen = chosen_dialect(engine, args.dialect, args.config)
    loaded = engine.load(cwd, args.config, None if args.dialect is None else [args.dialect])
    tell_all(loaded.diagnostics)
    own = _of_definition(engine, defined)
    # A definition that stands where its agent looks for one was read as hooks already, for another main agent.
    files = {hook.where.file for hook in own}
    hooks = [*(hook for hook in loaded.hooks if hook.where.file not in files), *own]
    in_force = with_flag_hooks(engine, hooks, args.hook or (), chosen)
    engine.swap(in_force)
    in_files = {id(hook) for hook in loaded.hooks}
    return tuple(hook for hook in in_force if id(hook) not in in_files)


def _of_definition(engine: Engine, defined: Defined | None) -> Sequence[Hook]:
    if defined is None:
        return ()
    hooks, said = definition_hooks(engine, defined.definitions, defined.root.name)
    tell_all(said)
    return hooks


def tell_all(diagnostics: Sequence[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        tell(printable(str(diagnostic)))


FINE, PROBLEM, INTERRUPTED = 0, 1, 130
#: Seconds that background hooks still have when the user wants to be gone.
_HURRY = 0.5
_STATUS = {"completed": FINE, "interrupted": INTERRUPTED}


async def run_agent(args: argparse.Namespace) -> int:
    try:
        return await _run(args)
    except (RequestError, HooklineError) as problem:
        tell(printable(f"hookline agent: {problem}"))
        return PROBLEM


async def _run(args: argparse.Namespace) -> int:
    cwd, env = _real(working_directory(args.cwd)), dict(os.environ)
    defined = defined_agent(args)
    model = args.model or (defined.root.model if defined else None) or default_model(env)
    port = RequestLog(provider_model(model, base_url=args.base_url, env=env), keep=args.json)
    lines = _lines(args)
    log, processes = EventLog(keep=args.json), Processes(containment="subreaper")
    servers = McpServers()
    engine = _engine(port, model, processes, servers, looking_tools(cwd, env))
    engine.journal.subscribe(log.ran)
    asker = LineAsker(lines, tell) if lines is not None else None
    told: Told | None = None
    try:
        extra = () if args.no_hooks else load_hooks(engine, args, cwd, defined)
        parts = Parts(
            engine=None if args.no_hooks else engine,
            model=port,
            processes=processes,
            env=env,
            listener=_listener(args),
            log=log,
            asker=asker,
            answers=None if asker is None else LineAnswers(asker),
            servers=servers,
            extra_hooks=extra,
            live=args.config is None and args.dialect is None,
            terminal=lines is not None and sys.stdin.isatty(),
        )
        ready, told = await _sessions(wanted_agent(args, cwd, model, defined), parts, args, lines)
        if told is not None and lines is None and not args.json:
            _answer(told)
    finally:
        await close_engine(engine, _HURRY if told is not None and told.status == "interrupted" else None)
        await processes.close()
        await port.close()
    if args.json:
        show(as_document(ready.agent, told, log, port.requests, engine.journal), as_json=True)
    if told is None:
        return _nothing_played(args)
    return _STATUS.get(told.status, PROBLEM)


def _real(directory: str) -> str:
    """Tools follow links, and what they find must not seem to be elsewhere."""
    return os.path.realpath(directory)


async def _sessions(
    wanted: Wanted, parts: Parts, args: argparse.Namespace, lines: LineInput | None
) -> tuple[Ready, Told | None]:
    """One session, and those that are taken up from it."""
    prompts, setup = list(args.words), args.setup
    while True:
        ready = make_agent(wanted, parts)
        tell_all(ready.settings.diagnostics)
        told = await _session(ready, prompts, args, lines, setup)
        if ready.agent.goes_on_with is None:
            return ready, told
        wanted = replace(wanted, resume=ready.agent.goes_on_with, fork=False)
        prompts, setup = list(ready.agent.queue), None


async def _session(
    ready: Ready, prompts: list[str], args: argparse.Namespace, lines: LineInput | None, setup: str | None
) -> Told | None:
    """Start, every prompt, the end. Ctrl-C stops what is being done; the session still ends as it should."""
    agent = ready.agent
    for prompt in prompts:
        agent.submit(prompt)
    playing = asyncio.ensure_future(_played(ready, args, lines, setup))
    stopping = Stopping(agent, playing, talks=lines is not None and sys.stdin.isatty(), say=tell)
    with stopping.heard():
        try:
            await asyncio.wait({playing})
        finally:
            playing.cancel()
            await ready.end(agent.leaving or "other")
            await ready.close()
    if not stopping.left:
        return playing.result()
    told = None if playing.cancelled() else playing.result()
    return Told(status="interrupted", why="interrupted", text=told.text if told is not None else "")


async def _played(
    ready: Ready, args: argparse.Namespace, lines: LineInput | None, setup: str | None
) -> Told | None:
    await ready.begin(setup)
    if lines is None or not isinstance(ready.asker, LineAsker):
        return await ready.agent.run()
    tell_answer = _quiet if args.json else _answer
    conversing = Conversing(ready.agent, lines, ready.asker, tell_answer, eager=sys.stdin.isatty())
    return await conversing.run()


def _lines(args: argparse.Namespace) -> LineInput | None:
    """A conversation by lines: on a terminal, and where no prompt was given."""
    talks = not (args.print or args.json) and sys.stdin.isatty()
    return LineInput(0) if talks or not args.words else None


def _listener(args: argparse.Namespace) -> Listener:
    return Silent() if args.json else Transcribing()


def _engine(
    port: ModelPort, model: str, processes: Processes, servers: McpServers, looking: Sequence[HookTool]
) -> Engine:
    return command_engine(
        completer=ModelCompleter(port, model),
        agent_runner=ModelAgentRunner(port, model, looking),
        processes=processes,
        mcp=servers,
    )


def _nothing_played(args: argparse.Namespace) -> int:
    """Fine for a conversation; whoever wanted an answer printed forgot the prompt."""
    if not args.print:
        return FINE
    tell("hookline agent: no prompt was given: name one, or write prompts to standard input, one a line")
    return PROBLEM


def _answer(told: Told) -> None:
    if told.text or told.why:
        show(printable(told.text or told.why))


def _quiet(told: Told) -> None:
    del told
