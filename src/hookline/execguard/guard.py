"""Guard commands of a host's session: `exec_guard`."""

import os
import shlex
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hookline.engine.host.tool import ask
from hookline.engine.judge import Pauses
from hookline.execguard.judge import ExecRules, GuardRow, RuleRow
from hookline.execguard.messages import Denied, ExecQuestion, FileWall, NetworkWall, Reply
from hookline.execguard.probe import Level
from hookline.execguard.supervision import (
    MOST_DENIALS,
    CallContext,
    ExecDecider,
    GuardedResult,
    Supervision,
    Walls,
)
from hookline.execguard.walls.network import wrong_host
from hookline.handlers.process.pool import Processes
from hookline.handlers.specs import GUARDS, BuiltinSpec
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.engine.session import Session

__all__ = [
    "ExecGuard", "ExecGuardUnavailableError", "FileWall", "GuardedResult", "NetworkWall", "Walls", "exec_guard",
]  # fmt: skip

_SHELL = "Bash"
#: Guards that need more than the argv of a program: a list of protected files.
_NOT_AT_EXEC = frozenset(("self-protection",))


class ExecGuardUnavailableError(HooklineError):
    """This machine cannot judge programs when they start. The message says why."""


def guard_rows(hooks: Iterable[Hook], pauses: Pauses | None) -> tuple[GuardRow, ...]:
    """Return the built-in guards among hooks that judge every shell command; not those that a person has paused."""
    rows: dict[GuardRow, None] = {}
    for hook in hooks:
        spec: Any = hook.spec
        if hook.event is not e.PRE_TOOL_USE or not isinstance(spec, BuiltinSpec) or hook.mode != "enforce":
            continue
        if spec.name not in GUARDS or spec.name in _NOT_AT_EXEC or hook.condition is not None:
            continue
        if (hook.matcher is None or hook.matcher.matches(_SHELL)) and not (
            pauses is not None and pauses.is_paused(hook)
        ):
            rows[GuardRow(spec.name, spec.args)] = None
    return tuple(rows)


def exec_started(question: ExecQuestion, call: CallContext) -> p.ExecStarted:
    """Return the payload of ExecStart."""
    return p.ExecStarted(
        program=question.name, argv=question.argv, path=question.program, directory=question.cwd,
        command=call.command, tool_name=call.tool_name, tool_use_id=call.tool_use_id or None,
    )  # fmt: skip


def reply_by_hooks(question: ExecQuestion, outcome: Outcome) -> Reply | str | None:
    """Return the hooks' denial, or their reason to ask; None if they let it pass."""
    vote = outcome.deciding_vote
    if outcome.blocked:
        by = vote.by if vote is not None else ""
        return Reply(question.id, False, outcome.reason or "a hook denied it", by)
    if vote is not None and vote.kind in ("ask", "defer"):
        return vote.reason or "a hook asks about it"
    return None


def denial_run(denied: Denied, session_id: str, agent: str | None = None) -> Run:
    """Return the record of a denial for the journal."""
    return Run(
        hook=denied.rule or "exec guard", source=denied.source, type="exec_guard", event=e.EXEC_START.name,
        decision="deny", reason=denied.reason, why=denied.what, session=session_id, agent=agent, at=time.time(),
    )  # fmt: skip


