"""What a provider answered, in the agent's words, or why that is no answer."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from hookline.agent.messages import ToolUse
from hookline.agent.modelport import ModelError, Response, Usage
from hookline.agent.providers.plain import sendable

_CUT: Final = "the model's answer was cut off at its limit of tokens"


def response_of(answer: ModelResponse) -> Response:
    """The whole answer. Raises ModelError when it is none, or only the beginning of one."""
    text = "".join(sendable(part.content) for part in answer.parts if isinstance(part, TextPart))
    thoughts = "".join(sendable(part.content) for part in answer.parts if isinstance(part, ThinkingPart))
    calls = _calls([part for part in answer.parts if isinstance(part, ToolCallPart)])
    _refuse_half(answer, text, calls)
    return Response(text=text, tool_calls=calls, reasoning=thoughts or None, usage=_usage(answer))


def _refuse_half(answer: ModelResponse, text: str, calls: Sequence[ToolUse]) -> None:
    usable = bool(text.strip() or calls)
    details = answer.provider_details or {}
    # Not `answer.finish_reason`: that one is guessed where a server closed without giving any.
    if not details.get("finish_reason") or answer.state != "complete":
        raise ModelError("server", "the stream ended before the answer did")
    if answer.finish_reason == "length" and (not usable or any(isinstance(c.input, str) for c in calls)):
        raise ModelError("max_tokens", _CUT)
    if answer.finish_reason == "content_filter" and not usable:
        said = sendable(str(details.get("refusal") or ""))
        raise ModelError("unknown", "the provider's content filter refused" + (f": {said}" if said else ""))
    if answer.finish_reason == "error" and not usable:
        raise ModelError("server", "the provider broke the answer off with an error")


def _calls(parts: Sequence[ToolCallPart]) -> tuple[ToolUse, ...]:
    taken: set[str] = set()
    calls: list[ToolUse] = []
    for place, part in enumerate(parts, 1):
        one = sendable(part.tool_call_id)
        # Results are matched by id: two calls must never share one.
        while not one or one in taken:
            one = f"{one or 'call'}_{place}"
        taken.add(one)
        calls.append(ToolUse(id=one, name=sendable(part.tool_name), input=_input(part.args)))
    return tuple(calls)


def _input(arguments: str | dict[str, Any] | None) -> Mapping[str, Any] | str:
    """A JSON object, or the text as it came: the agent tells the model what is wrong with it."""
    if isinstance(arguments, dict):
        return arguments
    if not arguments or not arguments.strip():
        return {}
    try:
        read = msgspec.json.decode(arguments.encode())
    except (ValueError, RecursionError):
        return sendable(arguments)
    return cast("Mapping[str, Any]", read) if isinstance(read, dict) else sendable(arguments)


def _usage(answer: ModelResponse) -> Usage:
    used: RequestUsage = answer.usage
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens,
        cache_write_tokens=used.cache_write_tokens,
        reasoning_tokens=used.output_reasoning_tokens,
        cost_usd=_cost(answer),
    )


def _cost(answer: ModelResponse) -> float | None:
    """None where the price list knows nothing of the model or of the place."""
    if answer.usage.cost is not None:
        return float(answer.usage.cost)
    if not answer.usage.has_values():
        return None
    try:
        return float(answer.cost().total_price)
    except Exception:  # noqa: BLE001 - a price that cannot be told must not lose an answer
        return None
