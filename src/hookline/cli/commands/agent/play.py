"""Run one agent from the command line: build it, feed it its prompts, report, close."""

import argparse
import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.build import AgentHost, AgentOptions, BuiltAgent, build_agent
from hookline.agent.hooks import EventLog
from hookline.agent.mcp.servers import McpServers
from hookline.agent.models.choose import DEMO, ModelSetupError, default_model, provider_model
from hookline.agent.models.hook_models import ModelAgentRunner, ModelCompleter
from hookline.agent.models.hook_tools import HookTool, read_only_tools
from hookline.agent.models.port import ModelPort, RequestLog
from hookline.agent.ports import Choice
from hookline.agent.session.session import Agent, Command, PromptTurn
from hookline.agent.subagents.definitions import (
    AgentDefinition,
    AgentDefinitions,
    definition_hooks,
    read_definitions,
)
from hookline.agent.user_interface import UserInterface
from hookline.cli.commands.agent.report import as_document, result_line
from hookline.cli.commands.agent.untrusted import UntrustedItems, waiting_in
from hookline.cli.engines import (
    chosen_dialect,
    command_engine,
    diagnostic_lines,
    with_flag_hooks,
    working_directory,
)
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.engine.memory import memory_of
from hookline.handlers.process.pool import Processes
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line
from hookline.trust.trust import Trust, TrustOptions

#: Seconds that background hooks still have after an interrupt.
_HURRIED_SECONDS = 0.5
_STATUS = {"completed": ExitStatus.OK, "interrupted": ExitStatus.INTERRUPTED}


async def play(args: argparse.Namespace, front: UserInterface) -> ExitStatus:
    """Run the command once, with any user interface."""
    cwd, env = _real(working_directory(args.cwd)), dict(os.environ)
    defined = _definition(args, front)
    model, reached = await _model(args, defined, env, front)
    keeps = args.format == "json"
    port = RequestLog(reached, keep=keeps)
    log = EventLog(front.fired, keep=keeps)
    processes, servers = Processes(containment="subreaper", warm=True), McpServers()
    engine = _engine(port, model, processes, servers, read_only_tools(cwd, env))
    memory_of(engine).all_durable = args.durable
    engine.journal.subscribe(log.ran)
    front.watch(engine)
    result: PromptTurn | None = None
    sessions: list[BuiltAgent] = []
    try:
        trust = _trust(engine, args, cwd)
        own = _definition_hooks(engine, defined, front)
        loaded, extra = _load_hooks(engine, args, cwd, own, trust)
        _report(loaded.diagnostics, front)
        if await _gains_trust(engine, args, cwd, loaded, front):
            # With everything that is trusted now: untrusted files were read separately.
            loaded, extra = _load_hooks(engine, args, cwd, own, trust)
        host = AgentHost(
            engine=None if args.no_hooks else engine,
            model=port,
            processes=processes,
            env=env,
            user=front.user,
            log=log,
            answers=front.answers,
            servers=servers,
            queue=front.queue,
            extra_hooks=extra,
            live=args.config is None and args.dialect is None,
            terminal=front.talks,
            trust=trust,
            commands=_trust_command(engine, args, cwd, loaded, front),
        )
        result = await _play_sessions(_options(args, cwd, model, defined), host, args, front, sessions)
    finally:
        await _close_engine(engine, result, front, sessions)
        await processes.close()
        await port.close()
    if args.format == "json":
        show(as_document(sessions[-1].agent, result, log, port.requests, engine.journal), as_json=True)
    elif args.format == "stream-json":
        result_line(sessions[-1].agent, result)
    if result is None:
        return _no_prompt(args)
    return _STATUS.get(result.status, ExitStatus.PROBLEM)


async def _model(
    args: argparse.Namespace, defined: "_Defined | None", env: Mapping[str, str], front: UserInterface
) -> tuple[str, ModelPort]:
    """Return the model's name, and a port to it. Where there is none, a user at a terminal is offered the demo."""
    try:
        name = args.model or (defined.root.model if defined else None) or await _default(env, front)
        return name, provider_model(name, base_url=args.base_url, env=env)
    except ModelSetupError as problem:
        choices = (
            Choice(
                "1",
                "play the demo: answers written in advance, everything else is real",
                ("y", "yes", "demo"),
            ),
            Choice("2", "leave", ("n", "no")),
        )
        why = str(problem).split("\n")
        if not front.talks or await front.choose("No model is set up", why, choices) != "1":
            raise
        return DEMO, provider_model(DEMO, env=env)


