"""Hooks in an agent of Google's Antigravity SDK: two tools of your own, and a guard that no prompt gets around.

It runs the program that the SDK brings along, on a model that is scripted: it needs no key and no network. For a real
model leave `model` out of the configuration, and give it your key.
"""

import asyncio
import json
import logging
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from google.antigravity import Agent, LocalAgentConfig, types
from google.antigravity.hooks import policy

from hookline import Engine, Outcome, deny, rewrite
from hookline.adapters.antigravity import TOOLS, with_hooks
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine(tools=TOOLS)


@engine.on(PRE_TOOL_USE, "deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response}")


def deploy() -> str:
    """Put it into production."""
    return "deployed"


def run_shell(command: str) -> str:
    """Run a line in a shell."""
    return command


class ScriptedModel(BaseHTTPRequestHandler):
    """The format of Gemini: calls two tools, shows what it reads of them, and is done."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        parts = [part for content in request["contents"] for part in content["parts"]]
        results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        for result in results:
            print(_plain(result["output"]))
        answer: list[dict[str, Any]] = [{"text": "Done."}]
        if not results:
            wanted: dict[str, Any] = {"deploy": {}, "run_shell": {"command": "ls"}}
            answer = [{"functionCall": {"id": n, "name": n, "args": args}} for n, args in wanted.items()]
        candidate = {"content": {"role": "model", "parts": answer}, "finishReason": "STOP"}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps({'candidates': [candidate]})}\r\n\r\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Not about every request."""


def _plain(text: str) -> str:
    """Return what the tool or the hook said, without the words of the program around it."""
    _, fence, rest = text.partition("```json\n")
    return json.loads(rest.rpartition("\n```")[0])["result"] if fence else text.rpartition("hook: ")[2]


async def main(address: str, folder: str) -> None:
    endpoint = types.GeminiAPIEndpoint(api_key="not-a-key", base_url=address)
    config = LocalAgentConfig(
        model=types.ModelTarget(name="scripted", types=[types.ModelType.TEXT], endpoint=endpoint),
        api_key="not-a-key",
        tools=[deploy, run_shell],
        policies=[policy.allow_all()],
        workspaces=[folder],
        app_data_dir=folder,
        save_dir=folder,
    )
    async with engine, Agent(with_hooks(engine, config)) as agent:
        print(await (await agent.chat("ship it")).text())


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the SDK's own, about how it reads functions
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        asyncio.run(main(f"http://127.0.0.1:{server.server_port}", place))
