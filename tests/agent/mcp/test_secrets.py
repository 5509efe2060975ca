"""Secrets in the entries of servers: nothing that is shown or written tells them when a server fails."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.agent.mcp.server_sessions import configure
from tests.cli.in_process import InProcess, in_process

#: In the environment, under names that do not sound like secrets.
PLANTED = {
    "ALPHA": "path9f31c07b", "BRAVO": "user70d2ee61", "CHARLIE": "word4e8ab5ff", "DELTA": "query c2+77b1",
    "ECHO": "header55fe01aa", "FOXTROT": "argone'e81f\"0c", "GOLF": "envd40b66a2", "HOTEL": "splitone/splittwo",
}  # fmt: skip
#: Written into the entry itself.
LITERAL = {
    "user": "literaluser1", "word": "literalword2", "query": "literalquery3", "header": "literalheader4",
    "env": "literalenv5",
}  # fmt: skip
WRITTEN = "${BRAVO}:${CHARLIE}@"
HOOKS = """\
[[hooks.UserPromptSubmit]]
hooks = [{ type = "mcp_tool", server = "far", tool = "x", on_failure = "open" }]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


@pytest.fixture
def refusing() -> Iterator[int]:
    """A server that answers 401 to everything, on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(401)

        do_GET = do_DELETE = do_POST  # noqa: N815 the names of the base class

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def _servers(port: int) -> dict[str, dict[str, Any]]:
    headers = {"X-Key": "Key ${ECHO}", "X-Other": LITERAL["header"]}
    at_home = f"http://{WRITTEN}127.0.0.1:{port}/${{ALPHA}}/mcp?k=${{DELTA}}"
    tells = 'echo "cannot use $0, $KEY and $OTHER"'
    env = {"KEY": "${GOLF}", "OTHER": LITERAL["env"]}
    return {
        "far": {"type": "http", "url": at_home.replace(str(port), "9"), "headers": headers},
        "refused": {"type": "http", "url": at_home, "headers": headers},
        "stream": {"type": "sse", "url": at_home, "headers": headers},
        "written": {
            "type": "http",
            "url": f"http://{LITERAL['user']}:{LITERAL['word']}@127.0.0.1:{port}/mcp?k={LITERAL['query']}#x",
            "headers": headers,
        },
        "odd": {"type": "http", "url": "http://${BRAVO}:${HOTEL}@127.0.0.1:9/${ALPHA}?${DELTA}"},
        "broken": {"type": "http", "url": "http://${BRAVO}@[half/${ALPHA}?${DELTA}"},
        "missing": {"command": "no-such-${FOXTROT}", "args": ["${FOXTROT}"]},
        "dies": {"command": "sh", "args": ["-c", f"{tells} >&2; exit 3", "${FOXTROT}"], "env": env},
        "chatty": {"command": "sh", "args": ["-c", f"{tells}; exit 4", "${FOXTROT}"], "env": env},
    }


def test_a_server_that_fails_is_told_of_without_its_secrets(
    here: InProcess, tmp_path: Path, refusing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    servers = _servers(refusing)
    configure(tmp_path, **servers)
    here.write(".hookline/hooks.toml", HOOKS)
    script = here.write("script.json", json.dumps([{"text": "done"}]))
    ran = here.call("agent", "--model", f"scripted:{script}", "--trust", "--print", "--json", "go")
    document = json.loads(ran.stdout)
    texts = [notice["text"] for notice in document["notices"]]
    received = {name: next(each for each in texts if f"the MCP server {name} " in each) for name in servers}
    assert f"(http://127.0.0.1:{refusing}/${{ALPHA}}/mcp) cannot be reached" in received["refused"]
    assert "(http://127.0.0.1:9/${ALPHA}/mcp)" in received["far"]
    assert "(no-such-${FOXTROT} ${FOXTROT}) cannot be started" in received["missing"]
    for name in ("dies", "chatty"):
        assert "its last output: cannot use ${FOXTROT}, ${GOLF} and [redacted];" in received[name]
    written = [file for file in here.workspace.home.rglob("*") if file.is_file() and file.name != ".mcp.json"]
    assert any("journal" in str(file) for file in written)
    for text in (ran.stdout, ran.stderr, *(file.read_text(errors="replace") for file in written)):
        assert _leaked(text) == []


def _leaked(text: str) -> list[str]:
    """A value of which a part appears is lost as a whole."""
    parts = {name: re.split(r"\W", value) for name, value in (PLANTED | LITERAL).items()}
    return [name for name, some in parts.items() if any(part in text for part in some if len(part) > 5)]
