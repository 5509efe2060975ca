"""A small MCP server over stdio, without any package. Words on its command line say how it misbehaves."""

import json
import os
import sys
import time
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
    line = sys.stdin.readline()
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


def call(number: int, name: str, given: dict[str, Any]) -> dict[str, Any]:
    match name:
        case "fail":
            return text("it went wrong", error=True)
        case "deny":
            return text(json.dumps({"decision": "block", "reason": f"denied: {given['text']}"}))
        case "ask":
            return ask(number)
        case "env":
            return text(json.dumps(dict(os.environ)))
        case "pid":
            return text(str(os.getpid()))
        case "sleep":
            time.sleep(60)
            return text("awake")
        case "die":
            sys.stderr.write("out of\x1b[31m cheese\n")
            sys.stderr.flush()
            os._exit(3)
        case "picture":
            return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}], "isError": False}
        case _:
            return text(f"echo {given.get('text')}")


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


def main(words: list[str]) -> None:
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
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        if "stubborn" in words:
            line = sys.stdin.readline()
            if not line:
                time.sleep(600)
            message = json.loads(line)
        else:
            message = receive()
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        if result is None:
            send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        else:
            send({"id": message["id"], "result": result})


if __name__ == "__main__":
    main(sys.argv[1:])
