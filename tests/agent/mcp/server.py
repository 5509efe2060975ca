"""A small MCP server over stdio, without any package. Words on its command line say how it misbehaves."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ANY: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS = {
    "echo": TEXT,
    "fail": TEXT,
    "deny": TEXT,
    "ask": TEXT,
    "env": ANY,
    "pid": ANY,
    "sleep": ANY,
    "die": ANY,
    "picture": ANY,
}
WHO = {"type": "object", "properties": {"username": {"type": "string", "title": "Username"}}}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = next(sys.stdin, "")
    if not line:
        sys.exit(0)
    return json.loads(line)


def text(said: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], "isError": error}


def ask(number: int) -> dict[str, Any]:
    send(
        {
            "id": f"question-{number}",
            "method": "elicitation/create",
            "params": {"message": "who?", "requestedSchema": WHO},
        }
    )
    while True:
        message = receive()
        if message.get("id") == f"question-{number}":
            return text("answered " + json.dumps(message.get("result", message.get("error")), sort_keys=True))


def sleep() -> dict[str, Any]:
    time.sleep(60)
    return text("awake")


def die() -> dict[str, Any]:
    sys.stderr.write("out of\x1b[31m cheese\n")
    sys.stderr.flush()
    os._exit(3)


def call(number: int, name: str, given: dict[str, Any]) -> dict[str, Any]:
    said = given.get("text")
    does: dict[str, Callable[[], dict[str, Any]]] = {
        "fail": lambda: text("it went wrong", error=True),
        "deny": lambda: text(json.dumps({"decision": "block", "reason": f"denied: {said}"})),
        "ask": lambda: ask(number),
        "env": lambda: text(json.dumps(dict(os.environ))),
        "pid": lambda: text(str(os.getpid())),
        "picture": lambda: {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]},
        "sleep": sleep,
        "die": die,
        "echo": lambda: text(f"echo {said}"),
    }
    return does[name]()


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "small", "version": "1"},
            }
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": schema} for name, schema in TOOLS.items()]}
        case "tools/call":
            return call(message["id"], params["name"], params.get("arguments", {}))
        case _:
            return None


def begin(words: list[str]) -> None:
    if "garbage" in words:
        sys.stdout.buffer.write(b"Welcome!\x1b[2J\n\xff\xfe not json\n{}\n[1]\n")
        sys.stdout.flush()
    while "slow" in words and not os.path.exists("gate"):
        time.sleep(0.02)
    if "dies" in words:
        sys.exit("no cheese today")
    while "silent" in words:
        receive()
    if "stubborn" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def main(words: list[str]) -> None:
    begin(words)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        if result is None:
            send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        else:
            send({"id": message["id"], "result": result})
    if "stubborn" in words:
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1:])
