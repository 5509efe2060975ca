"""The Antigravity SDK under the conformance suite: its real program, with a model on loopback that reads a script."""

import json
import re
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.antigravity import Agent, LocalAgentConfig, types
from google.antigravity.hooks import policy

from hookline import Engine
from hookline.adapters.antigravity import with_hooks
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    KnownLimit,
    ModelScript,
    Said,
    ScriptedResponse,
    ShownOutput,
    UnplayableError,
    each_prompt,
)

_NO_MODEL_EVENTS = KnownLimit(
    "none",
    "the SDK has no hook for requests to the model and its answers",
    "google/antigravity/hooks/hook_runner.py:28",
)
_NO_TEXT = KnownLimit(
    "none",
    "a hook before a turn lets the prompt pass or not, and adds nothing",
    "google/antigravity/types.py:1491",
)
_NO_FAILURE = KnownLimit(
    "none",
    "after an error of the provider the SDK ends the turn before it calls a hook",
    "google/antigravity/connections/local/local_connection.py:664",
)
_NO_STOP = KnownLimit(
    "none", "a hook can deny a call, but not end the turn", "google/antigravity/types.py:1491"
)
#: What the program writes before the JSON of a result.
_FENCE = "```json\n"
#: What differs between two runs: the time, the folder, the id that the program gives a conversation.
_RUN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|antigravity-\w{8}\b|\b[0-9a-f]{32}\b|\b[0-9a-f-]{36}\b")


@contextmanager
def served(script: ModelScript) -> Generator[str]:
    """Serve the format of Gemini, with the answers of a script."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            tools = [
                each["name"] for tool in request.get("tools", ()) for each in tool["functionDeclarations"]
            ]
            try:
                answer = script.answer(said_in(request), tools)
            except ConnectionError as error:
                problem = {"code": 400, "message": str(error), "status": "INVALID_ARGUMENT"}
                self._send("application/json", json.dumps({"error": problem}).encode(), 400)
                return
            lines = [f"data: {json.dumps(each)}\r\n\r\n" for each in chunks(answer)]
            self._send("text/event-stream", "".join(lines).encode())

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

        def _send(self, kind: str, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def said_in(request: Mapping[str, Any]) -> Iterator[Said]:
    for part in request.get("systemInstruction", {}).get("parts", ()):
        yield Said("system", _same(part.get("text", "")))
    for content in request["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                given = part["functionResponse"]
                yield Said("tool", _same(result_in(given["response"])), given["id"])
            elif "text" in part:
                yield Said("assistant" if content["role"] == "model" else "user", _same(part["text"]))


def _same(text: str) -> str:
    """Return the text without the time of day and the folder of this run, which the program tells the model."""
    return _RUN.sub("(of this run)", text)


def result_in(response: Mapping[str, Any]) -> str:
    """Return what a tool returned; or all that the program writes, where it returned nothing."""
    text = str(response.get("output", response))
    _, fence, rest = text.partition(_FENCE)
    if not fence:
        return text
    value = json.loads(rest.rpartition("\n```")[0])
    plain = value.get("result", value) if isinstance(value, dict) else value  # type: ignore[reportUnknownMemberType]
    return plain if isinstance(plain, str) else json.dumps(plain)


def chunks(answer: ScriptedResponse) -> Iterator[dict[str, Any]]:
    """The events of a stream."""
    for piece in answer.pieces:
        yield {"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}}]}
    calls = [{"functionCall": {"id": c.id, "name": c.name, "args": dict(c.input)}} for c in answer.calls]
    yield {
        "candidates": [{"content": {"role": "model", "parts": calls}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2},
    }


def as_sdk(tool: CaseTool) -> Callable[..., Any]:
    @wraps(tool.function)
    async def run(**given: Any) -> Any:
        return await tool.call(given)

    run.__name__, run.__doc__ = tool.name, tool.description
    return run


def configured(url: str, folder: str, tools: list[Callable[..., Any]]) -> LocalAgentConfig:
    """Return an agent with these tools and none of the program's own."""
    endpoint = types.GeminiAPIEndpoint(api_key="not-a-key", base_url=url)
    model = types.ModelTarget(name="gemini-2.5-flash", types=[types.ModelType.TEXT], endpoint=endpoint)
    return LocalAgentConfig(
        model=model, api_key="not-a-key", tools=tools, policies=[policy.allow_all()], workspaces=[folder],
        app_data_dir=folder, save_dir=folder, env={"HOME": folder},
        capabilities=types.CapabilitiesConfig(enabled_tools=[], enable_subagents=False),
    )  # fmt: skip


