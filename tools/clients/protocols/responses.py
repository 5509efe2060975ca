"""OpenAI's Responses."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from tools.clients.protocols.protocol import Call, Conversation, Result, as_events

#: The results of calls have no flag for it: how the client begins a result of a call that it did not make.
_REFUSED = (
    "Command blocked by",
    "Tool call blocked by",
    "exec_command failed",
    "apply_patch verification failed",
)
_USAGE = {
    "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
}  # fmt: skip


class Responses:
    def asks(self, path: str) -> bool:
        return path.endswith("/responses")

    def streams(self, path: str, request: Any) -> bool:
        del path
        return bool(request.get("stream"))

    def read(self, request: Any) -> Conversation:
        items: Sequence[Mapping[str, Any]] = request["input"]
        made = [
            item["call_id"] for item in items if item.get("type") in ("function_call", "custom_tool_call")
        ]
        outputs = {item["call_id"]: _text(item["output"]) for item in items if "output" in item}
        return Conversation(
            opening="\n".join(text for item in items if item.get("role") == "user" for text in _texts(item)),
            offered=frozenset(tool["name"] for tool in request.get("tools", []) if "name" in tool),
            made=len(made),
            results={
                number: Result(outputs[id_], outputs[id_].startswith(_REFUSED))
                for number, id_ in enumerate(made)
                if id_ in outputs
            },
            received=frozenset(text for item in items for text in _texts(item)),
        )

    def write(self, request: Any, name: str, call: Call | None, number: int, *, stream: bool) -> bytes:
        del request
        item: Mapping[str, Any]
        id_ = f"call_{number}_{uuid4().hex[:8]}"
        if call is None:
            content = [{"type": "output_text", "text": name}]
            item = {"type": "message", "role": "assistant", "id": f"msg_{id_}", "content": content}
        elif call.text:
            item = {"type": "custom_tool_call", "call_id": id_, "name": name, "input": call.text}
        else:
            item = {
                "type": "function_call",
                "call_id": id_,
                "name": name,
                "arguments": json.dumps(call.given),
            }
        response = {"id": f"resp_{uuid4().hex}", "output": [item], "usage": _USAGE}
        if not stream:
            return json.dumps(response).encode()
        return as_events(
            (
                {"type": "response.created", "response": {"id": response["id"]}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": response},
            )
        )


def _texts(item: Mapping[str, Any]) -> Iterator[str]:
    return (part["text"] for part in item.get("content") or () if "text" in part)


def _text(output: Any) -> str:
    return output if isinstance(output, str) else "".join(part.get("text", "") for part in output)
