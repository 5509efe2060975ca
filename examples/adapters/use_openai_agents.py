"""Hooks in an agent of the OpenAI Agents SDK, on a model that is scripted: it needs no key and no network."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, SQLiteSession, Usage, function_tool
from agents.testing import assistant_message, function_call

from hookline import Engine, Outcome, deny, rewrite
from hookline.adapters.openai_agents import HooklineRunner
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine()


@engine.on(PRE_TOOL_USE, "deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response}")


class ScriptedModel(Model):
    """Calls two tools, shows what it reads of them, and is done."""

    async def get_response(
        self, system_instructions: Any, input: Any, *_given: Any, **_named: Any
    ) -> ModelResponse:
        results = [item["output"] for item in input if item.get("type") == "function_call_output"]
        for result in results:
            print(result)
        calls: list[Any] = [
            function_call("deploy", {}, call_id="1"),
            function_call("run_shell", {"command": "ls"}, call_id="2"),
        ]
        return ModelResponse([assistant_message("Done.")] if results else calls, Usage(), None)

    def stream_response(self, *_given: Any, **_named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@function_tool
def deploy() -> str:
    """Put it into production."""
    return "deployed"


@function_tool
def run_shell(command: str) -> str:
    """Run a line in a shell."""
    return command


async def main() -> None:
    agent = Agent(name="shipper", model=ScriptedModel(), tools=[deploy, run_shell])
    async with engine:
        runner = HooklineRunner(engine)
        result = await runner.run(
            agent,
            "ship it",
            session=SQLiteSession("conversation 1"),
            run_config=RunConfig(tracing_disabled=True),
        )
        print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
