"""A model on loopback that speaks Anthropic's Messages protocol and plays scripts.

A script belongs to the conversation whose first message contains its name; the calls made in it so far say which of
its steps is next. So it does not matter what else the client asks for in between, or how often it retries.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from uuid import uuid4

from msgspec import Struct

_DONE = "done"


class Call(Struct, frozen=True):
    """A tool call of the model. Of several names the first that the client offers is used."""

    names: tuple[str, ...]
    given: Mapping[str, Any]


class Result(Struct, frozen=True):
    """What the model was told of a call."""

    text: str
    is_error: bool


def call(names: str, **given: Any) -> Call:
    return Call(tuple(names.split("|")), given)


class Model:
    """Serves until it is closed. `results` has how the calls ended, by script and step."""

    def __init__(self, scripts: Mapping[str, Sequence[Call]]) -> None:
        self._scripts = scripts
        self.results: dict[tuple[str, int], Result] = {}
        self.problems: list[str] = []
        #: Everything that the model was told in words, in any conversation of the scripts.
        self.told: set[str] = set()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path.partition("?")[0] != "/v1/messages":
                    self._send(200, "application/json", b'{"input_tokens": 1}')
                    return
                request = json.loads(body)
                message = model.answer(request)
                if request.get("stream"):
                    self._send(200, "text/event-stream", b"".join(_streamed(message)))
                else:
                    self._send(200, "application/json", json.dumps(message).encode())

            def do_GET(self) -> None:
                self._send(404, "application/json", b"{}")

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
                del format, args

            def _send(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
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

    @property
    def last_result(self) -> Result | None:
        """How the last call of the first script ended; None if it was never made."""
        name, script = next(iter(self._scripts.items()))
        return self.results.get((name, len(script) - 1))

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        messages: Sequence[Mapping[str, Any]] = request["messages"]
        first = "".join(_texts(messages[0])) if messages else ""
        name = next((name for name in self._scripts if name in first), None)
        offered = {tool["name"] for tool in request.get("tools", [])}
        if name is None or not offered:
            return _message({"type": "text", "text": _DONE}, request)
        step = len(
            {block["id"] for message in messages for block in _blocks(message) if block["type"] == "tool_use"}
        )
        self._keep_results(name, messages)
        self.told.update(text for message in messages for text in _texts(message))
        if step >= len(self._scripts[name]):
            return _message({"type": "text", "text": _DONE}, request)
        wanted = self._scripts[name][step]
        tool = next((each for each in wanted.names if each in offered), None)
        if tool is None:
            self.problems.append(f"the client offers none of {', '.join(wanted.names)}")
            return _message({"type": "text", "text": _DONE}, request)
        block = {"type": "tool_use", "id": f"toolu_{name}_{step}", "name": tool, "input": wanted.given}
        return _message(block, request)

    def _keep_results(self, name: str, messages: Sequence[Mapping[str, Any]]) -> None:
        for message in messages:
            for block in _blocks(message):
                told: str = block.get("tool_use_id", "")
                if block["type"] == "tool_result" and told.startswith(f"toolu_{name}_"):
                    text = "".join(_texts(block))
                    result = Result(text, bool(block.get("is_error")))
                    self.results[name, int(told.rpartition("_")[2])] = result


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content", "")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    return (block.get("text", "") for block in _blocks(message) if block["type"] == "text")


def _message(block: Mapping[str, Any], request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": request["model"],
        "content": [block],
        "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def _streamed(message: Mapping[str, Any]) -> Iterator[bytes]:
    """The same message as the events of a stream."""
    block: Mapping[str, Any] = message["content"][0]
    begun: Mapping[str, Any]
    if block["type"] == "text":
        begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        begun = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events: Sequence[Mapping[str, Any]] = (
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
