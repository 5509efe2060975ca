"""Hooks in agents of LangChain, which are graphs of LangGraph::

    from hookline.adapters.langchain import HooklineMiddleware
    agent = create_agent(model, tools, middleware=[HooklineMiddleware(engine)])

A session is a thread, by its `thread_id` or the id that you choose. An agent that a tool of another one invokes is its
sub-agent, if both have the middleware. For `invoke` and `stream`, hooks run on the loop of a `Blocking`: pass yours in
place of the engine to share it and to close it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, NotRequired, Unpack, cast
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core import messages as m
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from pydantic import BaseModel

from hookline.adapters.calls import call_tool, told_call
from hookline.adapters.failures import failure_kind
from hookline.adapters.sessions import Sessions, inside, prompt_texts, sub_agent
from hookline.engine.bridge import Blocking
from hookline.engine.engine import Engine
from hookline.engine.session import Session
from hookline.model.errors import ToolError
from hookline.model.events import PRE_MODEL_CALL
from hookline.model.scene import SceneOptions

#: In `additional_kwargs` of a message that says why hooks ended the run: it is shown, and never sent to a model.
ENDED = "hookline_ended"


class HooklineState(AgentState[Any]):
    """The state of an agent, and the key of its session."""

    hookline: NotRequired[Annotated[str, PrivateStateAttr]]


class HooklineMiddleware(AgentMiddleware[Any, Any, Any]):
    """Hooks for one agent or several. `session_id` chooses the session by a run's config; `scene` is told to hooks."""

    state_schema = HooklineState

    def __init__(
        self,
        engine: Engine | Blocking,
        *,
        session_id: Callable[[Any], str] | None = None,
        **scene: Unpack[SceneOptions],
    ) -> None:
        super().__init__()
        self._bridge = engine if isinstance(engine, Blocking) else None
        self._engine = engine.engine if isinstance(engine, Blocking) else engine
        self._sessions = Sessions(self._engine, scene)
        self._session_id = session_id
        self._below: dict[str, Session] = {}
        #: Text of hooks that the next request takes along.
        self._waiting: dict[Session, list[m.BaseMessage]] = {}
        #: Ends the session of one thread, or of all.
        self.close = self._sessions.close

    @property
    def bridge(self) -> Blocking:
        """For synchronous agents."""
        self._bridge = self._bridge or Blocking(self._engine)
        return self._bridge

    def _begin(self, state: Any) -> str:
        """The key of the run's session, found where the run was started."""
        config, key = get_config(), uuid4().hex
        below = sub_agent(str(config.get("metadata", {}).get("lc_agent_name") or "agent"))
        if below is not None:
            self._below[key] = below
            return key
        if self._session_id is not None:
            return self._session_id(config)
        return config.get("configurable", {}).get("thread_id") or state.get("hookline") or key

    def _session(self, state: Any) -> Session:
        return self._below.get(state["hookline"]) or self._sessions.of(state["hookline"])

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Any:
        return self.bridge.wait_for(self._prompt(state, self._begin(state)))

    async def abefore_agent(self, state: Any, runtime: Any) -> Any:
        return await self._prompt(state, self._begin(state))

    async def _prompt(self, state: Any, key: str) -> dict[str, Any]:
        last = state["messages"][-1] if state["messages"] else None
        if not isinstance(last, m.HumanMessage):  # handed over by another agent
            return {"hookline": key}
        prompt = await self._session({"hookline": key}).prompt(last.text)
        if prompt.blocked is not None:
            gone = m.RemoveMessage(id=cast("str", last.id))
            return {"hookline": key, "messages": [gone, _ended(prompt.blocked, "prompt")], "jump_to": "end"}
        if prompt_texts(prompt) == [last.text]:
            return {"hookline": key}
        others = [each for each in last.content if isinstance(each, dict) and each.get("type") != "text"]
        text = "\n\n".join(prompt_texts(prompt))
        content: Any = [{"type": "text", "text": text}, *others] if others else text
        return {"hookline": key, "messages": [last.model_copy(update={"content": content})]}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        return self.bridge.with_caller(lambda there: self.awrap_model_call(request, there), handler)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        session = self._session(request.state)
        known: list[Any] = [request.system_message] if request.system_message is not None else []
        known += [each for each in request.messages if ENDED not in each.additional_kwargs]
        told: Any = m.convert_to_openai_messages(known) if session.has(PRE_MODEL_CALL) else []
        asked = await session.model(told, getattr(request.model, "model_name", None))
        if asked.blocked is not None:
            return _ended(asked.blocked)
        if asked.rewritten:
            known = [_wanted(each, told, known) for each in asked.messages]
        kept = [*self._waiting.pop(session, []), *(m.HumanMessage(item.text) for item in asked.context)]
        system = next((each for each in known if isinstance(each, m.SystemMessage)), None)
        sent: list[Any] = [*(each for each in known if each is not system), *kept]
        sent += [m.HumanMessage(text) for text in asked.transient]
        try:
            response = await handler(request.override(system_message=system, messages=sent))
        except Exception as error:
            await session.failed(error, failure_kind(error))
            raise
        return await _answered(session, response, kept)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        def run(changed: Any) -> Any:
            with inside(self._session(request.state)):
                return handler(changed)

        return self.bridge.with_caller(lambda there: self.awrap_tool_call(request, there), run)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        use, tool, session = request.tool_call, request.tool, self._session(request.state)
        try:
            _check(tool, use["args"])
        except ValueError:  # no such tool, or arguments that do not fit: LangGraph has an answer to it
            return await handler(request)
        call = await call_tool(
            session,
            (use["name"], use["args"], use["id"]),
            lambda new: handler(request.override(tool_call={**use, "args": new})),
            check=lambda new: _check(tool, new),
            told=lambda value: _told(value, use["id"]),
            pauses=(GraphBubbleUp,),
        )
        self._waiting.setdefault(session, []).extend(m.HumanMessage(item.text) for item in call.done.context)
        if call.untouched or (call.ran and call.error is not None):
            return call.value
        if call.error is not None:
            raise call.error
        message = _message(call.value, use["id"]) or m.ToolMessage(
            "", name=use["name"], tool_call_id=use["id"]
        )
        content, status = call.output, "error" if call.done.is_error else "success"
        new = message.model_copy(
            update={"content": content if type(content) is list else call.done.text, "status": status}
        )
        if not _is_command(call.value):
            return new
        messages = [new if each is message else each for each in call.value.update["messages"]]
        return replace(call.value, update={**call.value.update, "messages": messages})

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> Any:
        return self.bridge.wait_for(self.aafter_agent(state, runtime))

    async def aafter_agent(self, state: Any, runtime: Any) -> Any:
        session, last = self._session(state), state["messages"][-1]
        ended = last.additional_kwargs.get(ENDED)
        over = await session.end("" if ended else last.text) if ended != "prompt" else None
        if over is not None and over.send_back is not None:
            words = [*(item.text for item in over.context), over.send_back]
            return {"messages": [m.HumanMessage(text) for text in words], "jump_to": "model"}
        self._below.pop(state["hookline"], None)
        self._waiting.pop(session, None)
        return {"messages": [_ended(over.stop)]} if over is not None and over.stop and not ended else None