class SessionDecider(ExecDecider):
    """Decides for a session: by its guards and hooks, by further rules, and by its `approve`."""

    def __init__(self, session: "Session", deny: Sequence[RuleRow], ask_rules: Sequence[RuleRow]) -> None:
        self._session = session
        self._deny = tuple(deny)
        self._ask = tuple(ask_rules)

    @property
    def rules(self) -> ExecRules:
        session = self._session
        env = session.engine.env
        return ExecRules(
            deny=self._deny,
            ask=self._ask,
            guards=guard_rows((*session.engine.hooks, *session.hooks), session.engine.pauses),
            project=session.info.project_dir or session.info.cwd,
            home=env.get("HOME", ""),
            temporary=env.get("TMPDIR", ""),
            path=env.get("PATH", ""),
        )

    @property
    def asks_always(self) -> bool:
        return self._session.has(e.EXEC_START)

    async def answer(self, question: ExecQuestion, call: CallContext) -> Reply:
        finding, session = question.finding, self._session
        reason = finding.reason if finding is not None else ""
        if session.has(e.EXEC_START):
            said = reply_by_hooks(
                question, await session.dispatch(e.EXEC_START, exec_started(question, call))
            )
            if isinstance(said, Reply):
                return said
            reason = reason or said or ""
        if not reason:
            return Reply(question.id, True)
        line = shlex.join(question.argv)
        asked = await ask(session, p.ToolCall(tool_name=_SHELL, tool_input={"command": line}), reason)
        rule = finding.rule if finding is not None else ""
        if asked.refused is None:
            return Reply(question.id, True)
        return Reply(question.id, False, asked.refused.refused or reason, rule)

    def denied(self, denied: Denied, call: CallContext) -> None:
        del call
        self._session.engine.journal.record(denial_run(denied, self._session.id))


class ExecGuard:
    """Runs commands of a session under the exec guard; `exec_guard` makes one.

    ::

        async with exec_guard(session, deny=["Bash(rm *)"]) as guard:
            done = await guard.run(["make", "clean"], cwd=cwd)
            print(done.code, done.notes)
    """

    def __init__(self, supervision: Supervision, session: "Session", walls: Walls) -> None:
        self._supervision = supervision
        self._session = session
        self._walls = walls
        self._count = 0

    @property
    def level(self) -> Level:
        """verify, or notify where this machine cannot trace."""
        return self._supervision.abilities.level

    @property
    def why(self) -> str:
        """Return why the level is not verify."""
        return self._supervision.abilities.why

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 600.0,
        stdin: bytes = b"",
        command: str = "",
        tool_use_id: str = "",
    ) -> GuardedResult:
        """Run a program to its end; it and everything that it starts is judged.

        ::

            done = await guard.run(["bash", "-c", line], cwd=cwd, timeout=120)
        """
        self._count += 1
        session = self._session
        return await self._supervision.run(
            argv,
            env=dict(session.engine.env) if env is None else env,
            cwd=os.fspath(cwd) if cwd is not None else session.info.cwd or os.getcwd(),
            timeout=timeout,
            run_id=f"guarded-{self._count}",
            call=CallContext(command or shlex.join(argv), _SHELL, tool_use_id),
            walls=self._walls,
            trusts_first=False,
            stdin=stdin,
        )


@asynccontextmanager
async def exec_guard(
    session: "Session",
    *,
    deny: Sequence[str] = (),
    ask: Sequence[str] = (),
    walls: Walls | None = None,
    most_denials: int = MOST_DENIALS,
    processes: Processes | None = None,
) -> AsyncGenerator[ExecGuard]:
    """Guard commands by a session's built-in guards and ExecStart hooks, and by further rules.

    `deny` and `ask` are rules such as `Bash(rm *)`; questions go to the session's `approve`. `walls` limits files and
    hosts. Raises ExecGuardUnavailableError where this machine cannot do it: nothing runs unguarded. ::

        async with exec_guard(session, deny=["Bash(rm *)"]) as guard:
            done = await guard.run(["make", "clean"], cwd=cwd)
    """
    pool = processes if processes is not None else Processes()
    decider = SessionDecider(session, [RuleRow(text) for text in deny], [RuleRow(text) for text in ask])
    supervision = Supervision(pool, decider, most_denials=most_denials)
    if not supervision.is_available:
        raise ExecGuardUnavailableError(f"the exec guard does not work here: {supervision.abilities.why}")
    if walls is not None and walls.network is not None:
        wrong = wrong_host(walls.network.hosts)
        if wrong is not None:
            raise ValueError(wrong)
        if supervision.abilities.network_why:
            raise ExecGuardUnavailableError(
                f"there is no network wall here: {supervision.abilities.network_why}"
            )
    try:
        yield ExecGuard(supervision, session, walls if walls is not None else Walls())
    finally:
        if processes is None:
            await pool.close()
        supervision.close()
