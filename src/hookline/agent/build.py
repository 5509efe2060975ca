"""From what was asked for to an agent that is ready: settings, permissions, tools, transcript, hooks."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.hooks import EngineHooks, EventLog, NoHooks, Recorded, SessionHooks
from hookline.agent.mcp.config import find_servers
from hookline.agent.mcp.connection import Surroundings
from hookline.agent.mcp.elicitation import Answers, Eliciting
from hookline.agent.mcp.servers import McpServers
from hookline.agent.models.port import ModelPort
from hookline.agent.ports import Asker, Listener, Shown
from hookline.agent.prompts.history import InputHistory
from hookline.agent.prompts.prepare import ProjectIntake, denied_reads, no_hooks
from hookline.agent.prompts.prompt import Prepared, Route, Router
from hookline.agent.session.commands import (
    COMMANDS,
    help_command,
    hooks_command,
    resume_command,
    worktree_command,
)
from hookline.agent.session.session import Agent, Command
from hookline.agent.session.watch import SessionWatch, watched_names
from hookline.agent.session_hooks import CommandHooks, ProjectTrust, add_builtin_hooks, is_trusted
from hookline.agent.settings import AgentSettings, SettingsFound, read_settings
from hookline.agent.subagents.subagent import AgentType, Crew, SubagentTool, agent_types
from hookline.agent.subagents.worktrees import Worktrees, WorktreeTools
from hookline.agent.tools.base import Tool, Workplace, named
from hookline.agent.tools.core import core_tools
from hookline.agent.tools.tasks import Tasks
from hookline.agent.tools.web_fetch import WebFetch
from hookline.agent.transcript.reader import Past
from hookline.agent.transcript.records import NoRecords, Records, SessionFacts
from hookline.agent.transcript.store import SessionsStore, new_session_id
from hookline.agent.transcript.writer import Transcript
from hookline.config.engine import Engine
from hookline.dialects.places import upward
from hookline.engine.background import LateMessage
from hookline.engine.run_hook import admit_all
from hookline.handlers.process.pool import Processes
from hookline.journal.file import state_dir
from hookline.matching.nearest import nearest
from hookline.model.errors import ConfigError, PatternError
from hookline.model.hook import Hook
from hookline.model.scene import Scene
from hookline.permissions.modes import MODES, mode_of
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions


class Wanted(Struct, frozen=True, kw_only=True):
    """What the caller says; it wins over what settings files say."""

    cwd: str
    model: str
    mode: str | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    system: str | None = None
    max_iterations: int | None = None
    max_tool_calls: int | None = None
    compact_at: int | None = None
    #: The id of a session to go on with, or its beginning; "last" for the newest of the project.
    resume: str | None = None
    #: Go on with it under an id of its own.
    fork: bool = False
    #: False: nothing is written down.
    keep: bool = True
    #: Only these tools; None: all there are.
    tools: tuple[str, ...] | None = None
    types: tuple[AgentType, ...] = ()
    #: The user vouches for the hooks of this project, for this run.
    trust: bool = False
    add_date: bool = False
    add_environment_info: bool = False
    add_prompt_files: tuple[str, ...] = ()


class Parts(Struct, frozen=True, kw_only=True, eq=False):
    """What the agent is made with, by whoever runs it."""

    #: None: the agent runs without hooks.
    engine: Engine | None
    model: ModelPort
    processes: Processes
    env: Mapping[str, str]
    listener: Listener
    log: EventLog
    asker: Asker | None = None
    #: Who answers what MCP servers ask; None where nobody can.
    answers: Answers | None = None
    #: The ones that hooks call too; None: the agent has its own.
    servers: McpServers | None = None
    tools: tuple[Tool, ...] = ()
    commands: Mapping[str, Command] = {}
    #: Hooks that stand in no file the engine looks for; a live reload keeps them.
    extra_hooks: tuple[Hook, ...] = ()
    #: False: the files were named one by one, so others are not looked for.
    live: bool = True
    #: Somebody sits at a terminal.
    terminal: bool = False


class Ready(Struct, frozen=True, kw_only=True, eq=False):
    """An agent, and what must be closed after it."""

    agent: Agent
    tasks: Tasks
    settings: SettingsFound
    #: How the session begins: startup, resume or fork.
    source: str
    session_id: str
    watch: SessionWatch
    servers: McpServers
    #: Offers further tools to the agent and its sub-agents.
    join: Callable[[Sequence[Tool]], None]
    asker: Asker | None = None
    #: What is watched from the start.
    watched: tuple[str, ...] = ()

    async def begin(self, setup: str | None = None) -> None:
        """The session starts, and what changes around it is seen from now on."""
        self.servers.start(self.join)
        await self.agent.start(self.source, setup=setup)
        await self.servers.settle()
        self.watch.start(self.watched)

    async def end(self, reason: str = "other") -> None:
        """Nothing of the session is told after SessionEnd: what goes on in the background ends before it."""
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
            await self.servers.close()


def make_agent(wanted: Wanted, parts: Parts) -> Ready:
    """Everything put together. Raises HooklineError where going on would mean not knowing the user's rules."""
    reader = RuleReader(home=parts.env.get("HOME", ""))
    found = read_settings(wanted.cwd, parts.env, reader)
    if found.unreadable:
        # Which calls the user never wants made is then not known.
        raise ConfigError(found.unreadable)
    servers, found = _servers(wanted, parts, found)
    settings = _settings(wanted, found)
    permissions = _permissions(wanted, found, reader)
    records, source, session_id, past = _records(wanted, parts)
    _trust(wanted, parts, found)
    own, joined = _hooks(wanted, parts, found, session_id)
    hooks = Recorded(own, parts.log)
    place = Workplace(hooks, wanted.cwd, env=parts.env)
    tasks = Tasks(hooks, on_done=lambda done: hooks.inbox.put(LateMessage(kind="context", text=done.text)))
    dialog = asyncio.Lock()
    worktrees = Worktrees(_root(wanted.cwd))
    crew = Crew(
        model=parts.model,
        hooks=hooks,
        permissions=permissions,
        settings=settings,
        listener=parts.listener,
        asker=parts.asker,
        dialog=dialog,
        tools={},
        types=_types(wanted),
        records=_records_of_children(records, session_id, wanted),
        worktrees=worktrees,
        instructions={},
    )
    tools = (
        *core_tools(tasks, parts.processes),
        SubagentTool(crew),
        SubagentTool(crew, "Task"),
        *WorktreeTools(worktrees).tools(),
        WebFetch(found.table.local_hosts).tool(),
        *parts.tools,
    )
    crew.tools.update({tool.name: tool for tool in tools})
    _tell_unknown_tools(wanted, crew.tools, parts.listener)
    intake = _intake(found, parts, denied_reads(permissions, wanted.cwd), joined)
    agent = Agent(
        settings=settings,
        model=parts.model,
        hooks=hooks,
        tools=[tool for tool in tools if named(tool.name, wanted.tools)],
        permissions=permissions,
        place=place,
        intake=intake,
        asker=parts.asker,
        listener=parts.listener,
        records=records,
        commands={
            **COMMANDS,
            "worktree": worktree_command(worktrees),
            "help": help_command(intake),
            "hooks": hooks_command(parts.engine),
            "resume": resume_command(SessionsStore(parts.env, wanted.cwd)),
            **parts.commands,
        },
        dialog=dialog,
    )
    # Sub-agents are told what the session's instruction files say.
    agent.talk.instructions = crew.instructions
    servers.answers = Eliciting(place.hooks, parts.answers, parts.listener, dialog)
    if past is not None:
        agent.go_on_from(past.messages, past.turns, past.totals)
    names = watched_names(parts.engine, wanted.cwd) if parts.engine is not None else []
    return Ready(
        agent=agent,
        tasks=tasks,
        settings=found,
        source=source,
        session_id=session_id,
        servers=servers,
        join=partial(_join, agent.tools, crew.tools, wanted.tools),
        asker=parts.asker,
        watch=SessionWatch(
            agent,
            parts.engine,
            wanted.cwd,
            parts.env.get("HOME", ""),
            extra=parts.extra_hooks,
            live=parts.live,
        ),
        watched=(*names, *(place.path(each) for each in found.table.watch)),
    )


