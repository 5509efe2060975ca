"""Run the agent's shell commands under the exec guard: by its rules and guards, asking its user."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from hookline.agent.hooks import AgentHooks, EngineHooks
from hookline.agent.ports import CURRENT_CALL, PermissionPrompt, UserPort
from hookline.config.engine import Engine
from hookline.engine.session import Session
from hookline.execguard.guard import denial_run, exec_started, guard_rows, reply_by_hooks
from hookline.execguard.judge import ExecRules, RuleRow
from hookline.execguard.messages import Denied, ExecQuestion, FileWall, NetworkWall, Reply
from hookline.execguard.probe import Capabilities, capabilities
from hookline.execguard.ready import Supervisors
from hookline.execguard.supervision import CallContext, ExecDecider, GuardedResult, Supervision, Walls
from hookline.execguard.walls.files import file_wall
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.run import Listeners
from hookline.model import events as e
from hookline.permissions.rules import PermissionRule, is_about_commands
from hookline.permissions.state import Permissions
from hookline.shell import ShellReading

_TOOL = "Bash"


class CommandGuard(Protocol):
    """The guard of a workplace."""

    @property
    def is_active(self) -> bool:
        """True if there is anything to guard against, and this machine can."""
        ...

    async def run(
        self, argv: Sequence[str], command: str, *, env: Mapping[str, str], cwd: str, timeout: float, run_id: str,
        listeners: Listeners,
    ) -> GuardedResult: ...  # fmt: skip


class AgentGuard(ExecDecider):
    """The exec guard of one agent; those of a session share their supervisors."""

    def __init__(
        self,
        processes: Processes,
        permissions: Permissions,
        hooks: AgentHooks,
        user: UserPort,
        env: Mapping[str, str],
        supervisors: Supervisors | None = None,
        *,
        walls: bool = False,
        only_hosts: tuple[str, ...] | None = None,
    ) -> None:
        self._processes = processes
        self._permissions = permissions
        self._hooks = hooks
        self._user = user
        self._env = env
        self._walls = walls
        self._network = NetworkWall(only_hosts) if only_hosts is not None else None
        self._supervisors = supervisors if supervisors is not None else Supervisors()
        self._supervision = Supervision(processes, self, supervisors=self._supervisors)
        #: Programs that the user has approved for the rest of the session, with all their arguments.
        self._approved: set[tuple[tuple[str, ...], str]] = set()

    def of_subagent(self, permissions: Permissions, hooks: AgentHooks, user: UserPort) -> "AgentGuard":
        return AgentGuard(
            self._processes, permissions, hooks, user, self._env, self._supervisors, walls=self._walls,
            only_hosts=self._network.hosts if self._network is not None else None,
        )  # fmt: skip

    @property
    def is_wanted(self) -> bool:
        return self.rules.says_something or self.asks_always or self._network is not None

    @property
    def is_active(self) -> bool:
        # Walls that were asked for and cannot be had must not be left out: then nothing starts.
        walled = self._walls or self._network is not None
        return self.is_wanted and (walled or self._supervision.is_available)

    @property
    def abilities(self) -> Capabilities:
        return capabilities()

    def report(self) -> None:
        """Say how far rules hold while commands run, where that is less than it could be; else be ready."""
        if not self.is_wanted:
            return
        found = self.abilities
        if self._walls and not found.landlock:
            self._user.warn(
                f"file walls do not work here, so shell commands will not start: {found.landlock_why}"
            )
        if self._network is not None and found.network_why:
            self._user.warn(
                f"there is no network wall here, so shell commands will not start: {found.network_why}"
            )
        if found.level == "none":
            self._user.warn(f"shell commands are judged by their text only: {found.why}")
            return
        if found.level == "notify":
            self._user.warn(f"exec guard: programs are judged when they start, but not verified: {found.why}")
        self._hooks.update(exec_guard=True)
        # In a thread: the screen must not wait for an interpreter to start.
        asyncio.get_running_loop().run_in_executor(None, self._prepare)

    def _prepare(self) -> None:
        with suppress(OSError):  # the first command reports it
            self._supervision.prepare()

    def close(self) -> None:
        self._supervisors.close()

    async def run(
        self, argv: Sequence[str], command: str, *, env: Mapping[str, str], cwd: str, timeout: float, run_id: str,
        listeners: Listeners,
    ) -> GuardedResult:  # fmt: skip
        call = CallContext(command, _TOOL, CURRENT_CALL.get())
        return await self._supervision.run(
            argv, env=env, cwd=cwd, timeout=timeout, run_id=run_id, listeners=listeners, call=call,
            walls=Walls(self._wall(argv), self._network), shown=self._reading(command).known,
        )  # fmt: skip

    def _wall(self, argv: Sequence[str]) -> FileWall | None:
        if not self._walls:
            return None
        # The shell notes its last directory in a file of ours.
        own = [os.path.dirname(word) for word in argv if word.startswith(tempfile.gettempdir())]
        return file_wall(self.rules, (*self._permissions.reach(self._hooks.info.cwd), *own))

    # What the supervisor needs

    @property
    def rules(self) -> ExecRules:
        rules = self._permissions.rules
        session = self._session
        hooks = (*session.engine.hooks, *session.hooks) if session is not None else ()
        info = self._hooks.info
        return ExecRules(
            deny=_rows(rules.deny),
            ask=_rows(rules.ask),
            guards=guard_rows(hooks, session.engine.pauses if session is not None else None),
            project=info.project_dir or info.cwd,
            home=self._env.get("HOME", ""),
            temporary=self._env.get("TMPDIR", ""),
            path=self._env.get("PATH", ""),
        )

    @property
    def asks_always(self) -> bool:
        return self._hooks.has(e.EXEC_START)

    async def answer(self, question: ExecQuestion, call: CallContext) -> Reply:
        finding = question.finding
        rule, source = (finding.rule, finding.source) if finding is not None else ("", "")
        reason = (
            finding.reason
            if finding is not None and not self._reading(call.command).shows(question.argv)
            else ""
        )
        if self._hooks.has(e.EXEC_START):
            outcome = await self._hooks.dispatch(e.EXEC_START, exec_started(question, call))
            said = reply_by_hooks(question, outcome)
            if isinstance(said, Reply):
                return said
            reason = reason or said or ""
        key = question.argv, rule
        if not reason or key in self._approved:
            return Reply(question.id, True)
        denied = await self._ask(question, reason, source, key)
        return Reply(question.id, True) if denied is None else Reply(question.id, False, denied, rule, source)

    def denied(self, denied: Denied, call: CallContext) -> None:
        del call
        self._user.show(
            "warning", f"exec guard: {denied.what} was {_verb(denied)}: {denied.reason}", tool=_TOOL
        )
        engine = self._engine
        if engine is not None:
            info = self._hooks.info
            engine.journal.record(denial_run(denied, info.session_id, info.agent_type))

    def _reading(self, line: str) -> ShellReading:
        return self._permissions.reader.shell.read(line)

    async def _ask(
        self, question: ExecQuestion, reason: str, source: str, key: tuple[tuple[str, ...], str]
    ) -> str | None:
        """Ask the user; return the reason of a denial."""
        asker = self._user.asker
        if asker is None or self._permissions.mode_row.unanswered == "deny":
            return f"{reason} Denied: no user is present to approve it."
        info = self._hooks.info
        async with self._user.dialog:
            if key in self._approved:
                return None
            reply = await asker.ask(
                PermissionPrompt(
                    tool_name=_TOOL,
                    tool_input={"command": shlex.join(question.argv)},
                    reason=f"A running command wants to start this. {reason}",
                    agent=info.agent_type,
                    source=source,
                )
            )
        if not reply.allow:
            return reply.message or f"{reason} The user said no."
        if reply.always:
            self._approved.add(key)
        return None

    @property
    def _session(self) -> Session | None:
        hooks = self._hooks.session_hooks
        return hooks.session if isinstance(hooks, EngineHooks) else None

    @property
    def _engine(self) -> Engine | None:
        return self._session.engine if self._session is not None else None


def _rows(rules: Sequence[PermissionRule]) -> tuple[RuleRow, ...]:
    return tuple(RuleRow(rule.text, rule.source) for rule in rules if is_about_commands(rule))


def _verb(denied: Denied) -> str:
    return "killed" if denied.killed else "denied"
