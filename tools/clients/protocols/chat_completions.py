"""OpenAI's chat completions, which most other servers of models speak too."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from tools.clients.protocols.protocol import Call, Conversation, Result

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class ChatCompletions:
    def __init__(self, refused: Callable[[str], bool]) -> None:
        """Results have no flag for it: `refused` knows the result of a call that the client did not make."""
        self._refused = refused

    def asks(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def streams(self, path: str, request: Any) -> bool:
        del path
        return bool(request.get("stream"))

    def read(self, request: Any) -> Conversation:
        messages: Sequence[Mapping[str, Any]] = request["messages"]
        made = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        outputs = {
            message["tool_call_id"]: "".join(_texts(message))
            for message in messages
            if message["role"] == "tool"
        }
        return Conversation(
            opening="\n".join(
                text for message in messages if message["role"] == "user" for text in _texts(message)
            ),
            offered=frozenset(tool["function"]["name"] for tool in request.get("tools") or ()),
            made=len(made),
            results={
                number: Result(outputs[id_], self._refused(outputs[id_]))
                for number, id_ in enumerate(made)
                if id_ in outputs
            },
            received=frozenset(text for message in messages for text in _texts(message)),
        )

    def write(self, request: Any, name: str, call: Call | None, number: int, *, stream: bool) -> bytes:
        said: dict[str, Any] = {"role": "assistant"}
        if call is None:
            said["content"] = name
        else:
            function = {"name": name, "arguments": json.dumps(call.given)}
            id_ = f"call_{number}_{uuid4().hex[:8]}"
            said |= {
                "content": None,
                "tool_calls": [{"index": 0, "id": id_, "type": "function", "function": function}],
            }
        ended = "stop" if call is None else "tool_calls"
        document = {"id": f"chat_{uuid4().hex}", "created": 1, "model": request.get("model", "scripted")}
        if not stream:
            choice = {"index": 0, "message": said, "finish_reason": ended}
            whole = {**document, "object": "chat.completion", "choices": [choice], "usage": _USAGE}
            return json.dumps(whole).encode()
        kind = {**document, "object": "chat.completion.chunk"}
        chunks: Sequence[Mapping[str, Any]] = (
            {**kind, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**kind, "choices": [{"index": 0, "delta": {}, "finish_reason": ended}], "usage": _USAGE},
        )
        return "".join(f"data: {json.dumps(each)}\n\n" for each in chunks).encode() + b"data: [DONE]\n\n"


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content") or ""
    if isinstance(content, str):
        yield content
    else:
        yield from (part.get("text", "") for part in content)
