"""Hooks in an agent of Pydantic AI, on a model that is scripted: it needs no key and no network."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hookline import Engine, Outcome, deny, rewrite
from hookline.adapters.pydantic_ai import HooklineCapability
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine()


@engine.on(PRE_TOOL_USE, "deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response}")


def model(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """Calls two tools, shows what it reads of them, and is done."""
    results = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    if not results:
        return ModelResponse([ToolCallPart("deploy", {}), ToolCallPart("run_shell", {"command": "ls"})])
    for result in results:
        print(result.content)
    return ModelResponse([TextPart("Done.")])


agent = Agent(FunctionModel(model), capabilities=[HooklineCapability(engine)])


@agent.tool_plain
def deploy() -> str:
    return "deployed"


@agent.tool_plain
def run_shell(command: str) -> str:
    return command


async def main() -> None:
    async with engine:
        result = await agent.run("ship it", conversation_id="conversation 1")
        print(result.output)


if __name__ == "__main__":
    asyncio.run(main())
