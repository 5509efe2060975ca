"""A request in pydantic-ai's words, in an order every provider accepts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from pydantic_ai.messages import (
    CachePoint,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from hookline.agent.messages import Assistant, Message, ToolResult, ToolUse, User
from hookline.agent.modelport import Request
from hookline.agent.providers.plain import jsonable, sendable

#: Providers refuse blank text.
_BLANK_MESSAGE: Final = "(empty)"
_BLANK_RESULT: Final = "(no output)"
_NO_RESULT: Final = "There is no result of this call: it was interrupted."


def parameters(request: Request) -> ModelRequestParameters:
    system = sendable(request.system)
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=sendable(tool.description),
                parameters_json_schema=jsonable(dict(tool.schema)),
                # Strict would rewrite the schema; what does not fit is told to the model by the agent.
                strict=False,
            )
            for tool in request.tools
        ],
        instruction_parts=[InstructionPart(content=system)] if system.strip() else [],
    )


def model_messages(messages: Sequence[Message], *, marks: bool) -> list[ModelMessage]:
    """The conversation. `marks`: the provider takes cache marks."""
    found: list[ModelMessage] = []
    said: list[User | ToolResult] = []
    open_calls: Sequence[ToolUse] = ()
    for message in messages:
        if not isinstance(message, Assistant):
            said.append(message)
            continue
        _add_turn(found, open_calls, said, marks=marks)
        said, open_calls = [], message.tool_calls
        spoken = _spoken(message)
        if spoken:
            found.append(ModelResponse(parts=spoken))
    _add_turn(found, open_calls, said, marks=marks)
    return found


def _add_turn(
    found: list[ModelMessage], calls: Sequence[ToolUse], said: Sequence[User | ToolResult], *, marks: bool
) -> None:
    """What came between two answers. Every call gets its one result, first: providers refuse anything else."""
    results = {each.tool_use_id: each for each in said if isinstance(each, ToolResult)}
    called = {call.id for call in calls}
    parts: list[ModelRequestPart] = [_result(call, results.get(call.id)) for call in calls]
    parts += [_told(each, marks=marks) for each in said if isinstance(each, User)]
    parts += [_orphan(each) for each in _unasked(said, called)]
    if parts:
        found.append(ModelRequest(parts=parts))


def _unasked(said: Iterable[User | ToolResult], called: set[str]) -> Iterable[ToolResult]:
    return (each for each in said if isinstance(each, ToolResult) and each.tool_use_id not in called)


def _spoken(message: Assistant) -> list[TextPart | ToolCallPart]:
    parts: list[TextPart | ToolCallPart] = []
    if message.text.strip():
        parts.append(TextPart(content=sendable(message.text)))
    for call in message.tool_calls:
        given = call.input
        arguments = sendable(given) if isinstance(given, str) else _arguments(given)
        parts.append(ToolCallPart(tool_name=call.name, args=arguments, tool_call_id=call.id))
    return parts


def _arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", jsonable(dict(given)))


def _result(call: ToolUse, result: ToolResult | None) -> ToolReturnPart:
    text = _NO_RESULT if result is None else sendable(result.text)
    failed = result is None or result.is_error
    return ToolReturnPart(
        tool_name=call.name,
        content=text if text.strip() else _BLANK_RESULT,
        tool_call_id=call.id,
        outcome="failed" if failed else "success",
    )


def _told(message: User, *, marks: bool) -> UserPromptPart:
    text = sendable(message.text) if message.text.strip() else _BLANK_MESSAGE
    return UserPromptPart(content=[text, CachePoint()] if message.cache and marks else text)


def _orphan(result: ToolResult) -> UserPromptPart:
    """A result whose call is no longer in the conversation: a hook or a summary took it out."""
    return UserPromptPart(content=f"[result of {result.name}]\n{sendable(result.text)}")
