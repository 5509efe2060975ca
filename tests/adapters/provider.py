"""A provider on loopback for the real HTTP clients of frameworks: chat completions, and the format of Gemini.

It answers from a script, and keeps the requests.
"""

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Provider:
    def __init__(self, *answers: str | dict[str, Any] | int) -> None:
        #: A text, a call as `{"name": …, "arguments": {…}}`, or the status of an error.
        self._left = list(answers)
        self._lock = threading.Lock()
        self.url = ""
        self.requests: list[dict[str, Any]] = []

    def answer(self, request: dict[str, Any]) -> str | dict[str, Any] | int:
        with self._lock:
            self.requests.append(request)
            return self._left.pop(0) if self._left else "(the script is over)"


@contextmanager
def provider(*answers: str | dict[str, Any] | int, keep_alive: bool = False) -> Generator[Provider]:
    """Serve these answers, one per request. With `keep_alive` the client must be closed, or its sockets stay open."""
    scripted = Provider(*answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = scripted.answer(request)
            if isinstance(answer, int):
                self._send("application/json", b'{"error": {"message": "no", "type": "x"}}', answer)
            elif ":streamGenerateContent" in self.path:
                lines = [f"data: {json.dumps(each)}\r\n\r\n" for each in _contents(answer)]
                self._send("text/event-stream", "".join(lines).encode())
            elif ":generateContent" in self.path:
                self._send("application/json", json.dumps(_content(answer)).encode())
            elif request.get("stream"):
                lines = [f"data: {json.dumps(each)}\n\n" for each in _chunks(answer)]
                self._send("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())
            else:
                self._send("application/json", json.dumps(_whole(answer)).encode())

        def _send(self, kind: str, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            if not keep_alive:
                self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scripted.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()


def _content(answer: str | dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """Return an answer in the format of Gemini."""
    part: dict[str, Any] = {"text": answer if text is None else text}
    if isinstance(answer, dict):
        part = {"functionCall": {"id": "c1", "name": answer["name"], "args": answer["arguments"]}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}


def _contents(answer: str | dict[str, Any]) -> list[dict[str, Any]]:
    if isinstance(answer, dict):
        return [_content(answer)]
    middle = len(answer) // 2
    first = _content(answer, answer[:middle])
    del first["candidates"][0]["finishReason"]
    return [first, _content(answer, answer[middle:])]


_USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def _call(answer: dict[str, Any]) -> dict[str, Any]:
    function = {"name": answer["name"], "arguments": json.dumps(answer["arguments"])}
    return {"id": "c1", "type": "function", "function": function}


def _whole(answer: str | dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
    if isinstance(answer, dict):
        message["tool_calls"] = [_call(answer)]
    reason = "stop" if isinstance(answer, str) else "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": _USAGE,
    }


def _chunks(answer: str | dict[str, Any]) -> Sequence[dict[str, Any]]:
    if isinstance(answer, str):
        middle = len(answer) // 2
        deltas: list[dict[str, Any]] = [{"content": answer[:middle]}, {"content": answer[middle:]}]
    else:
        deltas = [{"tool_calls": [{"index": 0, **_call(answer)}]}]
    reason = "stop" if isinstance(answer, str) else "tool_calls"
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices: list[dict[str, Any]]
    choices = [
        {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    return [*({**base, "choices": [each]} for each in choices), {**base, "choices": [], "usage": _USAGE}]
