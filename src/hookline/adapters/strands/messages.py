"""Convert messages, results and answers of Strands for hooks and back."""

from collections.abc import Iterable, Mapping
from typing import Any

from strands.middleware import ModelStopReason, ToolResultEvent, TypedEvent

from hookline import Session, ToolError
from hookline.adapters.tool_calls import translated_call
from hookline.host import CallResult, HostCall


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message or of a result."""
    return "\n".join(block["text"] for block in message["content"] if "text" in block)


def system_message(prompt: Any) -> dict[str, Any]:
    """Return the system prompt as a message that hooks read."""
    return {"role": "system", "content": prompt if isinstance(prompt, str) else text_of({"content": prompt})}


def read_messages(messages: Iterable[Mapping[str, Any]]) -> tuple[str | None, list[Any]]:
    """Return the system prompt and the messages, which a hook may have written in the usual form."""
    system, others = list[str](), list[Any]()
    for each in messages:
        text: Any = each["content"]
        if each.get("role") == "system":
            system.append(str(text))
        else:
            others.append({**each, "content": blocks_of([text]) if isinstance(text, str) else text})
    return "\n\n".join(system) or None, others


def blocks_of(texts: Iterable[str]) -> list[Any]:
    """Return texts as content."""
    return [{"text": text} for text in texts]


def with_texts(message: Mapping[str, Any], texts: Iterable[str]) -> list[Any]:
    """Return the content of a message with its texts replaced by these."""
    others = [block for block in message["content"] if "text" not in block]
    calls = [block for block in others if "toolUse" in block]
    return [*(block for block in others if block not in calls), *blocks_of(texts), *calls]


def model_stop(reason: Any, content: list[Any], usage: Any = None) -> ModelStopReason:
    """Return the end of an answer."""
    usage = usage or {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
    return ModelStopReason(reason, {"role": "assistant", "content": content}, usage, {"latencyMs": 0})


async def answered(session: Session, held: list[TypedEvent], event: ModelStopReason) -> list[TypedEvent]:
    """Return the end of the model's answer, after the text that was held back; or another answer instead of both."""
    uses = [block["toolUse"] for block in event.message["content"] if "toolUse" in block]
    calls = [translated_call(use["toolUseId"], use["name"], use["input"]) for use in uses]
    if event.stop_reason == "cancelled":
        return [*held, event]
    answer = await session.answer(text_of(event.message), calls, dict(event.usage))
    if answer.stop is None and not answer.rewritten:
        return [*held, event]
    content, reason = with_texts(event.message, filter(None, [answer.text, answer.stop])), event.stop_reason
    if answer.stop is not None:
        content, reason = [block for block in content if "toolUse" not in block], "end_turn"
    return [TypedEvent({"data": answer.text}), model_stop(reason, content or blocks_of([""]), event.usage)]


def problem(tool: Any, arguments: dict[str, Any]) -> str | None:
    """Return what Strands rejects; it checks the arguments of functions only."""
    function = getattr(tool, "_metadata", None)
    try:
        if function is not None:
            function.validate_input(arguments)
    except ValueError as error:
        return str(error)
    return None


def finished(call: HostCall, event: ToolResultEvent) -> Any:
    """Pass a tool's result to hooks, and return their result."""
    error, content = event.exception, event.tool_result["content"]
    if error is None and event.tool_result["status"] == "error":
        error = ToolError(text_of(event.tool_result))
    given = content[0]["text"] if len(content) == 1 and "text" in content[0] else content
    return call.returned(given) if error is None else call.failed(error)


def result_event(done: CallResult, event: ToolResultEvent) -> ToolResultEvent:
    """Return the result that the model reads."""
    kept = done.refused is None and not done.rewritten
    content = event.tool_result["content"] if kept else blocks_of([done.plain_text])
    added = blocks_of(filter(None, [done.text_up_to(0).strip()]))
    return ToolResultEvent({**event.tool_result, "content": [*content, *added]}, exception=event.exception)
