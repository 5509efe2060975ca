"""A server with one tool, which asks the user for a name."""

import json
import sys
from typing import Any

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOOL: dict[str, Any] = {
    "name": "greet",
    "description": "greets somebody",
    "inputSchema": {"type": "object", "properties": {}},
}


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def greet(number: int) -> None:
    send(
        {
            "id": "asked",
            "method": "elicitation/create",
            "params": {"message": "Who is there?", "requestedSchema": NAME},
        }
    )
    answer = json.loads(sys.stdin.readline())["result"]
    said = f"hello {answer['content']['name']}" if answer["action"] == "accept" else "hello nobody"
    send({"id": number, "result": {"content": [{"type": "text", "text": said}]}})


for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            known: dict[str, Any] = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "guest", "version": "1"},
            }
            send({"id": asked["id"], "result": known})
        case "tools/list":
            send({"id": asked["id"], "result": {"tools": [TOOL]}})
        case "tools/call":
            greet(asked["id"])
        case _ if "id" in asked:
            send({"id": asked["id"], "result": {}})
        case _:
            pass
