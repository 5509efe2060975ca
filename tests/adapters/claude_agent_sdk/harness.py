"""The Claude Agent SDK under the conformance suite: the real client, with a model on loopback that reads a script."""

import asyncio
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from uuid import uuid4
from weakref import WeakKeyDictionary

from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    SdkMcpTool,
    StreamEvent,
    SystemMessage,
    create_sdk_mcp_server,
    query,
)
from msgspec import to_builtins

from hookline import Engine
from hookline.adapters.claude_agent_sdk import with_hooks
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    KnownLimit,
    ModelScript,
    Said,
    ScriptedResponse,
    ShownOutput,
    each_prompt,
)

_TYPES = "claude_agent_sdk/types.py"
_NO_MODEL_EVENTS = KnownLimit(
    "none", "the client has no event for requests to the model and its answers", f"{_TYPES}:286"
)
_NO_FAILURE_EVENTS = KnownLimit(
    "none", "the client has no event for a turn that fails or is stopped", f"{_TYPES}:286"
)
_LATE_CHECK = KnownLimit(
    "part",
    "a server checks the arguments of its tools, when the client has asked hooks",
    "claude_agent_sdk/__init__.py:632",
)
#: What the instructions of the sub-agent say, so that its requests are known from those of the conversation.
_HELPER = "You are the helper of the suite."

