"""Hooks in an agent of the Claude Agent SDK: two tools of your own, and a guard that no prompt gets around.

It runs Claude Code, which the SDK brings along, on a model that is scripted: it needs no key and no network. For a real
model leave `env` out of the options.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
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


class ScriptedModel(BaseHTTPRequestHandler):
    """Anthropic's Messages protocol: calls two tools, shows what it reads of them, and is done."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = [each["content"] for each in request["messages"]]
        blocks: list[Any] = [block for each in said if not isinstance(each, str) for block in each]
        results = [_text(block["content"]) for block in blocks if block["type"] == "tool_result"]
        if results:
            print(*results, sep="\n")
        names = [tool["name"] for tool in request.get("tools", ())]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in _answer(calls="mcp__work__deploy" in names and not results):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Not about every request."""


def _answer(*, calls: bool) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    wanted: dict[str, Any] = {"mcp__work__deploy": {}, "mcp__work__run_shell": {"command": "ls"}}
    for index, (name, given) in enumerate(wanted.items() if calls else ()):
        block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    if not calls:
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}}
        yield {"type": "content_block_stop", "index": 0}
    reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": usage}
    yield {"type": "message_stop"}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(each["text"] for each in content)


async def main(address: str, home: str) -> None:
    options = ClaudeAgentOptions(
        tools=[],
        setting_sources=[],
        mcp_servers={"work": create_sdk_mcp_server("work", tools=[deploy, run_shell])},
        allowed_tools=["mcp__work__deploy", "mcp__work__run_shell"],
        env={
            "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "not-a-key", "CLAUDE_CONFIG_DIR": home,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "NO_PROXY": "127.0.0.1",
        },
    )  # fmt: skip
    async with engine, ClaudeSDKClient(with_hooks(engine, options)) as client:
        await client.query("ship it")
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                print(message.result)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        asyncio.run(main(f"http://127.0.0.1:{server.server_port}", home))