async def _answered(session: Session, response: ModelResponse[Any], kept: Sequence[m.BaseMessage]) -> Any:
    said = next((each for each in response.result if isinstance(each, m.AIMessage)), m.AIMessage(""))
    calls = [told_call(call["id"], call["name"], call["args"]) for call in said.tool_calls]
    answer = await session.answer(said.text, calls, cast("Any", said.usage_metadata) or {})
    new = said.model_copy(update={"content": answer.text}) if answer.rewritten else said
    return replace(response, result=[*kept, *(new if each is said else each for each in response.result)])


def _is_command(result: Any) -> bool:
    return isinstance(result, Command)


def _message(result: Any, call_id: str | None) -> m.ToolMessage | None:
    """What the model reads of a result: it may be a command for the graph, with the message inside."""
    update: Any = result.update if _is_command(result) else {"messages": [result]}
    inside: Any = dict(update or {}).get("messages", ())
    found = (each for each in inside if isinstance(each, m.ToolMessage))
    return next((each for each in found if each.tool_call_id == call_id), None)


def _told(result: Any, call_id: str | None) -> Any:
    message = _message(result, call_id)
    if message is not None and message.status == "error":
        raise ToolError(message.text)
    return message.content if message is not None else None


def _check(tool: Any, arguments: dict[str, Any]) -> None:
    if tool is None:
        raise ValueError("no such tool")
    schema = tool.tool_call_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        schema.model_validate(arguments)


def _ended(why: str, what: str = "run") -> m.AIMessage:
    return m.AIMessage(why, additional_kwargs={ENDED: what})


def _wanted(wanted: Any, told: Sequence[Any], known: Sequence[m.BaseMessage]) -> m.BaseMessage:
    """The message that a hook left as it was, or the one it wrote."""
    same = (message for each, message in zip(told, known, strict=True) if each == wanted)
    return next(same, None) or m.convert_to_messages([wanted])[0]
