"""One agent, run from the command line: made, fed its prompts, reported, closed."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from msgspec.structs import replace

from hookline.agent.making import Parts, Ready, Wanted, make_agent
from hookline.agent.mcp.servers import McpServers
from hookline.agent.modelport import ModelPort
from hookline.agent.outside import Listener
from hookline.agent.providers.choosing import default_model, provider_model
from hookline.agent.providers.for_hooks import HookTool, ModelAgentRunner, ModelCompleter
from hookline.agent.providers.looking import looking_tools
from hookline.agent.recording import EventLog
from hookline.agent.requests import RequestLog
from hookline.agent.session import Told
from hookline.cli.agent_answers import LineAnswers
from hookline.cli.agent_conversation import Conversing, LineAsker
from hookline.cli.agent_report import as_document
from hookline.cli.agent_screen import Silent, Transcribing
from hookline.cli.agent_stopping import Stopping, close_engine
from hookline.cli.agent_wanted import defined_agent, load_hooks, tell_all, wanted_agent
from hookline.cli.fire_request import working_directory
from hookline.cli.fire_settings import RequestError
from hookline.cli.line_input import LineInput
from hookline.cli.output import show, tell
from hookline.cli.sources import command_engine
from hookline.config.embedding import Engine
from hookline.handlers.process import Processes
from hookline.model.errors import HooklineError
from hookline.model.safetext import printable

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