#: The client takes a second of a processor to start, and the SDK gives up on one that has not after sixty: of a hundred
#: conversations at once, few start at the same time.
_MOST_STARTS = 4
_STARTS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class ModelServer:
    """Anthropic's Messages protocol, with the answers of scripts."""

    def __init__(self, conversation: ConversationPlan) -> None:
        helper = conversation.helper
        self._scripts = (conversation.script, helper.script if helper is not None else ModelScript(()))
        self._helper = helper.name if helper is not None else ""
        self._tools = (
            {t.name: t for t in conversation.tools},
            {t.name: t for t in helper.tools} if helper else {},
        )
        #: Whose calls the client is running; it has one tool of a name for all agents.
        self._caller = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path.partition("?")[0] != "/v1/messages":
                    self._send("application/json", b'{"input_tokens": 1}')
                    return
                request = json.loads(body)
                try:
                    message = server.answer(request)
                except ConnectionError as error:
                    problem = {"type": "invalid_request_error", "message": str(error)}
                    self._send(
                        "application/json", json.dumps({"type": "error", "error": problem}).encode(), 400
                    )
                    return
                if request.get("stream"):
                    self._send("text/event-stream", b"".join(streamed(message)))
                else:
                    self._send("application/json", json.dumps(message).encode())

            def log_message(self, format: str, *args: Any) -> None:
                del format, args

            def _send(self, kind: str, body: bytes, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        if not request.get("tools"):  # a request of the client alone: a title, a summary
            return message_of(ScriptedResponse("ok"), request, "")
        self._caller = int(_HELPER in json.dumps(request.get("system", "")))
        said = [each for message in request["messages"] for each in said_in(message)]
        answer = self._scripts[self._caller].answer(said, [tool["name"] for tool in request["tools"]])
        return message_of(answer, request, self._helper)

    def as_sdk(self, tool: CaseTool) -> SdkMcpTool[Any]:
        async def handler(given: dict[str, Any]) -> dict[str, Any]:
            value = await self._tools[self._caller][tool.name].call(given)
            dump = getattr(value, "model_dump", None)
            text = value if isinstance(value, str) else json.dumps(dump() if dump else to_builtins(value))
            return {"content": [{"type": "text", "text": text}]}

        return SdkMcpTool(tool.name, tool.description, dict(tool.schema), handler)


def said_in(message: Mapping[str, Any]) -> Iterator[Said]:
    content = message["content"]
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if block["type"] == "tool_result":
            inner = block.get("content", "")
            texts = [inner] if isinstance(inner, str) else [each.get("text", "") for each in inner]
            yield Said("tool", "\n".join(texts), block["tool_use_id"])
        elif block["type"] == "text":
            yield Said(message["role"], block["text"])


def message_of(answer: ScriptedResponse, request: Mapping[str, Any], helper: str) -> Mapping[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    for call in answer.calls:
        name, given = call.name, dict(call.input)
        if helper and name == helper:
            name, given = "Agent", {
                "subagent_type": helper, "description": "a task", "prompt": given["task"], "run_in_background": False,
            }  # fmt: skip
        content.append({"type": "tool_use", "id": call.id, "name": name, "input": given})
    return {
        "id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": request["model"],
        "content": content, "stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def streamed(message: Mapping[str, Any]) -> Iterator[bytes]:
    """The same message as the events of a stream."""
    events: list[Mapping[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(message["content"]):
        begun: dict[str, Any]
        if block["type"] == "text":
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def client_options(conversation: ConversationPlan, server: ModelServer, home: str) -> ClaudeAgentOptions:
    helper = conversation.helper
    names = [tool.name for tool in conversation.tools]
    agents = {
        helper.name: AgentDefinition(description=helper.description, prompt=_HELPER, tools=names)
    } if helper is not None else None  # fmt: skip
    return ClaudeAgentOptions(
        cwd=conversation.cwd,
        model="claude-sonnet-5",
        tools=["Agent"] if helper is not None else [],
        agents=agents,
        mcp_servers={"suite": create_sdk_mcp_server("suite", tools=[server.as_sdk(t) for t in conversation.tools])},
        allowed_tools=[*names, *(f"mcp__suite__{name}" for name in names), "Agent"],
        setting_sources=[],
        env={
            "HOME": home, "CLAUDE_CONFIG_DIR": f"{home}/.claude", "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "not-a-key", "CLAUDE_AGENT_SDK_MCP_NO_PREFIX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1", "NO_PROXY": "127.0.0.1",
        },
    )  # fmt: skip


class ClaudeAgentSdkHarness:
    name = "claude-agent-sdk"
    cannot: Mapping[str, KnownLimit] = {
        "transient": _NO_MODEL_EVENTS,
        "request": _NO_MODEL_EVENTS,
        "answer": _NO_MODEL_EVENTS,
        "mutation: messages": _NO_MODEL_EVENTS,
        "sync: request": _NO_MODEL_EVENTS,
        "stream: request": _NO_MODEL_EVENTS,
        "stream: judged": _NO_MODEL_EVENTS,
        "context: request": _NO_MODEL_EVENTS,
        "closed: in between": _NO_MODEL_EVENTS,
        "failure: model": _NO_FAILURE_EVENTS,
        "end: settled": _NO_FAILURE_EVENTS,
        "end: settled when blocked": _NO_FAILURE_EVENTS,
        "subagent: failed": KnownLimit(
            "part", "the client does not say that a subagent failed", f"{_TYPES}:286"
        ),
        "prompt: first message": KnownLimit(
            "part", "the client adds text of hooks after the prompt", f"{_TYPES}:548"
        ),
        "prompt: rewritten": KnownLimit(
            "none", "the client takes no other prompt from a hook", f"{_TYPES}:548"
        ),
        "rewrite: missing key": _LATE_CHECK,
        "rewrite: wrong type": _LATE_CHECK,
        "invalid: arguments": _LATE_CHECK,
        "stop: after": KnownLimit(
            "part", "the client does not say why a turn ended after a call", f"{_TYPES}:1708"
        ),
    }

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        with ModelServer(conversation) as server, _home() as home:
            options = client_options(conversation, server, os.path.realpath(home))
            if conversation.entry == "stream":
                options.include_partial_messages = True
            if engine is not None:
                options = with_hooks(engine, options, session_id=conversation.id)
            if conversation.entry == "sync":
                return await each_prompt(conversation, by_query(options))
            client = ClaudeSDKClient(options)
            async with _STARTS.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_MOST_STARTS)):
                await client.connect()
            try:

                async def say(prompt: str) -> str:
                    await client.query(prompt)
                    messages: list[Any] = []
                    async for message in client.receive_response():
                        conversation.show(_piece(message))
                        messages.append(message)
                    return shown(messages)

                return await each_prompt(conversation, say)
            finally:
                await client.disconnect()


def _home() -> tempfile.TemporaryDirectory[str]:
    # A client that was cancelled may still write into it.
    return tempfile.TemporaryDirectory(prefix="claude-home-", ignore_cleanup_errors=True)


def by_query(options: ClaudeAgentOptions) -> Callable[[str], str]:
    """Play for a program without a loop: a new `query` for each prompt."""

    def say(prompt: str) -> str:
        async def play() -> list[Any]:
            return [message async for message in query(prompt=prompt, options=options)]

        messages = asyncio.run(play())
        options.resume = next(each.session_id for each in messages if isinstance(each, ResultMessage))
        return shown(messages)

    return say


def _piece(message: Any) -> str:
    """The text of an event of a stream."""
    if not isinstance(message, StreamEvent):
        return ""
    delta: dict[str, Any] = message.event.get("delta", {})
    return delta.get("text", "")


def shown(messages: Sequence[Any]) -> str:
    """The answer; or what the client says of hooks, where there is none."""
    result = next((each for each in messages if isinstance(each, ResultMessage)), None)
    if result is not None and result.result:
        return result.result
    notes = [each.data for each in messages if isinstance(each, SystemMessage)]
    return "\n".join(str(each.get("content", "")) for each in notes if each["subtype"] == "informational")
