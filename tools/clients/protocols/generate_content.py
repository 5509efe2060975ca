"""Google's generateContent and streamGenerateContent."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tools.clients.protocols.protocol import Call, Conversation, Result, as_events

_ANSWER, _STREAM = ":generateContent", ":streamGenerateContent"


class GenerateContent:
    def asks(self, path: str) -> bool:
        return path.endswith((_ANSWER, _STREAM))

    def streams(self, path: str, request: Any) -> bool:
        del request
        return path.endswith(_STREAM)

    def read(self, request: Any) -> Conversation:
        contents: Sequence[Mapping[str, Any]] = request.get("contents", ())
        parts: Sequence[Mapping[str, Any]] = [part for each in contents for part in each.get("parts", ())]
        results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        received = [
            part["text"]
            for each in contents
            if each.get("role") == "user"
            for part in each.get("parts", ())
            if "text" in part
        ]
        tools: Sequence[Mapping[str, Any]] = request.get("tools", ())
        return Conversation(
            opening="\n".join(received),
            offered=frozenset(one["name"] for tool in tools for one in tool.get("functionDeclarations", ())),
            made=sum("functionCall" in part for part in parts),
            results={number: _result(each) for number, each in enumerate(results)},
            received=frozenset(received),
        )

    def write(self, request: Any, name: str, call: Call | None, number: int, *, stream: bool) -> bytes:
        del request, number
        part = {"text": name} if call is None else {"functionCall": {"name": name, "args": call.given}}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        document = {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "scripted"}
        return as_events([document], named=False) if stream else json.dumps(document).encode()


def _result(response: Mapping[str, Any]) -> Result:
    error = response.get("error")
    return Result(str(response.get("output", "")) if error is None else str(error), error is not None)
