"""Answers as the providers' servers stream them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agent.models.loopback_server import Reply

Calls = Sequence[tuple[str, str, str]]  # id, name, arguments as text


def sse(document: Any, event: str | None = None) -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(document)}\n\n".encode()


def chat_chunk(delta: Mapping[str, Any] | None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return sse(
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "toy-1",
            "choices": choices,
            **more,
        }
    )


def chat(
    *texts: str,
    calls: Calls = (),
    finish: str | None = None,
    usage: Mapping[str, Any] | None = None,
    reasoning: str = "",
    model: str = "toy-1",
) -> Reply:
    """A chat completion; the arguments of each call come in two halves, those of all calls interleaved."""
    chunks = [chat_chunk({"role": "assistant", "content": ""})]
    if reasoning:
        chunks.append(chat_chunk({"reasoning": reasoning}))
    chunks += [chat_chunk({"content": text}) for text in texts]
    halves: list[list[bytes]] = [[], []]
    for index, (one, name, arguments) in enumerate(calls):
        middle = len(arguments) // 2
        head = {"index": index, "id": one, "type": "function", "function": {"name": name, "arguments": ""}}
        chunks.append(chat_chunk({"tool_calls": [head]}))
        for half, part in enumerate((arguments[:middle], arguments[middle:])):
            halves[half].append(
                chat_chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
            )
    chunks += [*halves[0], *halves[1]]
    chunks.append(chat_chunk({}, finish or ("tool_calls" if calls else "stop")))
    if usage is not None:
        chunks.append(chat_chunk(None, usage=usage, model=model))
    return Reply(chunks=[*chunks, b"data: [DONE]\n\n"])


def anthropic_start(usage: Mapping[str, int]) -> bytes:
    message: dict[str, Any] = {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1, **usage},
    }  # fmt: skip
    return sse({"type": "message_start", "message": message}, "message_start")


def anthropic_block(place: int, block: Mapping[str, Any], deltas: Sequence[Mapping[str, Any]]) -> list[bytes]:
    return [
        sse({"type": "content_block_start", "index": place, "content_block": block}, "content_block_start"),
        *(
            sse({"type": "content_block_delta", "index": place, "delta": delta}, "content_block_delta")
            for delta in deltas
        ),
        sse({"type": "content_block_stop", "index": place}, "content_block_stop"),
    ]


def anthropic_end(stop: str = "end_turn", output: int = 5) -> list[bytes]:
    return [
        sse(
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {"output_tokens": output},
            },
            "message_delta",
        ),
        sse({"type": "message_stop"}, "message_stop"),
    ]


def anthropic(*texts: str, calls: Calls = (), thinking: str = "", stop: str = "", **usage: int) -> Reply:
    chunks = [anthropic_start(usage)]
    place = 0
    if thinking:
        deltas = [
            {"type": "thinking_delta", "thinking": thinking},
            {"type": "signature_delta", "signature": "s"},
        ]
        chunks += anthropic_block(0, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        place += 1
    if texts:
        deltas = [{"type": "text_delta", "text": text} for text in texts]
        chunks += anthropic_block(place, {"type": "text", "text": ""}, deltas)
        place += 1
    for one, name, arguments in calls:
        middle = len(arguments) // 2
        halves = (arguments[:middle], arguments[middle:])
        deltas = [{"type": "input_json_delta", "partial_json": half} for half in halves]
        chunks += anthropic_block(place, {"type": "tool_use", "id": one, "name": name, "input": {}}, deltas)
        place += 1
    return Reply(chunks=[*chunks, *anthropic_end(stop or ("tool_use" if calls else "end_turn"))])


def responses(*texts: str, calls: Calls = (), status: str = "completed", ends: bool = True) -> Reply:
    """A stream of OpenAI's Responses API."""
    whole: dict[str, Any] = {
        "id": "r1", "object": "response", "created_at": 1, "model": "gpt-4o", "status": "in_progress",
        "output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "response.created", "response": whole}]
    place = 0
    if texts:
        item: dict[str, Any] = {
            "id": "i0", "type": "message", "role": "assistant", "status": "in_progress", "content": []
        }  # fmt: skip
        events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        spot = {"item_id": "i0", "output_index": 0, "content_index": 0}
        part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
        events.append({"type": "response.content_part.added", **spot, "part": part})
        events += [
            {"type": "response.output_text.delta", **spot, "delta": text, "logprobs": []} for text in texts
        ]
        full = {**part, "text": "".join(texts)}
        events.append({"type": "response.output_text.done", **spot, "text": full["text"], "logprobs": []})
        events.append({"type": "response.content_part.done", **spot, "part": full})
        done = {**item, "status": "completed", "content": [full]}
        events.append({"type": "response.output_item.done", "output_index": 0, "item": done})
        place = 1
    for number, (one, name, arguments) in enumerate(calls, place):
        item = {
            "id": f"i{number}", "type": "function_call", "call_id": one, "name": name, "arguments": "",
            "status": "in_progress",
        }  # fmt: skip
        spot = {"item_id": f"i{number}", "output_index": number}
        done = {**item, "arguments": arguments, "status": "completed"}
        events += [
            {"type": "response.output_item.added", "output_index": number, "item": item},
            {"type": "response.function_call_arguments.delta", **spot, "delta": arguments},
            {"type": "response.function_call_arguments.done", **spot, "name": name, "arguments": arguments},
            {"type": "response.output_item.done", "output_index": number, "item": done},
        ]
    if ends:
        usage = {
            "input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
            "input_tokens_details": {"cached_tokens": 40}, "output_tokens_details": {"reasoning_tokens": 8},
        }  # fmt: skip
        events.append({"type": f"response.{status}", "response": {**whole, "status": status, "usage": usage}})
    numbered: list[dict[str, Any]] = [
        {**event, "sequence_number": index} for index, event in enumerate(events)
    ]
    return Reply(chunks=[sse(event, event["type"]) for event in numbered])


def google(*texts: str, calls: Calls = (), finish: str | None = "STOP") -> Reply:
    parts: list[dict[str, Any]] = [{"text": text} for text in texts]
    parts += [
        {"functionCall": {"id": one, "name": name, "args": json.loads(given)}} for one, name, given in calls
    ]
    documents: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts
    ]
    if finish:
        last: dict[str, Any] = {
            "candidates": [{"content": {"role": "model", "parts": []}, "finishReason": finish}]
        }
        documents.append(
            {
                **last,
                "usageMetadata": {"promptTokenCount": 30, "candidatesTokenCount": 7, "totalTokenCount": 37},
                "modelVersion": "gemini-2.5-flash",
            }
        )
    return Reply(chunks=[sse(document) for document in documents])