async def _default(env: Mapping[str, str], front: UserInterface) -> str:
    """Return the model that the environment names, the one chosen earlier, or the one a user with a key chooses now."""
    from hookline.agent.models import suggest  # only where no model is named

    try:
        return default_model(env)
    except ModelSetupError:
        if known := await asyncio.to_thread(suggest.remembered_model, env):
            return known
        chooser = front.user.chooser
        if chooser is None or not front.talks or not suggest.providers_with_key(env):
            raise
    listed = await asyncio.to_thread(lambda: dict(suggest.model_choices(env)))
    keys = f"a key is set for {', '.join(suggest.providers_with_key(env))}"
    key, said = await chooser.pick(
        "Which model?", [keys], [Choice(key, name) for key, name in listed.items()], words=True
    )
    if key is None:
        return default_model(env)  # which raises, and says what to set
    name = listed.get(key, said)
    provider_model(name, env=env)  # which raises if it cannot be used
    problem = await asyncio.to_thread(suggest.remember_model, name, env)
    front.note(
        f"the model cannot be remembered: {problem}"
        if problem
        else f"{name} is remembered; --model, HOOKLINE_MODEL and /model choose another one"
    )
    return name


def _real(directory: str) -> str:
    """Resolve links, as tools do: files they find must not seem to be outside of the project."""
    return os.path.realpath(directory)


async def _play_sessions(
    options: AgentOptions,
    host: AgentHost,
    args: argparse.Namespace,
    front: UserInterface,
    sessions: list[BuiltAgent],
) -> PromptTurn | None:
    """Play one session, and those that are resumed from it; each is added to `sessions`."""
    setup = args.setup
    # Before prompts that were typed already.
    front.queue.extendleft(reversed(args.words))
    while True:
        ready = build_agent(options, host)
        sessions.append(ready)
        _report(ready.settings.diagnostics, front)
        result = await _session(ready, front, setup)
        if ready.agent.resume_id is None:
            return result
        options, setup = replace(options, resume=ready.agent.resume_id, fork=False), None


async def _session(ready: BuiltAgent, front: UserInterface, setup: str | None) -> PromptTurn | None:
    """Run one session: start, every prompt, end. Ctrl-C stops the turn; the session still ends properly."""
    agent = ready.agent
    task = asyncio.ensure_future(_play(ready, front, setup))
    interrupts = _Interrupts(agent, task, front)
    with front.on_signals(interrupts.stop, interrupts.leave):
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await ready.end(agent.leaving or "other")
            await ready.close()
    if not interrupts.left:
        return task.result()
    result = None if task.cancelled() else task.result()
    return PromptTurn(status="interrupted", why="interrupted", text=result.text if result is not None else "")


async def _play(ready: BuiltAgent, front: UserInterface, setup: str | None) -> PromptTurn | None:
    front.opened(ready)
    await ready.begin(setup)
    return await front.talk(ready)


def _report(diagnostics: Iterable[Diagnostic], front: UserInterface) -> None:
    for text in diagnostic_lines(diagnostics):
        front.note(text)


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
    """Return the status without any prompt: fine for a conversation that is left at once, an error with --print."""
    if not args.print:
        return ExitStatus.OK
    note("hookline agent: no prompt: pass one, or write prompts to standard input, one per line")
    return ExitStatus.PROBLEM


class _Defined(Struct, frozen=True):
    """An agent definition, and which of its agents runs."""

    definitions: AgentDefinitions
    root: AgentDefinition


def _definition(args: argparse.Namespace, front: UserInterface) -> _Defined | None:
    if args.definition is None:
        return None
    definitions = read_definitions(args.definition)
    _report(definitions.notices, front)
    return _Defined(definitions, definitions.root(args.agent))


def _options(args: argparse.Namespace, cwd: str, model: str, defined: _Defined | None) -> AgentOptions:
    if args.fork and args.resume is None:
        raise RequestError("--fork needs --resume: say which session to continue")
    root = defined.root if defined is not None else AgentDefinition()
    return AgentOptions(
        cwd=cwd,
        model=model,
        system=root.instruction or None,
        environment=None if defined is None else False,
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
        # Nothing of the demo is worth keeping.
        keep=model != DEMO,
        resume=args.resume,
        fork=args.fork,
        walls=args.walls,
        only_hosts=tuple(args.only_host) if args.only_host is not None else None,
    )


def _trust(engine: Engine, args: argparse.Namespace, cwd: str) -> Trust:
    """Return the user's trust in the project. Files named one by one need none."""
    trust = engine.trust_in(cwd, TrustOptions(trusts_all=args.trust))
    trust.trust_files(args.config or ())
    return trust


async def _gains_trust(
    engine: Engine, args: argparse.Namespace, cwd: str, loaded: Loaded, front: UserInterface
) -> bool:
    """Ask, at a terminal, about what the user has not trusted, and report what is not used without it."""
    if engine.trust is None:
        return False
    waiting = _waiting(engine, args, cwd, engine.trust, loaded)
    for problem in engine.trust.problems:
        front.user.warn(problem)
    if not waiting:
        return False
    if front.talks:
        from hookline.cli.commands.agent.trust_question import (
            ask_about,
        )  # only if there is a question

        if await ask_about(waiting, front.note, front.choose) != "no":
            return True
    front.user.warn(waiting.notice)
    return False


