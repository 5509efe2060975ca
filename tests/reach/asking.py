"""Asking the guards of one dialect about the calls of an agent, in this process, with real scripts."""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from hookline import Engine, Outcome, Session
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.extending import Dialect, Run
from hookline.hook.call.payload import event_of, read_payload
from tests.cli.run_cli import Ran, run_cli
from tests.dialects.codex.hooks import trust_in_codex
from tests.reach.calls import FILES, Caller, MadeCall

GUARDS_DIRECTORY = Path(__file__).parent / "guards"


class Workspace:
    """A scratch home with a project in it, which has the guards of these dialects."""

    def __init__(self, top: Path, *dialects: str) -> None:
        self.home, self.project = top / "home", top / "home" / "project"
        (self.home / ".ssh").mkdir(parents=True)
        for dialect in dialects:
            file = install(dialect, self.project)
            if dialect == "codex":
                trust_in_codex(self.home, file)


def install(dialect: str, project: Path) -> Path:
    """The guards of a dialect where its agent finds them; returns the file that configures them."""
    source = GUARDS_DIRECTORY / dialect
    shutil.copytree(source, project, dirs_exist_ok=True)
    for directory in {script.relative_to(source).parent for script in source.rglob("*.sh")}:
        shutil.copy(GUARDS_DIRECTORY / "common.sh", project / directory)
    return project / FILES[dialect]


class Asked:
    """One question, and its result."""

    def __init__(self, workspace: Workspace, dialect: str, caller: Caller) -> None:
        self.workspace = workspace
        self.caller = caller
        self.engine = Engine(tools=caller.tools)
        file = str(workspace.project / FILES[dialect])
        loaded = self.engine.load(str(workspace.project), [file], [dialect], trust=True)
        assert not loaded.diagnostics, loaded.diagnostics
        #: What did not go as it should.
        self.problems: list[str] = []
        self.runs: list[Run] = []
        self.engine.journal.subscribe(self.runs.append)
        self.dialect: Dialect | None = self.engine.loader.dialect(caller.dialect) if caller.dialect else None

    def session(self) -> Session:
        project = str(self.workspace.project)
        session = self.engine.session("s-1", cwd=project, project_dir=project)
        session.tools = self.dialect.own_tools if self.dialect is not None else None
        return session

    def payload(self, tool: str, arguments: Mapping[str, Any]) -> ToolCall:
        """The payload of a call, as it arrives from the agent."""
        if self.caller.payload is None or self.dialect is None:
            return ToolCall(tool_name=tool, tool_input=dict(arguments))
        raw, env = self.caller.payload(tool, arguments, str(self.workspace.project))
        document = read_payload(raw, self.dialect, env)
        event_of(document, self.dialect, self.dialect.events[self.caller.event])
        parsed = self.dialect.wire.parse(document)
        assert parsed.event is PRE_TOOL_USE
        return parsed.payload

    async def ask(self, tool: str, arguments: Mapping[str, Any]) -> Outcome:
        return await self.session().dispatch(PRE_TOOL_USE, self.payload(tool, arguments))

    async def check(self, calls: Iterable[MadeCall]) -> None:
        """Ask about each call; `problems` lists wrong answers."""
        await asyncio.gather(*(self._check(call) for call in calls))
        await self.engine.close()

    async def _check(self, call: MadeCall) -> None:
        outcome = await self.ask(call.tool, call.at(str(self.workspace.home), str(self.workspace.project)))
        if self.denied(outcome) is not call.denied or (
            call.denied and call.guard.says not in (outcome.reason or "")
        ):
            said = f"{outcome.permission} {outcome.reason}".strip()
            self.problems.append(f"{call}: {'denied' if call.denied else 'passed'} was expected, not {said}")

    def denied(self, outcome: Outcome) -> bool:
        """Return True if the answer stops the call, in the caller's own terms if it has any."""
        if self.dialect is None:
            return outcome.blocked
        reply = self.dialect.wire.answer(self.caller.event, outcome)
        return reply.code == 2 or '"deny"' in reply.stdout


def wrongly_answered(
    workspace: Workspace, dialect: str, caller: Caller, call: MadeCall, run: Callable[..., Ran] = run_cli
) -> str:
    """Return what is wrong about the answer of the real `hookline hook`; empty if nothing is."""
    assert caller.payload is not None
    arguments = call.at(str(workspace.home), str(workspace.project))
    raw, env = caller.payload(call.tool, arguments, str(workspace.project))
    # Hooks that the agent runs itself, and those in a file that can be anywhere, have to be named.
    to_name = dialect in ("docker-agent", caller.dialect, *caller.reads)
    named = ["--config", str(workspace.project / FILES[dialect])] if to_name else []
    words = ["hook", "--dialect", caller.dialect, *named, caller.event]
    ran = run(words, workspace.project, workspace.home, stdin=raw, env=env)
    denied = ran.status == 2 or '"deny"' in ran.stdout
    if denied is call.denied and (not denied or call.guard.says in ran.stdout + ran.stderr):
        return ""
    return f"{dialect} asked by {caller.name} about {call}: {ran}"
