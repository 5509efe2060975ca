"""Convert requests and answers to pydantic-ai's messages and back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec
from pydantic_ai.messages import (
    CachePoint,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from hookline.agent.models.port import CompletionRequest, CompletionResponse, ModelError
from hookline.model.messages import Assistant, Message, ToolMessage, ToolUse, Usage, User

#: Providers refuse blank text.
_BLANK_MESSAGE: Final = "(empty)"
_BLANK_RESULT: Final = "(no output)"
_NO_RESULT: Final = "This call has no result: it was interrupted."
_CUT: Final = "the model's answer was cut off at its limit of tokens"


def parameters(request: CompletionRequest) -> ModelRequestParameters:
    system = sendable(request.system)
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=sendable(tool.description),
                parameters_json_schema=jsonable(dict(tool.schema)),
                # Strict would rewrite the schema; the agent itself reports misfits to the model.
                strict=False,
            )
            for tool in request.tools
        ],
        instruction_parts=[InstructionPart(content=system)] if system.strip() else [],
    )


def model_messages(
    messages: Sequence[Message], *, marks: bool, thoughts: Mapping[str, Sequence[ThinkingPart]] | None = None
) -> list[ModelMessage]:
    """Convert the conversation, in an order every provider accepts. `marks`: the provider takes cache marks.

    `thoughts` are those that came before calls, by the id of the first call.
    """
    found: list[ModelMessage] = []
    said: list[User | ToolMessage] = []
    open_calls: Sequence[ToolUse] = ()
    for message in messages:
        if not isinstance(message, Assistant):
            said.append(message)
            continue
        _add_turn(found, open_calls, said, marks=marks)
        said, open_calls = [], message.tool_calls
        before = (thoughts or {}).get(message.tool_calls[0].id, ()) if message.tool_calls else ()
        parts = [*before, *_assistant(message)]
        if parts:
            found.append(ModelResponse(parts=parts))
    _add_turn(found, open_calls, said, marks=marks)
    return found


def _add_turn(
    found: list[ModelMessage], calls: Sequence[ToolUse], said: Sequence[User | ToolMessage], *, marks: bool
) -> None:
    """Add what came between two answers. First one result for every call: providers refuse anything else."""
    results = {each.tool_use_id: each for each in said if isinstance(each, ToolMessage)}
    called = {call.id for call in calls}
    parts: list[ModelRequestPart] = [_result(call, results.get(call.id)) for call in calls]
    parts += [_user(each, marks=marks) for each in said if isinstance(each, User)]
    parts += [_orphan(each) for each in _unasked(said, called)]
    if parts:
        found.append(ModelRequest(parts=parts))


def _unasked(said: Iterable[User | ToolMessage], called: set[str]) -> Iterable[ToolMessage]:
    return (each for each in said if isinstance(each, ToolMessage) and each.tool_use_id not in called)


def _assistant(message: Assistant) -> list[TextPart | ToolCallPart]:
    parts: list[TextPart | ToolCallPart] = []
    if message.text.strip():
        parts.append(TextPart(content=sendable(message.text)))
    for call in message.tool_calls:
        given = call.input
        arguments = (
            sendable(given) if isinstance(given, str) else cast("dict[str, Any]", jsonable(dict(given)))
        )
        parts.append(ToolCallPart(tool_name=call.name, args=arguments, tool_call_id=call.id))
    return parts


def _result(call: ToolUse, result: ToolMessage | None) -> ToolReturnPart:
    text = _NO_RESULT if result is None else sendable(result.text)
    failed = result is None or result.is_error
    return ToolReturnPart(
        tool_name=call.name,
        content=text if text.strip() else _BLANK_RESULT,
        tool_call_id=call.id,
        outcome="failed" if failed else "success",
    )


def _user(message: User, *, marks: bool) -> UserPromptPart:
    text = sendable(message.text) if message.text.strip() else _BLANK_MESSAGE
    return UserPromptPart(content=[text, CachePoint()] if message.cache and marks else text)


def _orphan(result: ToolMessage) -> UserPromptPart:
    """Convert a result whose call a hook or a summary has removed from the conversation."""
    return UserPromptPart(content=f"[result of {result.name}]\n{sendable(result.text)}")


def response_of(answer: ModelResponse) -> CompletionResponse:
    """Return the complete answer. Raises ModelError when there is none, or only its beginning."""
    text = "".join(sendable(part.content) for part in answer.parts if isinstance(part, TextPart))
    thoughts = "".join(sendable(part.content) for part in answer.parts if isinstance(part, ThinkingPart))
    calls = _calls([part for part in answer.parts if isinstance(part, ToolCallPart)])
    _refuse_incomplete(answer, text, calls)
    return CompletionResponse(text=text, tool_calls=calls, reasoning=thoughts or None, usage=_usage(answer))


def _refuse_incomplete(answer: ModelResponse, text: str, calls: Sequence[ToolUse]) -> None:
    usable = bool(text.strip() or calls)
    details = answer.provider_details or {}
    # Not `answer.finish_reason`: it is guessed when a server closes without giving one.
    if not details.get("finish_reason") or answer.state != "complete":
        raise ModelError("server", "the stream ended before the answer did", "retry")
    if answer.finish_reason == "length" and (not usable or any(isinstance(c.input, str) for c in calls)):
        raise ModelError("max_tokens", _CUT)
    if answer.finish_reason == "content_filter" and not usable:
        said = sendable(str(details.get("refusal") or ""))
        raise ModelError("unknown", "the provider's content filter refused" + (f": {said}" if said else ""))
    if answer.finish_reason == "error" and not usable:
        raise ModelError("server", "the provider ended the answer with an error", "retry")


def _calls(parts: Sequence[ToolCallPart]) -> tuple[ToolUse, ...]:
    taken: set[str] = set()
    calls: list[ToolUse] = []
    for index, part in enumerate(parts, 1):
        one = sendable(part.tool_call_id)
        # Results are matched by id: two calls must never share one.
        while not one or one in taken:
            one = f"{one or 'call'}_{index}"
        taken.add(one)
        calls.append(ToolUse(id=one, name=sendable(part.tool_name), input=_input(part.args)))
    return tuple(calls)


def _input(arguments: str | dict[str, Any] | None) -> Mapping[str, Any] | str:
    """Return a JSON object, or the text: the agent reports to the model what is wrong with it."""
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
    if not used.has_values():
        return Usage()
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        # The library also uses 0 for a count that the provider did not give.
        cache_read_tokens=used.cache_read_tokens or None,
        cache_write_tokens=used.cache_write_tokens or None,
        reasoning_tokens=used.output_reasoning_tokens or None,
        cost_usd=_cost(answer),
    )


def _cost(answer: ModelResponse) -> float | None:
    """Return the cost; None if the price list lacks the model or the URL."""
    if answer.usage.cost is not None:
        return float(answer.usage.cost)
    if not answer.usage.has_values():
        return None
    try:
        return float(answer.cost().total_price)
    except Exception:  # noqa: BLE001 - an unknown price must not lose the answer
        return None


def sendable(text: str) -> str:
    """Encode the text as UTF-8; a lone surrogate becomes a question mark."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def jsonable(value: Any) -> Any:
    """Make all texts of a JSON value sendable."""
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, dict):
        fields = cast("dict[Any, Any]", value)
        return {sendable(str(key)): jsonable(each) for key, each in fields.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in cast("list[Any]", value)]
    return value
