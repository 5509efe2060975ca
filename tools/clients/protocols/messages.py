"""Anthropic's Messages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from tools.clients.protocols.protocol import Call, Conversation, Result, as_events


class Messages:
    def asks(self, path: str) -> bool:
        return path == "/v1/messages"

    def streams(self, path: str, request: Any) -> bool:
        del path
        return bool(request.get("stream"))

    def read(self, request: Any) -> Conversation:
        messages: Sequence[Mapping[str, Any]] = request["messages"]
        blocks = [block for message in messages for block in _blocks(message)]
        made = dict.fromkeys(block["id"] for block in blocks if block["type"] == "tool_use")
        numbers = {id_: number for number, id_ in enumerate(made)}
        return Conversation(
            opening="".join(_texts(messages[0])) if messages else "",
            offered=frozenset(tool["name"] for tool in request.get("tools", [])),
            made=len(numbers),
            results={
                numbers[block["tool_use_id"]]: Result("".join(_texts(block)), bool(block.get("is_error")))
                for block in blocks
                if block["type"] == "tool_result" and block["tool_use_id"] in numbers
            },
            received=frozenset(text for message in messages for text in _texts(message)),
        )

    def write(self, request: Any, name: str, call: Call | None, number: int, *, stream: bool) -> bytes:
        block: Mapping[str, Any]
        if call is None:
            block = {"type": "text", "text": name}
        else:
            block = {
                "type": "tool_use",
                "id": f"toolu_{number}_{uuid4().hex[:8]}",
                "name": name,
                "input": call.given,
            }
        message = {
            "id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": request["model"],
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return as_events(_streamed(message, block)) if stream else json.dumps(message).encode()


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content", "")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    return (block.get("text", "") for block in _blocks(message) if block["type"] == "text")


def _streamed(message: Mapping[str, Any], block: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The same message as the events of a stream."""
    begun: Mapping[str, Any]
    if block["type"] == "text":
        begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        begun = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return (
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )
