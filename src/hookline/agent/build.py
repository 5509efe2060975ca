"""Build an agent: options and settings files in; permissions, tools, transcript, hooks and session out."""

import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.conversation import Conversation, ConversationRecorder, NoRecords
from hookline.agent.hooks import AgentHooks, EngineHooks, EventLog, NoHooks, SessionHooks
from hookline.agent.mcp.config import find_servers
from hookline.agent.mcp.connection import ServerSetup
from hookline.agent.mcp.elicitation import Elicitation, ElicitationHandler
from hookline.agent.mcp.servers import McpServers
from hookline.agent.models.port import ModelPort
from hookline.agent.ports import UserPort
from hookline.agent.prompts.history import InputHistory
from hookline.agent.prompts.prepare import ProjectPrompts, denied_reads, no_hooks
from hookline.agent.prompts.prompt import PreparedPrompt, PromptContext, Router
from hookline.agent.session.changes import ChangeLog
from hookline.agent.session.commands import session_commands
from hookline.agent.session.session import Agent, Command
from hookline.agent.session.show_commands import show_commands
from hookline.agent.session.watch import ChangeLimit, FileWatch, SessionWatch, watched_names
from hookline.agent.session_hooks import Additions, CommandHooks, add_builtin_hooks
from hookline.agent.settings import AgentSettings, SettingsFound, read_settings
from hookline.agent.subagents.subagent import AgentType, SubagentConfig, SubagentTool, agent_types
from hookline.agent.subagents.worktrees import Worktrees, worktree_tools
from hookline.agent.tools.base import AgentTool, Workplace
from hookline.agent.tools.exec_guard import AgentGuard
from hookline.agent.tools.tasks import Tasks
from hookline.agent.tools.toolbox import Toolbox, core_tools
from hookline.agent.tools.user import Todo, ask_tool, plan_tool, todo_tool
from hookline.agent.tools.web.fetch import WebFetch
from hookline.agent.transcript.reader import EarlierSession
from hookline.agent.transcript.records import SessionFacts
from hookline.agent.transcript.store import SessionsStore, new_session_id
from hookline.agent.transcript.writer import TranscriptWriter
from hookline.agent.turn.includes import Includes
from hookline.agent.turn.turn import AgentParts
from hookline.config.engine import Engine
from hookline.config.protection.protected_paths import protected_in
from hookline.dialects.dialect import upward
from hookline.engine.background import LateMessage
from hookline.handlers.process.pool import Processes
from hookline.journal.file import jobs_path, state_dir
from hookline.matching.nearest import nearest
from hookline.model.errors import ConfigError, PatternError
from hookline.model.hook import Hook
from hookline.model.session_info import SessionInfo
from hookline.permissions.modes import MODES, mode_of
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions
from hookline.trust.trust import Trust, TrustOptions


class AgentOptions(Struct, frozen=True, kw_only=True):
    """Options of the caller, which override settings files."""

    cwd: str
    model: str
    mode: str | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    system: str | None = None
    environment: bool | None = None
    max_iterations: int | None = None
    max_tool_calls: int | None = None
    max_retries: int | None = None
    context_window: int | None = None
    compact_at: int | None = None
    #: The id of a session to resume, or its beginning; "last" for the newest of the project.
    resume: str | None = None
    #: Resume it under a new id.
    fork: bool = False
    #: False: no transcript is written.
    keep: bool = True
    #: Only these tools; None for all.
    tools: tuple[str, ...] | None = None
    types: tuple[AgentType, ...] = ()
    #: The user trusts everything of this project, for this run.
    trust: bool = False
    add_date: bool = False
    add_environment_info: bool = False
    add_prompt_files: tuple[str, ...] = ()
    #: Let the kernel refuse what guards over files forbid to shell commands.
    walls: bool = False
    #: The hosts that shell commands may connect to besides loopback; None for all.
    only_hosts: tuple[str, ...] | None = None


class AgentHost(Struct, frozen=True, kw_only=True, eq=False):
    """Services of the program that runs the agent. It may serve several sessions, one after another."""

    #: None: the agent runs without hooks.
    engine: Engine | None
    model: ModelPort
    processes: Processes
    env: Mapping[str, str]
    user: UserPort
    log: EventLog
    #: Answers the questions of MCP servers; None: they are dismissed.
    answers: ElicitationHandler | None = None
    #: Servers that hooks call too; None: the agent has its own.
    servers: McpServers | None = None
    tools: tuple[AgentTool, ...] = ()
    commands: Mapping[str, Command] = {}
    #: Prompts of the user that wait; None: the agent has its own.
    queue: deque[str] | None = None
    #: Hooks that are in no file the engine looks for; a live reload keeps them.
    extra_hooks: tuple[Hook, ...] = ()
    #: False: configuration files were named one by one, so changes of others are not watched.
    live: bool = True
    #: The user sits at a terminal.
    terminal: bool = False
    #: The user's trust; None: the engine's, else the trust stored for the directory.
    trust: Trust | None = None


def _no_jobs() -> None:
    """Do nothing, for an agent without an engine."""


class BuiltAgent(Struct, frozen=True, kw_only=True, eq=False):
    """An agent, and what must be closed after it."""

    agent: Agent
    tasks: Tasks
    settings: SettingsFound
    #: How the session begins: startup, resume or fork.
    source: str
    session_id: str
    watch: SessionWatch
    servers: McpServers
    #: Every tool of the session; tools of MCP servers join it.
    toolbox: Toolbox
    #: The paths that are watched from the start.
    watched: tuple[str, ...] = ()
    #: Begins to run durable hooks that other processes left, and to deliver results of this session's own.
    join_jobs: Callable[[], None] = _no_jobs
    guard: AgentGuard | None = None
    #: The model's list of steps.
    todos: Sequence[Todo] = ()

    async def begin(self, setup: str | None = None) -> None:
        """Start the session and the MCP servers, and begin to watch files."""
        if self.guard is not None:
            self.guard.report()
        self.join_jobs()
        self.servers.start(self.toolbox.add)
        await self.agent.start(self.source, setup=setup)
        await self.servers.settle()
        self.watch.start(self.watched)

    async def end(self, reason: str = "other") -> None:
        """End background work, then fire SessionEnd: no other event follows it."""
        await self.watch.close()
        try:
            await self.tasks.close()
        finally:
            await self.agent.end(reason)

    async def close(self) -> None:
        await self.watch.close()
        try:
            await self.tasks.close()
        finally:
            if self.guard is not None:
                self.guard.close()
            await self.servers.close()


def build_agent(options: AgentOptions, host: AgentHost) -> BuiltAgent:
    """Build the agent. Raises HooklineError where continuing would ignore the user's rules."""
    reader = RuleReader(home=host.env.get("HOME", ""))
    trust = _trust(options, host)
    found = read_settings(options.cwd, host.env, reader, trust)
    if found.unreadable:
        # Then it is not known which calls the user never wants made.
        raise ConfigError(found.unreadable)
    permissions = _permissions(options, host, found, reader)
    records = _open_records(options, host)
    session_hooks, join = _session_hooks(options, host, found, records.session_id)
    hooks = AgentHooks(session_hooks, host.user, host.log)
    files = FileWatch(ChangeLimit(host.user.warn))
    settings = _settings(options, found)
    toolbox = Toolbox(options.tools)
    parts = AgentParts(
        settings=settings,
        model=host.model,
        hooks=hooks,
        conversation=Conversation(settings.system, records.records),
        tools=toolbox.offered,
        permissions=permissions,
        workplace=Workplace(hooks, options.cwd, env=host.env, files=files),
        user=host.user,
        trust=trust,
    )
    guard = AgentGuard(host.processes, permissions, hooks, host.user, host.env, walls=options.walls,
        only_hosts=options.only_hosts,
    )  # fmt: skip
    parts.workplace.guard = guard
    servers, found = _servers(options, host, found, hooks, trust)
    tasks = Tasks(hooks, on_done=lambda done: hooks.inbox.put(LateMessage(kind="context", text=done.text)))
    worktrees = Worktrees(_project(options.cwd))
    changes, todos = ChangeLog(), list[Todo]()

    async def leave_plan() -> str:
        return await agent.leave_plan()

    subagents = SubagentConfig(
        parent=parts,
        toolbox=toolbox,
        types=_types(options),
        records=_subagent_records(records, options.cwd),
        worktrees=worktrees,
    )
    toolbox.add(
        (
            *core_tools(tasks, host.processes, changes.note),
            SubagentTool(subagents),
            *worktree_tools(worktrees),
            WebFetch(found.table.local_hosts).tool(),
            plan_tool(leave_plan),
            todo_tool(todos),
            ask_tool(host.user),
            *host.tools,
        )
    )
    _warn_of_unknown_tools(options, toolbox, host.user)
    prompts = _prompts(options, host, found, parts, join)
    store = SessionsStore(host.env, options.cwd)
    commands = {
        **session_commands(worktrees, prompts, host.engine, store),
        **show_commands(tasks, servers, changes),
        **host.commands,
    }
    agent = Agent(parts, prompts, commands, host.queue, changes)
    if records.past is not None:
        agent.restore(records.past)
    names = watched_names(host.engine, options.cwd) if host.engine is not None else []
    return BuiltAgent(
        agent=agent,
        tasks=tasks,
        settings=found,
        source=records.source,
        session_id=records.session_id,
        servers=servers,
        toolbox=toolbox,
        watch=SessionWatch(agent, files, host.engine if host.live else None, host.extra_hooks),
        watched=(*names, *(parts.workplace.path(each) for each in found.table.watch)),
        join_jobs=partial(_join_jobs, session_hooks, records.past),
        guard=guard,
        todos=todos,
    )


