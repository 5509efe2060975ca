"""`hookline agent` under the suite: its own loop, with a model that asks the script."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from hookline import Engine, host
from hookline.agent.build import AgentHost, AgentOptions, BuiltAgent, build_agent
from hookline.agent.hooks import EventLog
from hookline.agent.models.port import CompletionRequest, CompletionResponse, ModelError, Piece, TextPiece
from hookline.agent.ports import PermissionPrompt, PermissionReply, Shown, UserPort
from hookline.agent.subagents.subagent import AgentType
from hookline.agent.tools.base import Category, ToolOutput, Workplace
from hookline.engine.host.tool_call import as_text
from hookline.handlers.process.pool import Processes
from hookline.model.messages import Assistant, Message, ToolMessage, ToolUse
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    KnownLimit,
    Said,
    ShownOutput,
    each_prompt,
)
from tests.cli.run_cli import clean_env

#: The agent's own name for the tool that starts a subagent.
_SUBAGENTS = "Agent"


class ScriptModel:
    """Streams what the script says; a subagent has the script of the helper."""

    def __init__(self, conversation: ConversationPlan) -> None:
        self._conversation = conversation

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        helper = self._conversation.helper
        asked = helper.script if helper is not None and request.agent_type else self._conversation.script
        messages = [Said("system", request.system), *map(_said, request.messages)]
        try:
            answer = asked.answer(messages, [offer.name for offer in request.tools])
        except ConnectionError as error:
            raise ModelError("server", str(error)) from error
        for piece in answer.pieces:
            yield TextPiece(piece)
        uses = (self._use(call.id, call.name, call.input) for call in answer.calls)
        yield CompletionResponse(text=answer.text, tool_calls=tuple(uses))

    def _use(self, call_id: str, name: str, given: Mapping[str, Any]) -> ToolUse:
        helper = self._conversation.helper
        if helper is None or name != helper.name:
            return ToolUse(id=call_id, name=name, input=given)
        return ToolUse(
            id=call_id, name=_SUBAGENTS, input={"prompt": given["task"], "subagent_type": helper.name}
        )

    async def close(self) -> None: ...


def _said(message: Message) -> Said:
    if isinstance(message, ToolMessage):
        return Said("tool", message.text, message.tool_use_id)
    return Said("assistant" if isinstance(message, Assistant) else "user", message.text)


class SuiteTool:
    """A tool of the suite as one of the agent's; the helper has its own log."""

    category: Category = "other"
    callers: frozenset[str] | None = None

    def __init__(self, tool: CaseTool, of_helper: CaseTool | None) -> None:
        self.name, self.description, self.schema = tool.name, tool.description, tool.schema
        self._tool = tool
        self._of_helper = of_helper

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        return self._tool.problem(arguments)

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        tool = self._of_helper if self._of_helper is not None and workplace.agent_type else self._tool
        value = await tool.call(arguments)
        return ToolOutput(text=as_text(value), response=value)


class Screen:
    """The user's view, and the dialogs, which `approve` answers."""

    def __init__(self, approve: host.Approve | None, conversation: ConversationPlan) -> None:
        self._approve = approve
        self._conversation = conversation
        self.warnings: list[str] = []
        self._pieces: list[str] = []

    def show(self, shown: Shown) -> None:
        if self._conversation.entry == "stream" and shown.kind in {"delta", "answer"}:
            # What was held back is shown as the whole answer; what was not is the same again.
            if shown.kind == "delta" or "".join(self._pieces) != shown.text:
                self._conversation.show(shown.text)
            self._pieces = [*self._pieces, shown.text] if shown.kind == "delta" else []
        elif shown.kind in {"warning", "notice", "blocked"}:
            self.warnings.append(shown.text)

    async def ask(self, question: PermissionPrompt) -> PermissionReply:
        assert self._approve is not None
        said: Any = self._approve(
            host.ApprovalRequest(
                tool_name=question.tool_name, tool_input=question.tool_input, reason=question.reason
            )
        )
        said = await said if inspect.isawaitable(said) else said
        if isinstance(said, host.Approval):
            return PermissionReply(allow=said.allow, message=said.message)
        return PermissionReply(allow=said is True)


class TerminalAgent:
    """Plays a conversation with the agent."""

    name = "hookline agent"
    cannot: Mapping[str, KnownLimit] = {
        "closed: in between": KnownLimit(
            "none", "the agent closes its engine itself, after its last turn", "hookline/agent/build.py"
        )
    }

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        if conversation.entry == "sync":  # as the command does it
            return await asyncio.to_thread(lambda: asyncio.run(self._play(conversation, engine)))
        return await self._play(conversation, engine)

    async def _play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        screen = Screen(engine.approve if engine is not None else None, conversation)
        processes = Processes()
        built = _build(conversation, engine, screen, processes)

        async def say(prompt: str) -> str:
            while built.agent.queue:  # the first message of a hook
                await built.agent.play(built.agent.queue.popleft())
            result = await built.agent.play(prompt)
            screen.warnings, shown = [], screen.warnings
            return result.text if result.status == "completed" else "\n".join([result.why, *shown])

        try:
            await built.begin()
            return await each_prompt(conversation, say)
        finally:
            await built.end()
            await built.close()
            await processes.close()


def _build(
    conversation: ConversationPlan, engine: Engine | None, screen: Screen, processes: Processes
) -> BuiltAgent:
    helper = conversation.helper
    of_helper = {tool.name: tool for tool in helper.tools} if helper is not None else {}
    tools = tuple(SuiteTool(tool, of_helper.get(tool.name)) for tool in conversation.tools)
    names = (*(tool.name for tool in tools), *((_SUBAGENTS,) if helper is not None else ()))
    types = (
        (AgentType(name=helper.name, description=helper.description, tools=tuple(of_helper)),)
        if helper
        else ()
    )
    return build_agent(
        AgentOptions(
            cwd=conversation.cwd, model="scripted", system="You are a test.", keep=False, trust=True,
            allow=names, tools=names, types=types,
        ),
        AgentHost(
            engine=engine,
            model=ScriptModel(conversation),
            processes=processes,
            env=clean_env(Path(conversation.cwd) / "home"),
            user=UserPort(listener=screen, asker=screen if engine is not None and engine.approve else None),
            log=EventLog(),
            tools=tools,
            live=False,
        ),
    )  # fmt: skip