def _waiting(
    engine: Engine, args: argparse.Namespace, cwd: str, trust: Trust, loaded: Loaded
) -> UntrustedItems:
    names = None if args.dialect is None or args.config is not None else [args.dialect]
    active = replace(loaded, hooks=() if args.no_hooks else engine.hooks)
    return waiting_in(cwd, engine, trust, active, names, hooks=not args.no_hooks)


def _trust_command(
    engine: Engine, args: argparse.Namespace, cwd: str, loaded: Loaded, front: UserInterface
) -> dict[str, Command]:
    """Return `/trust`, which asks the question of the start once more. `loaded` is what the start found."""
    trust = engine.trust
    if trust is None:
        return {}

    async def command(agent: Agent, argument: str) -> PromptTurn:
        from hookline.cli.commands.agent.trust_question import (
            ask_again,
        )  # few users type it

        del argument
        waiting = await asyncio.to_thread(_waiting, engine, args, cwd, trust, loaded)
        result = await ask_again(waiting, agent.user, front.note)
        if result.status == "completed" and waiting:
            # They join what is active: a file that another program changed meanwhile is not read here.
            known = set(map(id, engine.hooks))
            engine.swap((*engine.hooks, *(hook for hook in waiting.dormant if id(hook) not in known)))
        return result

    return {"trust": command}


def _load_hooks(
    engine: Engine, args: argparse.Namespace, cwd: str, own: Sequence[Hook], trust: Trust
) -> tuple[Loaded, tuple[Hook, ...]]:
    """Activate everything; return also the hooks that are in no file, so that a live reload keeps them.

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
    # A definition at a path that its agent reads was loaded as hooks already, for another main agent.
    files = {hook.where.file for hook in own}
    hooks = [*(hook for hook in loaded.hooks if hook.where.file not in files), *own]
    in_force = with_flag_hooks(engine, hooks, args.hook or (), chosen)
    engine.swap(in_force)
    in_files = {id(hook) for hook in loaded.hooks}
    return loaded, tuple(hook for hook in in_force if id(hook) not in in_files)


def _definition_hooks(engine: Engine, defined: _Defined | None, front: UserInterface) -> Sequence[Hook]:
    if defined is None:
        return ()
    hooks, notices = definition_hooks(engine, defined.definitions, defined.root.name)
    _report(notices, front)
    return hooks


class _Interrupts:
    """Ctrl-C and other signals during one session. At a terminal Ctrl-C stops only the turn."""

    def __init__(self, agent: Agent, task: "asyncio.Future[Any]", front: UserInterface) -> None:
        self._agent = agent
        self._task = task
        self._front = front
        self._stopped_turn: int | None = None
        #: True if a signal ended the session.
        self.left = False

    def stop(self) -> None:
        agent = self._agent
        if not self._front.talks or not agent.busy or self._stopped_turn == agent.turns:
            self.leave()
            return
        self._stopped_turn = agent.turns
        agent.holds = bool(agent.queue)
        agent.interrupt()
        self._front.stopped(len(agent.queue))

    def leave(self) -> None:
        """Stop the turn, and end the session properly."""
        self.left = True
        self._agent.queue.clear()
        self._agent.leaving = self._agent.leaving or "other"
        # A turn settles itself. Anything else, such as hooks of the start or waiting for a wake, is cancelled.
        if not self._agent.interrupt():
            self._task.cancel()


async def _close_engine(
    engine: Engine, result: PromptTurn | None, front: UserInterface, sessions: Sequence[BuiltAgent]
) -> None:
    """Give background hooks time to end, unless the user interrupts that, too; then show their messages.

    The last answer is shown once signals are handled: from then on, an interrupt ends the wait and not the
    command.
    """
    seconds = sessions[-1].agent.settings.background_seconds if sessions else 0.0
    interrupted = result is not None and result.status == "interrupted"
    closing = asyncio.ensure_future(engine.close(min(seconds, _HURRIED_SECONDS) if interrupted else seconds))
    with front.on_signals(closing.cancel, closing.cancel):
        front.ended(result)
        await asyncio.wait({closing})
    killed = await engine.close(0.0) if closing.cancelled() else closing.result()
    for session in sessions:
        session.agent.show_late_messages()
    if killed:
        front.user.warn(
            f"stopped: {_names(killed)} still ran in the background when the agent left; to let such hooks finish "
            "later use --durable (durable = true in a native file), to wait longer raise background_seconds "
            f"(now {seconds:g}) in the [agent] table of your settings"
        )
    if queued := engine.jobs.unfinished:
        left = f"{_names(queued)} had not ended when the agent left: queued, to be finished later"
        front.user.show("notice", f"{left} (hookline jobs shows them)")


def _names(hooks: Sequence[str]) -> str:
    return one_line(", ".join(dict.fromkeys(hooks)), 300)