# -- hooks and trust --------------------------------------------------------------------------------------


def _session_hooks(
    options: AgentOptions, host: AgentHost, found: SettingsFound, session_id: str
) -> tuple[SessionHooks, Callable[[PreparedPrompt], Awaitable[Sequence[str]]]]:
    """Return the session's hooks, and the function by which those of a command or skill join them."""
    info: dict[str, Any] = {"project_dir": _project(options.cwd), "cwd": options.cwd}
    if host.engine is None:
        return NoHooks(SessionInfo(session_id=session_id, **info)), no_hooks
    additions = Additions(
        date=options.add_date or found.table.add_date,
        environment=options.add_environment_info or found.table.add_environment_info,
        files=(*options.add_prompt_files, *found.table.add_prompt_files),
    )
    session = host.engine.session(session_id, **info)
    hooks = EngineHooks(session, partial(add_builtin_hooks, additions))
    return hooks, CommandHooks(host.engine, session, options.cwd).join


def _join_jobs(hooks: SessionHooks, past: EarlierSession | None) -> None:
    if isinstance(hooks, EngineHooks):
        engine = hooks.session.engine
        # Without a queue there is nothing to poll.
        if os.path.lexists(jobs_path(engine.env)):
            engine.jobs.adopt()
        engine.jobs.wakes.join(hooks.session, past.wakes if past is not None else ())


def _trust(options: AgentOptions, host: AgentHost) -> Trust:
    known = host.trust or (host.engine.trust if host.engine is not None else None)
    return known or Trust(options.cwd, host.env, TrustOptions(trusts_all=options.trust))


def _servers(
    options: AgentOptions, host: AgentHost, found: SettingsFound, hooks: AgentHooks, trust: Trust
) -> tuple[McpServers, SettingsFound]:
    """Return the MCP servers that may be used, not started yet. Problems with their entries join the diagnostics."""
    servers = host.servers if host.servers is not None else McpServers()
    entries = find_servers(options.cwd, host.env, found.documents, trust)
    servers.configure(
        entries.specs,
        ServerSetup(
            env=host.env,
            cwd=options.cwd,
            watchdog=host.processes.watchdog,
            answers=Elicitation(hooks, host.user, host.answers),
            report=host.user.warn,
        ),
        entries.untrusted,
    )
    return servers, replace(found, diagnostics=(*found.diagnostics, *entries.diagnostics))


# -- settings ---------------------------------------------------------------------------------------------


def _settings(options: AgentOptions, found: SettingsFound) -> AgentSettings:
    names = AgentSettings.__struct_fields__
    values = {name: _first_set(name, options, found.table) for name in names}
    given = {name: value for name, value in values.items() if value is not None}
    return AgentSettings(**given)


def _first_set(name: str, *records: object) -> Any:
    """Return the first value that is set; 0 is one."""
    return next((value for each in records if (value := getattr(each, name, None)) is not None), None)