def _hooks(
    wanted: Wanted, parts: Parts, found: SettingsFound, session_id: str
) -> tuple[SessionHooks, Callable[[Prepared], Awaitable[Sequence[str]]]]:
    """The session's hooks, and how those of a command or skill join them."""
    scene: dict[str, Any] = {"project_dir": _root(wanted.cwd), "cwd": wanted.cwd}
    if parts.engine is None:
        return NoHooks(Scene(session_id=session_id, **scene)), no_hooks
    furnish = partial(
        add_builtin_hooks,
        date=wanted.add_date or found.table.add_date,
        environment=wanted.add_environment_info or found.table.add_environment_info,
        files=(*wanted.add_prompt_files, *found.table.add_prompt_files),
    )
    session = parts.engine.session(session_id, **scene)
    return EngineHooks(session, furnish), CommandHooks(parts.engine, session, wanted.cwd).join


def _servers(wanted: Wanted, parts: Parts, found: SettingsFound) -> tuple[McpServers, SettingsFound]:
    """The MCP servers that are configured, not started yet; what is wrong with entries is among the diagnostics."""
    servers = parts.servers if parts.servers is not None else McpServers()
    entries = find_servers(wanted.cwd, parts.env, found.documents)
    servers.configure(
        entries.specs,
        Surroundings(parts.env, wanted.cwd, parts.processes.watchdog),
        _reporter(parts.listener),
    )
    return servers, replace(found, diagnostics=(*found.diagnostics, *entries.diagnostics))


def _join(
    own: dict[str, Tool], all_tools: dict[str, Tool], names: Sequence[str] | None, new: Sequence[Tool]
) -> None:
    all_tools.update({tool.name: tool for tool in new})
    own.update({tool.name: tool for tool in new if named(tool.name, names)})


