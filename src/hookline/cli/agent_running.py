"""One agent, run from the command line: made, fed its prompts, reported, closed."""

import argparse
import asyncio
import os
import signal
import sys
from typing import Any

from msgspec import Struct

from hookline.agent.definition_hooks import definition_hooks
from hookline.agent.definitions import AgentDefinition, Definitions, read_definitions
from hookline.agent.making import Parts, Ready, Wanted, make_agent
from hookline.agent.modelport import ModelPort
from hookline.agent.models import Models
from hookline.agent.outside import Listener
from hookline.agent.providers.choosing import default_model, provider_model
from hookline.agent.recording import EventLog
from hookline.agent.requests import RequestLog
from hookline.agent.session import Told
from hookline.cli.agent_conversation import Conversing, LineAsker
from hookline.cli.agent_report import as_document
from hookline.cli.agent_screen import Silent, Transcribing
from hookline.cli.fire_request import working_directory
from hookline.cli.fire_settings import RequestError
from hookline.cli.line_input import LineInput
from hookline.cli.output import show, tell
from hookline.cli.sources import chosen_dialect, command_engine, with_flag_hooks
from hookline.config.embedding import Engine
from hookline.handlers.process import Processes
from hookline.model.errors import HooklineError
from hookline.model.safetext import printable

FINE, PROBLEM, INTERRUPTED = 0, 1, 130
_STATUS = {"completed": FINE, "interrupted": INTERRUPTED}


async def run_agent(args: argparse.Namespace) -> int:
    try:
        return await _run(args)
    except (RequestError, HooklineError) as problem:
        tell(printable(f"hookline agent: {problem}"))
        return PROBLEM


async def _run(args: argparse.Namespace) -> int:
    cwd = working_directory(args.cwd)
    talks = not (args.print or args.json) and sys.stdin.isatty()
    lines = LineInput(0) if talks or not args.words else None
    asker = LineAsker(lines, tell) if lines is not None else None
    env = dict(os.environ)
    defined = _definition(args)
    model = args.model or (defined.root.model if defined else None) or default_model(env)
    port = RequestLog(
        Models(
            model,
            provider_model(model, base_url=args.base_url, env=env),
            lambda name: provider_model(name, base_url=args.base_url, env=env),
        )
    )
    listener: Listener = Silent() if args.json else Transcribing()
    log = EventLog()
    processes = Processes(containment="subreaper")
    engine = _engine(port, model, processes)
    try:
        _load(engine, args, cwd, defined)
        engine.journal.subscribe(log.ran)
        ready = make_agent(
            Wanted(
                cwd=cwd,
                model=model,
                **_defined(defined, args),
                mode=args.mode,
                allow=tuple(args.allow or ()),
                ask=tuple(args.ask or ()),
                deny=tuple(args.deny or ()),
                directories=tuple(os.path.join(cwd, each) for each in args.add_dir or ()),
                max_tool_calls=args.max_tool_calls,
                compact_at=args.compact_at,
                resume=args.resume,
                fork=args.fork,
            ),
            Parts(
                engine=engine,
                model=port,
                processes=processes,
                env=env,
                listener=listener,
                log=log,
                asker=asker,
            ),
        )
        told = await _played(ready, args, lines, asker)
    finally:
        await engine.close()
        await port.close()
    if args.json:
        show(as_document(ready.agent, told, log, port.requests, engine.journal), as_json=True)
    elif told is not None and lines is None:
        _answer(told)
    return PROBLEM if told is None else _STATUS.get(told.status, PROBLEM)


def _engine(port: ModelPort, model: str, processes: Processes) -> Engine:
    from hookline.agent.providers.for_hooks import ModelAgentRunner, ModelCompleter

    completer = ModelCompleter(port, model)
    return command_engine(
        completer=completer, agent_runner=ModelAgentRunner(port, model), processes=processes
    )


class Defined(Struct, frozen=True):
    definitions: Definitions
    root: AgentDefinition


def _definition(args: argparse.Namespace) -> Defined | None:
    if args.definition is None:
        return None
    definitions = read_definitions(args.definition)
    for notice in definitions.notices:
        tell(printable(str(notice)))
    return Defined(definitions, definitions.root(args.agent))


def _defined(defined: Defined | None, args: argparse.Namespace) -> dict[str, Any]:
    """What a definition says of its agent; hooks that its dialect makes of the flags are not made twice."""
    if defined is None:
        return {"max_iterations": args.max_iterations}
    root = defined.root
    native = defined.definitions.whose == "native"
    return {
        "system": root.instruction or None,
        "types": defined.definitions.types(root),
        "max_iterations": args.max_iterations or root.max_iterations,
        "add_date": native and root.add_date,
        "add_environment_info": native and root.add_environment_info,
        "add_prompt_files": root.add_prompt_files if native else (),
    }


def _load(engine: Engine, args: argparse.Namespace, cwd: str, defined: Defined | None) -> None:
    chosen = chosen_dialect(engine, args.dialect, args.config)
    loaded = engine.load(cwd, args.config, None if args.dialect is None else [args.dialect])
    for diagnostic in loaded.diagnostics:
        tell(printable(str(diagnostic)))
    hooks = list(loaded.hooks)
    if defined is not None:
        own, said = definition_hooks(engine, defined.definitions, defined.root.name)
        known = {hook.where.file for hook in hooks}
        hooks += [hook for hook in own if hook.where.file not in known]
        for diagnostic in said:
            tell(printable(str(diagnostic)))
    engine.swap(with_flag_hooks(engine, hooks, args.hook or (), chosen))


async def _played(
    ready: Ready, args: argparse.Namespace, lines: LineInput | None, asker: LineAsker | None
) -> Told | None:
    """Start, every prompt, the end. Ctrl-C stops the turn; the session still ends as it should."""
    agent = ready.agent
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()

    def stop() -> None:
        interrupted.set()
        agent.queue.clear()
        if not agent.interrupt() and agent.leaving is None:
            agent.leaving = "other"

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    told: Told | None = None
    try:
        for prompt in args.words:
            agent.submit(prompt)
        await ready.begin(args.setup)
        if lines is None or asker is None:
            told = await agent.run()
        else:
            tell_answer = _quiet if args.json else _answer
            told = await Conversing(agent, lines, asker, tell_answer, eager=sys.stdin.isatty()).run()
    finally:
        await agent.end(agent.leaving or "other")
        await ready.close()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    if interrupted.is_set():
        return Told(status="interrupted", why="interrupted", text=told.text if told is not None else "")
    return told


def _answer(told: Told) -> None:
    if told.text or told.why:
        show(printable(told.text or told.why))


def _quiet(told: Told) -> None:
    del told