def _permissions(
    options: AgentOptions, host: AgentHost, found: SettingsFound, reader: RuleReader
) -> Permissions:
    flags, problems = RuleSet.parse(
        options.allow, options.ask, options.deny, source="the command line", reader=reader
    )
    if problems:
        raise PatternError("--allow", "; ".join(problems))
    mode = options.mode or found.mode or "default"
    if mode_of(mode) is None:
        raise PatternError(mode, f"unknown mode; there are {', '.join(MODES)}")
    return Permissions(
        {**found.layers, "flags": flags},
        mode=mode,
        directories=(*found.directories, *options.directories),
        root=options.cwd,
        reader=reader,
        # Settings files above the working directory have rules for what is beside them.
        above=upward(os.path.abspath(options.cwd))[1:],
        protected=protected_in(
            [options.cwd], host.env, (*(host.engine.hooks if host.engine else ()), *host.extra_hooks)
        ),
    )


def _types(options: AgentOptions) -> Mapping[str, AgentType]:
    """Return the kinds of subagents. One without a list of tools has those of its caller."""
    return {
        name: kind if kind.tools is not None else replace(kind, tools=options.tools)
        for name, kind in agent_types(options.types).items()
    }


def _warn_of_unknown_tools(options: AgentOptions, toolbox: Toolbox, user: UserPort) -> None:
    for names in (options.tools, *(kind.tools for kind in options.types)):
        for name in names or ():
            if name not in toolbox.all and not name.startswith("mcp__") and not name.endswith("*"):
                close = nearest(name, toolbox.all)
                hint = f"did you mean {close}?" if close else f"there are {', '.join(toolbox.all)}"
                user.warn(f"unknown tool {name!r}; {hint}")


# -- transcripts and prompts ------------------------------------------------------------------------------


class _OpenRecords(Struct, frozen=True, kw_only=True, eq=False):
    records: ConversationRecorder
    session_id: str
    source: str = "startup"
    past: EarlierSession | None = None


def _open_records(options: AgentOptions, host: AgentHost) -> _OpenRecords:
    """Open the transcript of the session: new, resumed, or a copy of another one."""
    store = SessionsStore(host.env, options.cwd)
    report = host.user.warn
    facts = SessionFacts(cwd=options.cwd, model=options.model)
    session_id = new_session_id()
    if options.resume is None:
        if not options.keep:
            return _OpenRecords(records=NoRecords(), session_id=session_id)
        transcript = TranscriptWriter.create(store.directory, session_id, facts, report=report)
        return _OpenRecords(records=transcript, session_id=session_id)
    stored = store.last() if options.resume == "last" else store.find(options.resume)
    transcript = TranscriptWriter.resume(stored.path, report=report)
    past = transcript.past
    if not options.fork:
        return _OpenRecords(records=transcript, session_id=stored.id, source="resume", past=past)
    transcript.close()
    copy = TranscriptWriter.create(
        store.directory, session_id, replace(facts, parent=stored.id), report=report
    )
    for message in past.messages:
        copy.message(message)
    return _OpenRecords(records=copy, session_id=session_id, source="fork", past=past)


def _subagent_records(parent: _OpenRecords, cwd: str) -> Callable[[str], ConversationRecorder]:
    """Keep transcripts of subagents in a directory beside their parent's."""
    path = parent.records.path
    directory = os.path.join(path.removesuffix(".jsonl"), "subagents") if path else ""

    def make(agent_id: str) -> ConversationRecorder:
        if not directory:
            return NoRecords()
        return TranscriptWriter.create(directory, agent_id, SessionFacts(cwd=cwd, parent=parent.session_id))

    return make


def _prompts(
    options: AgentOptions,
    host: AgentHost,
    found: SettingsFound,
    parts: AgentParts,
    join: Callable[[PreparedPrompt], Awaitable[Sequence[str]]],
) -> ProjectPrompts:
    router = Router(found.table.routes)
    for problem in router.problems:
        host.user.warn(problem)
    context = PromptContext(
        cwd=options.cwd,
        env=host.env,
        router=router,
        objection=denied_reads(parts.permissions, options.cwd),
        includes=Includes(parts),
    )
    file = os.path.join(state_dir(host.env), "input_history.jsonl")
    history = InputHistory(file, report=host.user.warn) if options.keep else None
    return ProjectPrompts(context, history, join)


def _project(cwd: str) -> str:
    return upward(os.path.abspath(cwd))[-1]