def _types(wanted: Wanted) -> Mapping[str, AgentType]:
    """Kinds of sub-agents; one that says nothing of tools has those of its caller."""
    return {
        name: kind if kind.tools is not None else replace(kind, tools=wanted.tools)
        for name, kind in agent_types(wanted.types).items()
    }


def _tell_unknown_tools(wanted: Wanted, tools: Mapping[str, Tool], listener: Listener) -> None:
    for names in (wanted.tools, *(kind.tools for kind in wanted.types)):
        for name in names or ():
            if name not in tools and not name.startswith("mcp__") and not name.endswith("*"):
                close = nearest(name, tools)
                hint = f"did you mean {close}?" if close else f"there are {', '.join(tools)}"
                listener.show(Shown(kind="warning", text=f"there is no tool {name!r} to offer; {hint}"))


def _trust(wanted: Wanted, parts: Parts, found: SettingsFound) -> None:
    """Hooks of a project that their own agent would hold back are held back here too, and the user is told."""
    if parts.engine is None or parts.engine.admit is not admit_all:
        # A host with a way of its own to vouch for hooks keeps it.
        return
    root = _root(wanted.cwd)
    trusted = wanted.trust or is_trusted(root, found.table.trusted)
    trust = ProjectTrust(root, trusted=trusted, terminal=parts.terminal)
    parts.engine.admit = trust.admit
    notice = trust.notice(parts.engine.hooks)
    if notice is not None:
        parts.listener.show(Shown(kind="warning", text=notice))


def _settings(wanted: Wanted, found: SettingsFound) -> AgentSettings:
    table = found.table
    names = ("system", "max_iterations", "max_tool_calls", "compact_at", "most_repeats", "most_wakes")
    given = {name: value for name in names if (value := _said(name, wanted, table)) is not None}
    return AgentSettings(model=wanted.model, **given)


def _said(name: str, *places: object) -> Any:
    """The first that says anything; nought is something."""
    return next((value for place in places if (value := getattr(place, name, None)) is not None), None)


def _permissions(wanted: Wanted, found: SettingsFound, reader: RuleReader) -> Permissions:
    flags, problems = RuleSet.parse(
        wanted.allow, wanted.ask, wanted.deny, source="the command line", reader=reader
    )
    if problems:
        raise PatternError("--allow", "; ".join(problems))
    mode = wanted.mode or found.mode or "default"
    if mode_of(mode) is None:
        raise PatternError(mode, f"there is no such mode; there are {', '.join(MODES)}")
    return Permissions(
        {**found.layers, "flags": flags},
        mode=mode,
        directories=(*found.directories, *wanted.directories),
        root=wanted.cwd,
        reader=reader,
        # Settings files stand there too, and their rules guard what is beside them.
        above=upward(os.path.abspath(wanted.cwd))[1:],
    )


def _records(wanted: Wanted, parts: Parts) -> tuple[Records, str, str, Past | None]:
    """Where the session is written down, how it begins, its id, and what was there before."""
    store = SessionsStore(parts.env, wanted.cwd)
    report = _reporter(parts.listener)
    facts = SessionFacts(cwd=wanted.cwd, model=wanted.model)
    if wanted.resume is not None:
        stored = store.last() if wanted.resume == "last" else store.find(wanted.resume)
        transcript = Transcript.resume(stored.path, report=report)
        if not wanted.fork:
            return transcript, "resume", stored.id, transcript.past
        past, session_id = transcript.past, new_session_id()
        transcript.close()
        copy = Transcript.create(store.folder, session_id, replace(facts, parent=stored.id), report=report)
        for message in past.messages:
            copy.message(message)
        return copy, "fork", session_id, past
    session_id = new_session_id()
    if not wanted.keep:
        return NoRecords(), "startup", session_id, None
    return Transcript.create(store.folder, session_id, facts, report=report), "startup", session_id, None


def _records_of_children(records: Records, session_id: str, wanted: Wanted) -> Callable[[str], Records]:
    """A sub-agent's transcript stands in a folder beside its parent's."""
    folder = os.path.join(records.path.removesuffix(".jsonl"), "subagents") if records.path else ""

    def make(agent_id: str) -> Records:
        if not folder:
            return NoRecords()
        return Transcript.create(folder, agent_id, SessionFacts(cwd=wanted.cwd, parent=session_id))

    return make


def _intake(
    found: SettingsFound,
    parts: Parts,
    objection: Callable[[str], str | None],
    join: Callable[[Prepared], Awaitable[Sequence[str]]],
) -> ProjectIntake:
    router = Router([Route(each.pattern, each.model) for each in found.table.routes])
    for problem in router.problems:
        parts.listener.show(Shown(kind="warning", text=problem))
    history = os.path.join(state_dir(parts.env), "input_history.jsonl")
    remembered = InputHistory(history, report=_reporter(parts.listener))
    return ProjectIntake(parts.env, router=router, objection=objection, history=remembered, join=join)


def _reporter(listener: Listener) -> Callable[[str], None]:
    return lambda problem: listener.show(Shown(kind="warning", text=problem))


def _root(cwd: str) -> str:
    return upward(os.path.abspath(cwd))[-1]
