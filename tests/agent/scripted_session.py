"""Run an agent in this process with a scripted model, and a new home and project."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from hookline import Engine
from hookline.agent.build import AgentHost, AgentOptions, BuiltAgent, build_agent
from hookline.agent.hooks import EventLog, FiredEvent
from hookline.agent.mcp import elicitation as questions
from hookline.agent.mcp.servers import McpServers
from hookline.agent.models.port import CompletionRequest
from hookline.agent.models.scripted import Scripted, ScriptedModel
from hookline.agent.ports import Asker, Chooser, Confirmer, PermissionPrompt, PermissionReply, Shown, UserPort
from hookline.agent.session.session import Agent, PromptTurn
from hookline.agent.tools.base import AgentTool, Category, ToolOutput, Workplace
from hookline.extending import standard_handlers
from hookline.handlers.process.pool import Processes
from hookline.model.messages import ToolMessage
from tests.cli.run_cli import clean_env

Say = Mapping[str, Any]


def call(name: str, **given: Any) -> Say:
    return {"name": name, "input": given}


def calls(*made: Say) -> Say:
    """A response that calls tools."""
    return {"tool_calls": list(made)}


def says(text: str) -> Say:
    return {"text": text}


class Seen:
    """Keeps all that is shown."""

    def __init__(self) -> None:
        self.all: list[Shown] = []

    def show(self, shown: Shown) -> None:
        self.all.append(shown)

    def texts(self, kind: str) -> list[str]:
        return [shown.text for shown in self.all if shown.kind == kind]


class Answers:
    """Answers questions in order and keeps them; out of answers it says no."""

    def __init__(self, *replies: PermissionReply) -> None:
        self._replies = list(replies)
        self.questions: list[PermissionPrompt] = []

    async def ask(self, question: PermissionPrompt) -> PermissionReply:
        self.questions.append(question)
        return self._replies.pop(0) if self._replies else PermissionReply(allow=False, message="no")


class Probe:
    """A tool that keeps what it was called with."""

    description = "does nothing of note"

    def __init__(
        self,
        name: str = "Probe",
        *,
        category: Category = "other",
        callers: frozenset[str] | None = None,
        does: Callable[[Mapping[str, Any]], Any] | None = None,
    ) -> None:
        self.name = name
        self.category: Category = category
        self.callers = callers
        self.calls: list[Mapping[str, Any]] = []
        self._does = does

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        return None if isinstance(arguments.get("what"), str) else "`what` is missing"

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        del workplace
        self.calls.append(arguments)
        if self._does is not None:
            await self._does(arguments)
        return ToolOutput(text=f"done: {arguments['what']}")


class ScriptedSession:
    """An agent with a scripted model: make it, use it with `async with`, inspect it afterwards."""

    def __init__(
        self,
        directory: Path,
        script: Sequence[Say],
        *,
        hooks: Mapping[str, Any] | None = None,
        engine: bool = True,
        tools: Sequence[AgentTool] = (),
        asker: Asker | None = None,
        confirmer: Confirmer | None = None,
        chooser: Chooser | None = None,
        answers: questions.ElicitationHandler | None = None,
        start: str | None = None,
        **wanted: Any,
    ) -> None:
        self.home, self.project = directory / "home", directory / "home" / "project"
        self.project.mkdir(parents=True, exist_ok=True)
        self.model = ScriptedModel([msgspec.convert(dict(each), Scripted) for each in script])
        self.seen = Seen()
        self.log = EventLog()
        self._processes = Processes()
        self.servers = McpServers()
        self.engine = (
            Engine(handlers=standard_handlers(processes=self._processes, mcp=self.servers))
            if engine
            else None
        )
        self.diagnostics: tuple[Any, ...] = ()
        if self.engine is not None:
            self._load(self.engine, hooks)
        self._wanted: dict[str, Any] = {"allow": ("Probe",), "trust": True, **wanted}
        #: Where the session begins; by default in the project.
        self._start = start or str(self.project)
        self._tools = tuple(tools)
        self._asker = asker
        self._confirmer = confirmer
        self._chooser = chooser
        self._answers = answers
        self._ready: BuiltAgent | None = None
        #: Further variables of the session.
        self.env: Mapping[str, str] = {}

    def _load(self, engine: Engine, hooks: Mapping[str, Any] | None) -> None:
        file = self.project / "hooks.json"
        file.write_bytes(msgspec.json.encode({"hooks": hooks or {}}))
        self.diagnostics = tuple(engine.load(str(self.project), [str(file)]).diagnostics)
        engine.journal.subscribe(self.log.ran)

    async def __aenter__(self) -> Self:
        self._ready = build_agent(
            AgentOptions(cwd=self._start, model="scripted", **self._wanted),
            AgentHost(
                engine=self.engine,
                model=self.model,
                processes=self._processes,
                env=clean_env(self.home, self.env),
                user=UserPort(
                    listener=self.seen, asker=self._asker, confirmer=self._confirmer, chooser=self._chooser
                ),
                log=self.log,
                answers=self._answers,
                servers=self.servers,
                tools=self._tools,
            ),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.ready.end()
        await self.ready.close()
        if self.engine is not None:
            await self.engine.close()
        await self._processes.close()

    @property
    def ready(self) -> BuiltAgent:
        if self._ready is None:
            raise RuntimeError("the scripted has not begun")
        return self._ready

    @property
    def agent(self) -> Agent:
        return self.ready.agent

    async def play(self, *prompts: str, wait: bool = True) -> PromptTurn | None:
        """Begin, if it has not begun yet, and play these prompts."""
        if not self.events("SessionStart"):
            await self.ready.begin()
        for prompt in prompts:
            self.agent.submit(prompt)
        return await self.agent.run(wait=wait)

    @property
    def requests(self) -> list[CompletionRequest]:
        return self.model.requests

    @property
    def fired(self) -> list[str]:
        return [fired.event for fired in self.log.fired]

    def events(self, name: str) -> list[FiredEvent]:
        return [fired for fired in self.log.fired if fired.event == name]

    def results(self) -> list[str]:
        """Texts of all tool results of the conversation."""
        return [
            message.text for message in self.agent.conversation.messages if isinstance(message, ToolMessage)
        ]
