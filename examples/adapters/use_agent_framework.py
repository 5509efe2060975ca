"""Hooks in an agent of the Microsoft Agent Framework, on a model that is scripted: it needs no key and no network."""

import asyncio
from collections.abc import Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from hookline import Engine, Outcome, deny, rewrite
from hookline.adapters.agent_framework import HooklineMiddleware
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine()


@engine.on(PRE_TOOL_USE, "deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response}")


class ScriptedClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Calls two tools, shows what it reads of them, and is done."""

    def _inner_get_response(self, *, messages: Sequence[Message], **_options: Any) -> Any:
        return self._answer(messages)

    async def _answer(self, messages: Sequence[Message]) -> ChatResponse[Any]:
        results = [each for each in messages[-1].contents if each.type == "function_result"]
        for result in results:
            print(result.result)
        if results:
            return ChatResponse(messages=[Message("assistant", ["Done."])])
        calls: list[tuple[str, dict[str, str]]] = [("deploy", {}), ("run_shell", {"command": "ls"})]
        made = [Content.from_function_call(name, name, arguments=given) for name, given in calls]
        return ChatResponse(messages=[Message("assistant", made)])


@tool(approval_mode="never_require")
def deploy() -> str:
    """Put it into production."""
    return "deployed"


@tool(approval_mode="never_require")
def run_shell(command: str) -> str:
    """Run a line in a shell."""
    return command


async def main() -> None:
    async with engine:
        agent = Agent(ScriptedClient(), tools=[deploy, run_shell], middleware=[*HooklineMiddleware(engine)])
        print((await agent.run("ship it")).text)


if __name__ == "__main__":
    asyncio.run(main())
