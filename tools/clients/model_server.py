"""A model on loopback that plays scripts, in the protocol of whichever client asks.

A script belongs to the conversation whose opening contains its name; the calls made in it so far say which of its steps
is next. So it does not matter what else the client asks for in between, or how often it retries.
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tools.clients.protocols.protocol import Call, ModelProtocol, Result

_DONE = "done"


class Model:
    """Serves until it is closed. `results` has how the calls ended, by script and step."""

    def __init__(self, scripts: Mapping[str, Sequence[Call]], protocol: ModelProtocol, port: int = 0) -> None:
        self._scripts = scripts
        self._protocol = protocol
        self.results: dict[tuple[str, int], Result] = {}
        #: Requests without the tool of the next step: a client that asks for a title may send a few others.
        self._unoffered: list[str] = []
        #: Every text that the model read, in any conversation of the scripts.
        self.received: set[str] = set()
        #: How often it was asked in a conversation of the scripts.
        self.asked = 0
        #: Seconds that each call took, from the answer that made it to the request with its result.
        self.waits: list[float] = []
        self._answered = 0.0
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self, protocol))
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
        """Return how the last call of the first script ended; None if it was never made."""
        name, script = next(iter(self._scripts.items()))
        return self.results.get((name, len(script) - 1))

    @property
    def problems(self) -> list[str]:
        """Return why the last call was not made, where the model had no way to make it."""
        return self._unoffered if self.last_result is None else []

    def answered(self) -> None:
        """The client has its answer, and makes the call that is in it."""
        self._answered = time.perf_counter()

    def step(self, request: Any) -> tuple[str, Call | None, int]:
        """The tool to call, how, and the number of the call; or a text."""
        found = self._protocol.read(request)
        name = next((name for name in self._scripts if name in found.opening), None)
        if name is None or not found.offered:
            return _DONE, None, 0
        self.asked += 1
        if found.made == len(self.waits) + 1:
            self.waits.append(time.perf_counter() - self._answered)
        self.results |= {(name, number): result for number, result in found.results.items()}
        self.received |= found.received
        if found.made >= len(self._scripts[name]):
            return _DONE, None, 0
        wanted = self._scripts[name][found.made]
        tool = next((each for each in wanted.names if each in found.offered), None)
        if tool is None:
            self._unoffered.append(f"the client offers none of {', '.join(wanted.names)}")
            return _DONE, None, 0
        return tool, wanted, found.made


def _handler(model: Model, protocol: ModelProtocol) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are sent together and at once: else the kernel keeps the body back until the client has
        # acknowledged the head, up to 40 ms.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            path = self.path.partition("?")[0]
            if not protocol.asks(path):
                self._send(200, "application/json", b'{"input_tokens": 1, "totalTokens": 1}')
                return
            request = json.loads(body)
            name, call, number = model.step(request)
            stream = protocol.streams(path, request)
            kind = "text/event-stream" if stream else "application/json"
            answer = protocol.write(request, name, call, number, stream=stream)
            if call is not None:
                model.answered()
            self._send(200, kind, answer)

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

    return Handler
