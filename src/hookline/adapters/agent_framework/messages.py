"""Convert messages, answers and results of the Agent Framework for hooks and back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from agent_framework import AgentResponse, AgentResponseUpdate, Content, Message, add_usage_details
from pydantic_core import to_jsonable_python

from hookline.adapters.tool_calls import translated_call

#: The framework's names of usage, and those of hooks.
_USAGE = {
    "input_token_count": "input_tokens",
    "output_token_count": "output_tokens",
    "cache_read_input_token_count": "cache_read_tokens",
    "cache_creation_input_token_count": "cache_write_tokens",
    "reasoning_output_token_count": "reasoning_tokens",
}


def said(text: str, role: str = "assistant") -> Message:
    """Return a message of one text."""
    return Message(role, [text])


def shown_messages(instructions: Any, messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return the messages of a request as hooks read them, the system prompt first."""
    first = (
        [{"role": "system", "content": instructions}]
        if isinstance(instructions, str) and instructions
        else []
    )
    return [*first, *(to_jsonable_python(each.to_dict(), fallback=str) for each in messages)]


def read_messages(messages: Iterable[Mapping[str, Any]]) -> tuple[str | None, list[Message]]:
    """Return the system prompt and the messages, in the framework's form or in the usual one, as a hook wrote them."""
    system, others = list[str](), list[Message]()
    for each in messages:
        if "contents" in each:
            others.append(Message.from_dict(dict(each)))
        elif each.get("role") == "system":
            system.append(str(each["content"]))
        else:
            others.append(said(str(each["content"]), str(each["role"])))
    return "\n\n".join(system) or None, others


def calls_of(contents: Iterable[Content]) -> list[dict[str, Any]]:
    """Return the calls of an answer as hooks read them."""
    return [
        translated_call(each.call_id, each.name, each.parse_arguments() or {})
        for each in contents
        if each.type == "function_call"
    ]


def usage_of(response: Any) -> dict[str, Any]:
    """Return the usage of an answer by the names of hooks."""
    given: Mapping[str, Any] = response.usage_details or {}
    return {name: given[key] for key, name in _USAGE.items() if given.get(key) is not None}


def with_text(contents: Iterable[Content], text: str) -> list[Content]:
    """Return the contents of an answer with another text."""
    others = [each for each in contents if each.type != "text"]
    return [*([Content.from_text(text)] if text else []), *others]


def shown_result(value: Any) -> Any:
    """Return a tool's result as hooks read it: a text, or the parts of a richer one."""
    if not isinstance(value, list):
        return to_jsonable_python(value, fallback=str)
    parts = cast("list[Any]", value)
    if all(isinstance(each, Content) and each.type == "text" for each in parts):
        return "\n".join(each.text or "" for each in parts)
    return [to_jsonable_python(each.to_dict(), fallback=str) for each in parts]


def whole(earlier: Sequence[Any], result: Any) -> Any:
    """Return a result with the messages and the usage of the runs before the model was sent back."""
    if not earlier:
        return result
    usage = result.usage_details
    for each in earlier:
        usage = add_usage_details(usage, each.usage_details)
    messages = [message for each in (*earlier, result) for message in each.messages]
    return AgentResponse(
        messages=messages, response_id=result.response_id, agent_id=result.agent_id,
        created_at=result.created_at, finish_reason=result.finish_reason, usage_details=usage, value=result.value,
        raw_representation=result.raw_representation, additional_properties=result.additional_properties,
    )  # fmt: skip


def whole_stream(results: Sequence[Any], updates: Sequence[AgentResponseUpdate]) -> Any:
    """Return the result of a stream: that of its runs, if there were any. Updates of two runs would be one message."""
    return whole(results[:-1], results[-1]) if results else AgentResponse.from_updates(updates)
