"""Hooks in an agent of the Claude Agent SDK: two tools of your own, and a guard that no prompt gets around.

It runs Claude Code, which the SDK brings along, and needs a key, or an address of a model in ANTHROPIC_BASE_URL.
"""

import asyncio
import os
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    ToolResultBlock,
    UserMessage,
    create_sdk_mcp_server,
    tool,
)

from hookline import Engine, Outcome, deny, rewrite
from hookline.adapters.claude_agent_sdk import with_hooks
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine()


@engine.on(PRE_TOOL_USE, "mcp__work__deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "mcp__work__run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response[0]['text']}")


@tool("deploy", "Put it into production.", {})
async def deploy(_given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "deployed"}]}


@tool("run_shell", "Run a line in a shell.", {"command": str})
async def run_shell(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": given["command"]}]}


async def main() -> None:
    options = ClaudeAgentOptions(
        cwd=os.getcwd(),
        tools=[],
        setting_sources=[],
        mcp_servers={"work": create_sdk_mcp_server("work", tools=[deploy, run_shell])},
        allowed_tools=["mcp__work__deploy", "mcp__work__run_shell"],
    )
    async with engine, ClaudeSDKClient(with_hooks(engine, options)) as client:
        await client.query("ship it")
        async for message in client.receive_response():
            if isinstance(message, UserMessage) and isinstance(message.content, list):
                for block in message.content:
                    if isinstance(block, ToolResultBlock):
                        print(_text(block.content))
            elif isinstance(message, ResultMessage):
                print(message.result)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(each["text"] for each in content)


if __name__ == "__main__":
    asyncio.run(main())
