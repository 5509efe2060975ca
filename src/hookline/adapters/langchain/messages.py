"""Convert the state, messages, results and answers of LangChain agents for hooks and back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core import messages as m
from langgraph.constants import TAG_NOSTREAM
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from hookline import Session, ToolError
from hookline.adapters.tool_calls import AdapterResult, approval_of, question_of, translated_call
from hookline.host import Approval, PendingCall, PromptResult

#: In `additional_kwargs` of a message that says why hooks ended the run: it is shown, and never sent to a model.
ENDED = "hookline_ended"


class HooklineState(AgentState[Any]):
    """State of an agent, and the key of its session."""

    hookline: NotRequired[Annotated[str, PrivateStateAttr]]


@dataclass
class Waiting:
    """Text of hooks that the next request takes along: to stay in the conversation, and for this once."""

    kept: list[m.BaseMessage] = field(default_factory=list[m.BaseMessage])
    once: list[m.BaseMessage] = field(default_factory=list[m.BaseMessage])


def with_texts(waiting: Sequence[m.BaseMessage], texts: Iterable[str]) -> list[m.BaseMessage]:
    """Return what waits, with these texts of hooks. A hook that runs again at the next try has the same."""
    known = {each.text for each in waiting}
    return [*waiting, *(m.HumanMessage(text) for text in texts if text not in known)]


def with_prompt(message: m.HumanMessage, prompt: PromptResult) -> m.HumanMessage:
    """Return a prompt as hooks left it."""
    others = [each for each in message.content if isinstance(each, dict) and each.get("type") != "text"]
    text = "\n\n".join(prompt.texts)
    content: Any = [{"type": "text", "text": text}, *others] if others else text
    return message.model_copy(update={"content": content})


def known(request: ModelRequest[Any]) -> list[Any]:
    """Return the messages that a model would be sent, the system message first."""
    system = [request.system_message] if request.system_message is not None else []
    return [*system, *(each for each in request.messages if ENDED not in each.additional_kwargs)]


def with_messages(request: ModelRequest[Any], messages: Sequence[Any]) -> ModelRequest[Any]:
    """Return the request with these messages, of which one may be a system message."""
    system = next((each for each in messages if isinstance(each, m.SystemMessage)), None)
    return request.override(system_message=system, messages=[each for each in messages if each is not system])


def unstreamed(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Return the request for a model whose text is not streamed: a hook may still change it.

    `astream(stream_mode="messages")` then shows the answer as a whole, when the graph has it.
    """
    model = request.model
    return request.override(model=model.model_copy(update={"tags": [*(model.tags or ()), TAG_NOSTREAM]}))


async def answered(session: Session, response: ModelResponse[Any], kept: Sequence[m.BaseMessage]) -> Any:
    """Return the answer as hooks leave it, after the messages that were added to the request."""
    said = next((each for each in response.result if isinstance(each, m.AIMessage)), m.AIMessage(""))
    calls = [translated_call(call["id"], call["name"], call["args"]) for call in said.tool_calls]
    answer = await session.answer(said.text, calls, cast("Any", said.usage_metadata) or {})
    new = said.model_copy(update={"content": answer.text}) if answer.rewritten else said
    return replace(response, result=[*kept, *(new if each is said else each for each in response.result)])


def result_of(call: AdapterResult, use: Any) -> Any:
    """Return the graph's result of a call; where hooks have nothing to add, the same as without them."""
    if call.untouched or (call.ran and call.error is not None):
        return call.value
    if call.error is not None:
        raise call.error
    message = tool_message(call.value, use["id"])
    message = message or m.ToolMessage("", name=use["name"], tool_call_id=use["id"])
    content: Any = call.output
    if type(content) is not list:
        content = call.done.text
    status = "error" if call.done.is_error else "success"
    new = message.model_copy(update={"content": content, "status": status})
    if not is_command(call.value):
        return new
    messages = [new if each is message else each for each in call.value.update["messages"]]
    return replace(call.value, update={**call.value.update, "messages": messages})


def ask_user(pending: PendingCall) -> Approval:
    """Interrupt the graph, or return what it was resumed with."""
    return approval_of(interrupt(question_of(pending)))


def is_command(result: Any) -> bool:
    """Return True if a tool returned a command for the graph."""
    return isinstance(result, Command)


def tool_message(result: Any, call_id: str | None) -> m.ToolMessage | None:
    """Return what the model reads of a result: it may be a command for the graph, with the message inside."""
    update: Any = result.update if is_command(result) else {"messages": [result]}
    inside: Any = dict(update or {}).get("messages", ())
    found = (each for each in inside if isinstance(each, m.ToolMessage))
    return next((each for each in found if each.tool_call_id == call_id), None)


def shown_result(result: Any, call_id: str | None) -> Any:
    """Return a tool's result as hooks read it."""
    message = tool_message(result, call_id)
    if message is not None and message.status == "error":
        raise ToolError(message.text)
    return message.content if message is not None else None


#: Takes the place of a tool that only a later middleware knows.
ANY_TOOL: Any = SimpleNamespace(tool_call_schema=None)


def runs_itself(handler: Any) -> bool:
    """Return True if what comes next is LangGraph's own node: no other middleware is between it and hooks."""
    return getattr(handler, "__module__", None) == ToolCallRequest.__module__


def check(tool: Any, arguments: dict[str, Any]) -> None:
    """Raise ValueError for arguments that LangGraph would reject."""
    if tool is None:
        raise ValueError("no such tool")
    schema = tool.tool_call_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        schema.model_validate(arguments)


def ended(why: str, what: str = "run") -> m.AIMessage:
    """Return the message that is shown where hooks ended a run or blocked a prompt."""
    return m.AIMessage(why, additional_kwargs={ENDED: what})


def wanted_message(wanted: Any, shown: Sequence[Any], known: Sequence[m.BaseMessage]) -> m.BaseMessage:
    """Return the message that a hook left unchanged, or the one it wrote."""
    same = (message for each, message in zip(shown, known, strict=True) if each == wanted)
    return next(same, None) or m.convert_to_messages([wanted])[0]
