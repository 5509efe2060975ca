"""The small server behind HTTP, on this machine: one JSON answer for each POST."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.agent.mcp.server import answer


class Heard:
    """The requests it received."""

    def __init__(self) -> None:
        self.methods: list[str] = []
        self.authorizations: set[str | None] = set()


@contextmanager
def serving() -> Generator[tuple[str, Heard]]:
    heard = Heard()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            message: dict[str, Any] = json.loads(self.rfile.read(size))
            heard.methods.append(message["method"])
            heard.authorizations.add(self.headers.get("Authorization"))
            if "id" not in message:
                self._reply(202, b"")
                return
            result = answer(message)
            received = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
            self._reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **received}).encode())

        def do_GET(self) -> None:
            self._reply(405, b"")

        def do_DELETE(self) -> None:
            self._reply(405, b"")

        def _reply(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
