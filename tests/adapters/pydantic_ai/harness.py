"""Plays conversations of the conformance suite with Pydantic AI."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.run import AgentRunResultEvent

from hookline import Engine
from hookline.adapters.pydantic_ai import HooklineCapability
from hookline.testing.conformance import CaseTool as SuiteTool
from hookline.testing.conformance import (
    ConversationPlan,
    KnownLimit,
    ModelScript,
    Said,
    ScriptedResponse,
    ShownOutput,
    each_prompt,
)


class PydanticAIHarness:
    name = "pydantic-ai"
    cannot: Mapping[str, KnownLimit] = MappingProxyType({})

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        capabilities = [] if engine is None else [HooklineCapability(engine, cwd=conversation.cwd)]
        agent = _agent("main", conversation.script, conversation.tools, capabilities)
        helper = conversation.helper
        if helper is not None:
            below = _agent(helper.name, helper.script, helper.tools, capabilities)

            @agent.tool_plain(name=helper.name, description=helper.description)
            async def delegate(task: str) -> str:
                return (await below.run(task)).output

        history: list[ModelMessage] = []

        async def say(prompt: str) -> str:
            if conversation.entry == "stream":
                result = None
                async with agent.run_stream_events(
                    prompt, message_history=history, conversation_id=conversation.id
                ) as events:
                    async for event in events:
                        conversation.show(_piece(event))
                        if isinstance(event, AgentRunResultEvent):
                            result = event.result
                assert result is not None
            else:
                result = await agent.run(prompt, message_history=history, conversation_id=conversation.id)
            history[:] = result.all_messages()
            return result.output

        def say_sync(prompt: str) -> str:
            # `run_sync` uses the loop of its thread, and leaves one that it makes open.
            with asyncio.Runner() as loops:
                asyncio.set_event_loop(loops.get_loop())
                result = agent.run_sync(prompt, message_history=history, conversation_id=conversation.id)
                asyncio.set_event_loop(None)
            history[:] = result.all_messages()
            return result.output

        try:
            return await each_prompt(conversation, say_sync if conversation.entry == "sync" else say)
        finally:
            for each in capabilities:
                await each.close(conversation.id)


def _agent(
    name: str, script: ModelScript, tools: Sequence[SuiteTool], capabilities: list[Any]
) -> Agent[None, str]:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ScriptedResponse:
        said = [each for message in messages for each in _said(message)]
        return script.answer(said, [(tool.name, tool.parameters_json_schema) for tool in info.function_tools])

    async def whole(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        response = answer(messages, info)
        text = [TextPart(response.text)] if response.text else []
        return ModelResponse([*text, *(ToolCallPart(c.name, dict(c.input), c.id) for c in response.calls)])

    async def streamed(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        response = answer(messages, info)
        for piece in response.pieces:
            yield piece
        for index, call in enumerate(response.calls):
            made = ToolCallPart(call.name, dict(call.input), call.id)
            yield {index: DeltaToolCall(call.name, made.args_as_json_str(), tool_call_id=call.id)}

    return Agent(
        FunctionModel(whole, stream_function=streamed),
        name=name,
        tools=[Tool(each.function, name=each.name, description=each.description) for each in tools],
        capabilities=capabilities,
        retries=3,
    )


def _piece(event: Any) -> str:
    """The text of an event that a user would be shown."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _said(message: ModelMessage) -> list[Said]:
    if isinstance(message, ModelResponse):
        return [Said("assistant", message.text or "")]
    assert isinstance(message, ModelRequest)
    said: list[Said] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            said.append(Said("tool", part.model_response_str(), part.tool_call_id))
        elif isinstance(part, SystemPromptPart):
            said.append(Said("system", part.content))
        elif isinstance(part, UserPromptPart):
            content = [part.content] if isinstance(part.content, str) else part.content
            said.append(Said("user", "\n".join(str(each) for each in content)))
    return said
