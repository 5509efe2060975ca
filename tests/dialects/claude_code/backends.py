"""Provide what the recorded cases were played against: a server, a model, an MCP server, a directory."""

import json
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hookline.handlers.agent import HookAgentTool, HookToolOutput, Step
from hookline.handlers.mcp_tool import McpReply


def deny(event: str, reason: str) -> str:
    return json.dumps(
        {
            "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        }
    )


_DENY = deny("PreToolUse", "HK_HTTP_DENY")
_CONTEXT = json.dumps(
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "HK_HTTP_CTX"}}
)
_BAD = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "maybe"}})
_PAGES = {
    "/deny": (200, _DENY),
    "/deny201": (201, _DENY),
    "/500": (500, _DENY),
    "/badschema": (200, _BAD),
    "/ctx": (200, _CONTEXT),
    "/plain": (200, "HK_PLAIN_BODY"),
}


class Server:
    """Answers as the recorded server did, and keeps what it was sent."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.seen: list[dict[str, Any]] = []


@contextmanager
def served() -> Generator[Server]:
    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            server.seen.append(
                {
                    "method": "POST",
                    "path": self.path,
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                    "body": json.loads(body),
                }
            )
            status, text = _PAGES.get(self.path, (404, "not here"))
            if self.path == "/redirect":
                status, text = 302, ""
            self.send_response(status)
            if status == 302:
                self.send_header("location", "/deny")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it has there
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    server = Server(listener.server_address[1])
    thread = threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


class Model:
    """A scripted model: one answer to every request."""

    def __init__(self, decision: str) -> None:
        self.decision = decision
        self.prompts: list[str] = []

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        self.prompts.append(prompt)
        return self.decision

    @property
    def tools(self) -> Sequence[HookAgentTool]:
        return ()

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: Sequence[HookAgentTool]
    ) -> "Model":
        self.prompts.append(task)
        return self

    async def step(self, outputs: Sequence[HookToolOutput]) -> Step:
        return Step(self.decision)


class Mcp:
    """The MCP server `hk` of the recordings."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    async def call_tool(self, server: str, tool: str, arguments: Mapping[str, Any]) -> McpReply:
        if server != "hk":
            raise ConnectionError(f"{server} is not connected")
        self.calls.append({"name": tool, "args": dict(arguments)})
        text = arguments.get("text", "")
        if tool == "deny":
            return McpReply(deny("PreToolUse", f"HK_MCP_DENY {text}"))
        return McpReply(f"HK_MCP {text}", is_error=tool == "fail")