class AntigravityHarness:
    name = "antigravity"
    cannot: Mapping[str, KnownLimit] = {
        "transient": _NO_MODEL_EVENTS,
        "request": _NO_MODEL_EVENTS,
        "answer": _NO_MODEL_EVENTS,
        "mutation: messages": _NO_MODEL_EVENTS,
        "stream: request": _NO_MODEL_EVENTS,
        "stream: judged": _NO_MODEL_EVENTS,
        "context: request": _NO_MODEL_EVENTS,
        "closed: in between": _NO_MODEL_EVENTS,
        "context: prompt": _NO_TEXT,
        "context: session start": _NO_TEXT,
        "context: kept": _NO_TEXT,
        "prompt: first message": _NO_TEXT,
        "prompt: rewritten": KnownLimit(
            "none",
            "a prompt that a hook rewrites is blocked: the SDK takes no other",
            "google/antigravity/types.py:1491",
        ),
        "context: beside a result": KnownLimit(
            "part", "a hook has no place for text but the result", "google/antigravity/hooks/hooks.py:186"
        ),
        "failure: model": _NO_FAILURE,
        "subagent: failed": _NO_FAILURE,
        "stop": _NO_STOP,
        "stream: stop": _NO_STOP,
        "end: settled when blocked": KnownLimit("part", _NO_STOP.reason, _NO_STOP.source),
        "sync": KnownLimit(
            "none", "the SDK has no synchronous entry point", "google/antigravity/agent.py:243"
        ),
    }

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        if conversation.entry == "sync":
            raise UnplayableError("the SDK has no synchronous entry point")
        tools = [as_sdk(tool) for tool in conversation.tools]
        if conversation.helper is not None:
            tools.append(_helper_tool(conversation, engine))
        with home() as folder:
            async with _started(conversation.script, folder, tools, conversation, engine) as agent:

                async def say(prompt: str) -> str:
                    try:
                        async for piece in await agent.chat(prompt):
                            conversation.show(piece)
                    except types.AntigravityExecutionError as error:  # what a program shows its user
                        return str(error)
                    return agent.conversation.last_response

                return await each_prompt(conversation, say)


def home() -> tempfile.TemporaryDirectory[str]:
    # A program that was cancelled may still write into it.
    return tempfile.TemporaryDirectory(prefix="antigravity-", ignore_cleanup_errors=True)


@asynccontextmanager
async def _started(
    script: ModelScript,
    folder: str,
    tools: list[Callable[..., Any]],
    conversation: ConversationPlan,
    engine: Engine | None,
    name: str = "",
) -> AsyncGenerator[Agent]:
    with served(script) as url:
        config = configured(url, folder, tools)
        if engine is not None:
            config = with_hooks(engine, config, conversation.id, name, cwd=conversation.cwd)
        async with Agent(config) as agent:
            yield agent


def _helper_tool(conversation: ConversationPlan, engine: Engine | None) -> Callable[..., Any]:
    helper = conversation.helper
    assert helper is not None

    async def run(task: str) -> str:
        tools = [as_sdk(tool) for tool in helper.tools]
        with home() as folder:
            async with _started(helper.script, folder, tools, conversation, engine, helper.name) as agent:
                return await (await agent.chat(task)).text()

    run.__name__, run.__doc__ = helper.name, helper.description
    return run
