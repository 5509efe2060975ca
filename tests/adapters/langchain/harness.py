"""Plays conversations of the conformance suite with LangChain."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from hookline import Engine
from hookline.adapters.langchain import HooklineMiddleware
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    KnownLimit,
    ModelScript,
    Said,
    ShownOutput,
    each_prompt,
)

ROLES: Any = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


class ScriptedModel(BaseChatModel):
    script: Any
    tools: Any = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_options: Any) -> Any:
        return self.model_copy(update={"tools": [(tool.name, tool.args) for tool in tools]})

    def _generate(self, messages: list[BaseMessage], *_given: Any, **_options: Any) -> ChatResult:
        said = [
            Said(ROLES[m.type], m.text, m.tool_call_id if isinstance(m, ToolMessage) else "")
            for m in messages
        ]
        response = self.script.answer(said, self.tools)
        calls = [{"name": call.name, "args": dict(call.input), "id": call.id} for call in response.calls]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(response.text, tool_calls=calls))])

    def _stream(
        self, messages: list[BaseMessage], *_given: Any, **_options: Any
    ) -> Iterator[ChatGenerationChunk]:
        message = self._generate(messages).generations[0].message
        assert isinstance(message, AIMessage)
        middle = len(message.text) // 2
        yield ChatGenerationChunk(message=AIMessageChunk(content=message.text[:middle]))
        yield ChatGenerationChunk(
            message=AIMessageChunk(content=message.text[middle:], tool_calls=message.tool_calls)
        )


class LangChainHarness:
    name = "langchain"
    cannot: Mapping[str, KnownLimit] = MappingProxyType({})

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        middleware = [] if engine is None else [HooklineMiddleware(engine, cwd=conversation.cwd)]
        tools = [_tool(each) for each in conversation.tools]
        helper = conversation.helper
        if helper is not None:
            below = _agent(helper.name, helper.script, [_tool(each) for each in helper.tools], middleware)

            async def delegate(task: str) -> str:
                return (await below.ainvoke(_said(task)))["messages"][-1].text

            def delegate_sync(task: str) -> str:
                return below.invoke(_said(task))["messages"][-1].text

            tools.append(
                StructuredTool.from_function(
                    delegate_sync, delegate, name=helper.name, description=helper.description
                )
            )
        agent = _agent("main", conversation.script, tools, middleware, InMemorySaver())
        config: Any = {"configurable": {"thread_id": conversation.id}}

        async def say(prompt: str) -> str:
            if conversation.entry == "async":
                return (await agent.ainvoke(_said(prompt), config))["messages"][-1].text
            modes = ["messages", "values"]
            steps: list[Any] = []
            async for step in agent.astream(_said(prompt), config, stream_mode=modes):
                steps.append(step)
                if step[0] == "messages" and isinstance(step[1][0], AIMessage):
                    conversation.show(step[1][0].text)
            return steps[-1][1]["messages"][-1].text

        def say_sync(prompt: str) -> str:
            return agent.invoke(_said(prompt), config)["messages"][-1].text

        try:
            return await each_prompt(conversation, say_sync if conversation.entry == "sync" else say)
        finally:
            for each in middleware:
                await each.close(conversation.id)


def _said(prompt: str) -> Any:
    return {"messages": [{"role": "user", "content": prompt}]}


def _agent(name: str, script: ModelScript, tools: list[Any], middleware: list[Any], saver: Any = None) -> Any:
    return cast("Any", create_agent)(
        ScriptedModel(script=script), tools, middleware=middleware, name=name, checkpointer=saver
    )


def _tool(tool: CaseTool) -> StructuredTool:
    return StructuredTool.from_function(
        tool.blocking, tool.function, name=tool.name, description=tool.description
    )
