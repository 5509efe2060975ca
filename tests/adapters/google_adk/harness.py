"""Google's ADK under the conformance suite: the real runner, with a model that reads a script."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode  # pyright: ignore[reportPrivateImportUsage]
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from pydantic import BaseModel

from hookline import Engine
from hookline.adapters.google_adk import HooklinePlugin
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    KnownLimit,
    ModelScript,
    Said,
    ShownOutput,
    each_prompt,
)

_APP = "conformance"


class ScriptedModel(BaseLlm):
    script: Any

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        script: ModelScript = self.script
        said = [each for content in llm_request.contents for each in said_in(content)]
        config: Any = llm_request.config
        answer = script.answer(said, config.tools or ())
        if stream:
            for piece in answer.pieces:
                content = types.Content(role="model", parts=[types.Part(text=piece)])
                yield LlmResponse(content=content, partial=True)
        parts = [types.Part(text=answer.text)] if answer.text else []
        for call in answer.calls:
            made = types.FunctionCall(id=call.id, name=call.name, args=dict(call.input))
            parts.append(types.Part(function_call=made))
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def said_in(content: types.Content) -> list[Said]:
    said: list[Said] = []
    for part in content.parts or ():
        if part.function_response is not None:
            said.append(Said("tool", str(part.function_response.response), part.function_response.id or ""))
        elif part.text:
            said.append(Said("assistant" if content.role == "model" else "user", part.text))
    return said


def as_adk(tool: CaseTool) -> FunctionTool:
    return FunctionTool(tool.function)


class Task(BaseModel):
    task: str


class GoogleAdkHarness:
    name = "google-adk"
    cannot: Mapping[str, KnownLimit] = {}

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        plugins: list[Any] = [] if engine is None else [HooklinePlugin(engine, cwd=conversation.cwd)]
        tools: list[Any] = [as_adk(tool) for tool in conversation.tools]
        if (helper := conversation.helper) is not None:
            agent = LlmAgent(
                name=helper.name, description=helper.description, input_schema=Task,
                model=ScriptedModel(model="scripted", script=helper.script), tools=[as_adk(t) for t in helper.tools],
            )  # fmt: skip
            tools.append(AgentTool(agent))
        agent = LlmAgent(
            name="main", model=ScriptedModel(model="scripted", script=conversation.script), tools=tools
        )
        runner = InMemoryRunner(agent, app_name=_APP, plugins=plugins)
        await runner.session_service.create_session(app_name=_APP, user_id="u", session_id=conversation.id)
        config = RunConfig(
            streaming_mode=StreamingMode.SSE if conversation.entry == "stream" else StreamingMode.NONE
        )

        def asked(prompt: str) -> dict[str, Any]:
            message = types.Content(role="user", parts=[types.Part(text=prompt)])
            return {
                "user_id": "u",
                "session_id": conversation.id,
                "new_message": message,
                "run_config": config,
            }

        async def answered(prompt: str) -> str:
            events: list[Any] = []
            async for event in runner.run_async(**asked(prompt)):
                streamed = any(each.partial and each.content for each in events)
                if event.partial or not streamed:
                    conversation.show(shown([event]))
                events.append(event)
            return shown(events)

        try:
            if conversation.entry == "sync":
                return await each_prompt(
                    conversation, lambda prompt: shown(list(runner.run(**asked(prompt))))
                )
            return await each_prompt(conversation, answered)
        finally:
            await runner.close()


def shown(events: list[Any]) -> str:
    """The last answer; of one that was streamed, its pieces."""
    pieces, answer = list[str](), ""
    for event in events:
        text = "\n".join(said.text for said in said_in(event.content)) if event.content else ""
        pieces = [*pieces, text] if event.partial else []
        answer = text if event.is_final_response() else "".join(pieces)
    return answer
