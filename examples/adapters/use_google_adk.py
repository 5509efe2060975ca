"""Hooks in a runner of Google's ADK, on a model that is scripted: it needs no key and no network."""

import asyncio
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from hookline import Engine, Outcome, deny, rewrite
from hookline.adapters.google_adk import HooklinePlugin
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine()


@engine.on(PRE_TOOL_USE, "deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response}")


class ScriptedModel(BaseLlm):
    """Calls two tools, shows what it reads of them, and is done."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = llm_request.contents[-1].parts or []
        results = [part.function_response.response or {} for part in parts if part.function_response]
        for result in results:
            print(result.get("error") or result.get("result"))
        calls = [
            types.FunctionCall(name="deploy", args={}),
            types.FunctionCall(name="run_shell", args={"command": "ls"}),
        ]
        said = [types.Part(text="Done.")] if results else [types.Part(function_call=call) for call in calls]
        yield LlmResponse(content=types.Content(role="model", parts=said))


def deploy() -> str:
    """Put it into production."""
    return "deployed"


def run_shell(command: str) -> str:
    """Run a line in a shell."""
    return command


async def main() -> None:
    agent = LlmAgent(name="main", model=ScriptedModel(model="scripted"), tools=[deploy, run_shell])
    async with engine, InMemoryRunner(agent, plugins=[HooklinePlugin(engine)]) as runner:
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="ann")
        message = types.Content(role="user", parts=[types.Part(text="ship it")])
        run = runner.run_async(user_id="ann", session_id=session.id, new_message=message)
        answers = [event.content async for event in run if event.is_final_response()]
        print(*(part.text for content in answers if content for part in content.parts or ()))


if __name__ == "__main__":
    asyncio.run(main())
