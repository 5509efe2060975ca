"""Plays conversations of the conformance suite with the OpenAI Agents SDK."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from types import MappingProxyType
from typing import Any

from agents import (
    Agent,
    ItemHelpers,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
    function_tool,
)
from agents.items import TResponseInputItem
from openai.types.responses import (
    Response as OpenAIResponse,
)
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from hookline import Engine
from hookline.adapters.openai_agents import HooklineRunner
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


class ScriptedModel(Model):
    def __init__(self, script: ModelScript) -> None:
        self._script = script

    def _answer(self, given: Any, tools: Any) -> ScriptedResponse:
        said = [_said(each) for each in ItemHelpers.input_to_new_input_list(given)]
        return self._script.answer(said, [(tool.name, tool.params_json_schema) for tool in tools])

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *_given: Any,
        **_named: Any,
    ) -> ModelResponse:
        return ModelResponse(_output(self._answer(input, tools)), Usage(), None)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *_given: Any,
        **_named: Any,
    ) -> AsyncIterator[Any]:
        response = self._answer(input, tools)
        for piece in response.pieces:
            yield ResponseTextDeltaEvent(
                content_index=0,
                delta=piece,
                item_id="m",
                logprobs=[],
                output_index=0,
                sequence_number=0,
                type="response.output_text.delta",
            )
        whole = OpenAIResponse(
            id="r",
            created_at=0,
            model="scripted",
            object="response",
            output=_output(response),
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=whole, sequence_number=1, type="response.completed")


class OpenAIAgentsHarness:
    name = "openai-agents"
    cannot: Mapping[str, KnownLimit] = MappingProxyType({})

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        runner: Any = Runner
        config = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
        tools: list[Any] = [_tool(each) for each in conversation.tools]
        if engine is not None:
            runner = HooklineRunner(engine, session_id=lambda _options: conversation.id, cwd=conversation.cwd)
        helper = conversation.helper
        if helper is not None:
            below = _agent(helper.name, helper.script, [_tool(each) for each in helper.tools])

            async def delegate(task: str) -> str:
                return str((await runner.run(below, task, run_config=config)).final_output)

            tools.append(
                function_tool(delegate, name_override=helper.name, description_override=helper.description)
            )
        agent = _agent("main", conversation.script, tools)
        history: list[TResponseInputItem] = []

        async def say(prompt: str) -> str:
            items: Any = [*history, {"role": "user", "content": prompt}]
            if conversation.entry == "stream":
                result = runner.run_streamed(agent, items, run_config=config)
                async for event in result.stream_events():
                    data: Any = getattr(event, "data", None)
                    if isinstance(data, ResponseTextDeltaEvent):
                        conversation.show(data.delta)
            else:
                result = await runner.run(agent, items, run_config=config)
            history[:] = result.to_input_list()
            return str(result.final_output)

        def say_sync(prompt: str) -> str:
            items: Any = [*history, {"role": "user", "content": prompt}]
            try:
                result = runner.run_sync(agent, items, run_config=config)
            finally:  # its thread ends some time, and would leave the loop open
                asyncio.get_event_loop().close()
            history[:] = result.to_input_list()
            return str(result.final_output)

        try:
            return await each_prompt(conversation, say_sync if conversation.entry == "sync" else say)
        finally:
            if engine is not None:
                await runner.close(conversation.id)


def _agent(name: str, script: ModelScript, tools: list[Any]) -> Agent[Any]:
    return Agent(name=name, model=ScriptedModel(script), tools=tools)


def _tool(tool: SuiteTool) -> Any:
    return function_tool(
        tool.function, name_override=tool.name, description_override=tool.description, strict_mode=False
    )


def _output(response: ScriptedResponse) -> list[Any]:
    text = ResponseOutputText(text=response.text, type="output_text", annotations=[])
    message = ResponseOutputMessage(
        id="m", role="assistant", type="message", status="completed", content=[text]
    )
    calls = [
        ResponseFunctionToolCall(
            arguments=json.dumps(call.input), call_id=call.id, name=call.name, type="function_call"
        )
        for call in response.calls
    ]
    return [*([message] if response.text else []), *calls]


def _said(item: Any) -> Said:
    if item.get("type") == "function_call_output":
        output = item["output"]
        return Said("tool", output if isinstance(output, str) else json.dumps(output), item["call_id"])
    if item.get("type") == "function_call":
        return Said("assistant", "")
    content = item["content"]
    text = content if isinstance(content, str) else "\n".join(each["text"] for each in content)
    return Said(item["role"], text)
