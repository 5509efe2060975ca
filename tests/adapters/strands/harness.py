"""Strands under the conformance suite: the real agent, with a model that reads a script."""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from strands import Agent
from strands import tool as strands_tool  # pyright: ignore[reportUnknownVariableType]
from strands.models import Model
from strands.tools.decorator import DecoratedFunctionTool

from hookline import Engine
from hookline.adapters.strands import HooklinePlugin
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    KnownLimit,
    ModelScript,
    Said,
    ShownOutput,
    each_prompt,
)


class ScriptedModel(Model):
    def __init__(self, script: ModelScript) -> None:
        self.script = script

    def update_config(self, **_config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    async def structured_output(self, *_args: Any, **_options: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError
        yield {}

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: str | None = None, **_options: Any
    ) -> AsyncGenerator[Any, None]:
        said = [Said("system", system_prompt)] if system_prompt else []
        for message in messages:
            said += said_in(message)
        answer = self.script.answer(said, tool_specs or ())
        yield {"messageStart": {"role": "assistant"}}
        if answer.text:
            yield {"contentBlockStart": {"start": {}}}
            for piece in answer.pieces:
                yield {"contentBlockDelta": {"delta": {"text": piece}}}
            yield {"contentBlockStop": {}}
        for call in answer.calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": call.id, "name": call.name}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(call.input)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if answer.calls else "end_turn"}}


def said_in(message: Mapping[str, Any]) -> list[Said]:
    said: list[Said] = []
    for block in message["content"]:
        if "toolResult" in block:
            result = block["toolResult"]
            texts = [each.get("text", each.get("json", "")) for each in result["content"]]
            said.append(Said("tool", "\n".join(map(str, texts)), result["toolUseId"]))
        elif "text" in block:
            said.append(Said(message["role"], block["text"]))
    return said


def as_strands(tool: CaseTool) -> DecoratedFunctionTool[Any, Any]:
    return strands_tool(name=tool.name, description=tool.description)(tool.function)


class StrandsHarness:
    name = "strands"
    cannot: Mapping[str, KnownLimit] = {}

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        plugins: list[Any] = (
            [] if engine is None else [HooklinePlugin(engine, conversation.id, cwd=conversation.cwd)]
        )
        tools: list[Any] = [as_strands(tool) for tool in conversation.tools]
        if (helper := conversation.helper) is not None:
            agent = Agent(
                ScriptedModel(helper.script), name=helper.name, callback_handler=None, plugins=plugins,
                tools=[as_strands(tool) for tool in helper.tools],
            )  # fmt: skip
            tools.append(_helper_tool(agent, helper.name, helper.description))
        agent = Agent(ScriptedModel(conversation.script), tools=tools, plugins=plugins, callback_handler=None)

        async def streamed(prompt: str) -> str:
            pieces, result = list[str](), None
            async for event in agent.stream_async(prompt):
                conversation.show(event.get("data", ""))
                pieces = [] if "start" in event else [*pieces, event["data"]] if "data" in event else pieces
                result = event.get("result", result)
            return "".join(pieces) or str(result).rstrip("\n")

        async def answered(prompt: str) -> str:
            return str(await agent.invoke_async(prompt)).rstrip("\n")

        def blocking(prompt: str) -> str:
            return str(agent(prompt)).rstrip("\n")

        entries: Mapping[str, Any] = {
            "async": answered, "stream": streamed, "sync": blocking,
        }  # fmt: skip
        try:
            return await each_prompt(conversation, entries[conversation.entry])
        finally:
            for plugin in plugins:
                await plugin.close()


def _helper_tool(agent: Agent, name: str, description: str) -> DecoratedFunctionTool[Any, Any]:
    @strands_tool(name=name, description=description)
    async def helper(task: str) -> str:
        return str(await agent.invoke_async(task)).rstrip("\n")

    return helper
