"""Add hooks to agents of LangChain, which are graphs of LangGraph::

    from hookline.adapters.langchain import HooklineMiddleware
    agent = create_agent(model, tools, middleware=[HooklineMiddleware(engine)])

A session is a thread, by its `thread_id` or the id that you choose. An agent that a tool of another one invokes is its
subagent, if both have the middleware. For `invoke` and `stream`, hooks run on the loop of a `Blocking`: pass yours
instead of the engine to share it and to close it.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, Unpack, cast
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ModelRequest, hook_config
from langchain_core import messages as m
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest

from hookline import Blocking, Engine, EngineClosedError, Session
from hookline.adapters.failures import tell_failure
from hookline.adapters.langchain import messages as h
from hookline.adapters.langchain.messages import ENDED, HooklineState
from hookline.adapters.langchain.runs import graph_runs
from hookline.adapters.sessions import (
    MOST_SESSIONS,
    AdapterSessions,
    inside,
    keep_run_context,
    sub_agent,
    warn_of_later,
)
from hookline.adapters.tool_calls import call_tool
from hookline.events import POST_MODEL_CALL, PRE_MODEL_CALL
from hookline.host import SessionOptions

__all__ = ["ENDED", "HooklineMiddleware", "HooklineState"]


class HooklineMiddleware(AgentMiddleware[Any, Any, Any]):
    """Hooks for one agent or several.

    `session_id` chooses the session by a run's config; hooks see the fields of `info`.
    """

    state_schema = HooklineState

    def __init__(
        self,
        engine: Engine | Blocking,
        *,
        session_id: Callable[[Any], str] | None = None,
        **info: Unpack[SessionOptions],
    ) -> None:
        super().__init__()
        self._given = engine
        self._sessions = AdapterSessions(engine.engine if isinstance(engine, Blocking) else engine, info)
        self._session_id, self._below = session_id, dict[str, Session]()
        #: Text of hooks that the next request takes along.
        self._waiting: dict[Session, h.Waiting] = {}
        self._runs = graph_runs()
        #: Ends the session of one thread, or of all.
        self.close = self._sessions.close
        #: Returns the session of a conversation by its id: to add hooks to it, or to read its inbox.
        self.session_of = self._sessions.of

    @cached_property
    def bridge(self) -> Blocking:
        """The bridge for synchronous agents."""
        return self._given if isinstance(self._given, Blocking) else Blocking(self._given)

    def _begin(self, state: Any, runtime: Any, *, sync: bool = False) -> str:
        """Return the key of the run's session, found where the run was started."""
        key = self._key(state)
        self._watch({"hookline": key}, sync=sync)
        keep_run_context(self._session({"hookline": key}), runtime.context)
        return key

    def _watch(self, state: Any, *, sync: bool = False) -> None:
        """Let the graph report to hooks if it ends with an error, when no try is left."""
        key, session = state["hookline"], self._session(state)

        async def report(error: BaseException) -> None:
            self._below.pop(key, None)
            self._waiting.pop(session, None)
            reporting = tell_failure(session, error)
            with suppress(EngineClosedError):
                self.bridge.wait_for(reporting) if sync else await reporting

        self._runs.watch((self, key), report)

    def _key(self, state: Any) -> str:
        config, key = get_config(), uuid4().hex
        below = sub_agent(str(config.get("metadata", {}).get("lc_agent_name") or "agent"))
        if below is not None:
            self._below[key] = below
            if len(self._below) > MOST_SESSIONS:  # of one that is paused for good
                del self._below[next(iter(self._below))]
            return key
        if self._session_id is not None:
            return self._session_id(config)
        return config.get("configurable", {}).get("thread_id") or state.get("hookline") or key

    def _session(self, state: Any) -> Session:
        return self._below.get(state["hookline"]) or self._sessions.of(state["hookline"])

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Any:
        return self.bridge.wait_for(self._prompt(state, self._begin(state, runtime, sync=True)))

    async def abefore_agent(self, state: Any, runtime: Any) -> Any:
        return await self._prompt(state, self._begin(state, runtime))

    async def _prompt(self, state: Any, key: str) -> dict[str, Any]:
        last = state["messages"][-1] if state["messages"] else None
        if not isinstance(last, m.HumanMessage):  # handed over by another agent
            return {"hookline": key}
        prompt = await self._session({"hookline": key}).prompt(last.text)
        if prompt.blocked is not None:
            gone = m.RemoveMessage(id=cast("str", last.id))
            return {"hookline": key, "messages": [gone, h.ended(prompt.blocked, "prompt")], "jump_to": "end"}
        return {"hookline": key} | ({"messages": [h.with_prompt(last, prompt)]} if prompt.changed else {})

    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        self._watch(request.state, sync=True)
        return self.bridge.with_caller(lambda there: self._request(request, there), handler)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        self._watch(request.state)
        return await self._request(request, handler)

    async def _request(self, request: ModelRequest[Any], handler: Any) -> Any:
        session, known = self._session(request.state), h.known(request)
        shown: Any = m.convert_to_openai_messages(known) if session.has(PRE_MODEL_CALL) else []
        asked = await session.model(shown, getattr(request.model, "model_name", None))
        if asked.blocked is not None:
            return h.ended(asked.blocked)
        if asked.rewritten:
            known = [h.wanted_message(each, shown, known) for each in asked.messages]
        waiting = self._waiting.pop(session, h.Waiting())
        kept = h.with_texts(waiting.kept, (item.text for item in asked.context))
        once = h.with_texts(waiting.once, asked.transient)
        request = h.with_messages(request, [*known, *kept, *once])
        if session.has(POST_MODEL_CALL):
            request = h.unstreamed(request)
        try:
            response = await handler(request)
        except BaseException:
            self._waiting[session] = h.Waiting(kept, once)  # for the next try, if there is one
            raise
        return await h.answered(session, response, kept)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        self._watch(request.state, sync=True)

        def run(changed: Any) -> Any:
            with inside(self._session(request.state)):
                return handler(changed)

        return self.bridge.with_caller(lambda there: self._call(request, there, h.runs_itself(handler)), run)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        self._watch(request.state)
        return await self._call(request, handler, h.runs_itself(handler))

    async def _call(self, request: ToolCallRequest, handler: Any, innermost: bool) -> Any:
        use, tool, session = request.tool_call, request.tool, self._session(request.state)
        if not innermost:
            warn_of_later(session)
        try:
            h.check(tool, use["args"])
        except ValueError:
            if innermost:  # no such tool, or arguments that do not fit: LangGraph has an answer to it
                return await handler(request)
            tool = h.ANY_TOOL  # a later middleware may have a tool for it, or other arguments
        call = await call_tool(
            session,
            (use["name"], use["args"], use["id"]),
            lambda new: handler(request.override(tool_call={**use, "args": new})),
            check=lambda new: h.check(tool, new),
            shown=lambda value: h.shown_result(value, use["id"]),
            pauses=(GraphBubbleUp,),
            later=h.ask_user,
        )
        kept = self._waiting.setdefault(session, h.Waiting()).kept
        kept.extend(m.HumanMessage(item.text) for item in call.done.context)
        return h.result_of(call, use)

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> Any:
        return self.bridge.wait_for(self.aafter_agent(state, runtime))

    async def aafter_agent(self, state: Any, runtime: Any) -> Any:
        session, last = self._session(state), state["messages"][-1]
        ended = last.additional_kwargs.get(ENDED)
        over = await session.end("" if ended else last.text) if ended != "prompt" else None
        if over is not None and over.texts:
            return {"messages": [m.HumanMessage(text) for text in over.texts], "jump_to": "model"}
        self._below.pop(state["hookline"], None)
        self._waiting.pop(session, None)
        return {"messages": [h.ended(over.stop)]} if over is not None and over.stop and not ended else None
