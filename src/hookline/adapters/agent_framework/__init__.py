"""Add hooks to agents of the Microsoft Agent Framework::

    from hookline.adapters.agent_framework import HooklineMiddleware
    agent = Agent(client, middleware=[*HooklineMiddleware(engine)])

A session is a conversation, by the id of the framework's session or yours. An agent that runs inside a tool of another
one, also by `as_tool`, is its subagent, if both have the middleware.
"""

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, Unpack
from uuid import uuid4
from weakref import WeakKeyDictionary

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    AgentResponse,
    AgentResponseUpdate,
    ChatContext,
    ChatMiddleware,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
    ResponseStream,
)

from hookline import Engine, Session
from hookline.adapters.agent_framework import messages as h
from hookline.adapters.agent_framework.run import AgentRun, current_run, inside_run, steps_of
from hookline.adapters.agent_framework.tools import run_function
from hookline.adapters.failures import tell_failure
from hookline.adapters.sessions import AdapterSessions, keep_run_context, sub_agent
from hookline.host import SessionOptions

__all__ = ["HooklineMiddleware"]


class HooklineMiddleware:
    """Hooks for one agent or several: three middleware, which belong together. Put all of them into the list, last.

    `session_id` chooses the session of a run; hooks see the fields of `info`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        session_id: Callable[[AgentContext], str] | None = None,
        **info: Unpack[SessionOptions],
    ) -> None:
        self._sessions = AdapterSessions(engine, info)
        self._session_id = session_id
        #: Text of hooks that stays in a conversation, and where.
        self._kept: WeakKeyDictionary[Session, list[tuple[int, Message]]] = WeakKeyDictionary()
        self._all = (_Runs(self), _Requests(self), _Calls(self))
        #: Ends the session of one conversation, or of all.
        self.close = self._sessions.close
        #: Returns the session of a conversation by its id: to add hooks to it, or to read its inbox.
        self.session_of = self._sessions.of

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all)

    def begin(self, context: AgentContext) -> AgentRun:
        """Return a new run in the session it belongs to."""
        chosen = self._session_id(context) if self._session_id is not None else ""
        own = context.session.session_id if context.session is not None else ""
        session = sub_agent(getattr(context.agent, "name", None) or "agent")
        session = session or self._sessions.of(chosen or own or uuid4().hex)
        keep_run_context(session, context.function_invocation_kwargs or None)
        return AgentRun(session, self._kept.setdefault(session, []))

    def run_of(self, context: ChatContext | FunctionInvocationContext) -> AgentRun:
        """Return the run that a request or a call belongs to; one of its own, if it belongs to no agent's."""
        run = current_run()
        if run is not None:
            return run
        own = context.session.session_id if context.session is not None else uuid4().hex
        session = self._sessions.of(own)
        return AgentRun(session, self._kept.setdefault(session, []))


class _Runs(AgentMiddleware):
    """Prompts and the end of turns."""

    def __init__(self, hooks: HooklineMiddleware) -> None:
        self._hooks = hooks

    async def process(self, context: AgentContext, call_next: Any) -> None:
        run = self._hooks.begin(context)
        if context.stream:
            results: list[Any] = []
            updates = self._streamed(run, context, call_next, results)
            context.result = ResponseStream(updates, finalizer=lambda given: h.whole_stream(results, given))
            return
        blocked = await run.prompt(context)
        if blocked is not None:
            context.result = AgentResponse(messages=[h.said(blocked)])
            return
        earlier: list[Any] = []
        while True:
            try:
                with inside_run(run):
                    await call_next()
            except BaseException as error:
                await tell_failure(run.session, error)
                raise
            result: Any = context.result
            if not await run.goes_on(context, result):
                context.result = h.whole(earlier, result)
                return
            earlier.append(result)

    async def _streamed(
        self, run: AgentRun, context: AgentContext, call_next: Any, results: list[Any]
    ) -> AsyncGenerator[AgentResponseUpdate]:
        blocked = await run.prompt(context)
        if blocked is not None:
            yield AgentResponseUpdate(role="assistant", contents=h.said(blocked).contents)
            return
        while True:
            try:
                with inside_run(run):
                    await call_next()
                stream: Any = context.result
                async for update in steps_of(run, stream):
                    yield update
                with inside_run(run):
                    result = await stream.get_final_response()
            except BaseException as error:
                await tell_failure(run.session, error)
                raise
            count = len(result.messages)
            again = await run.goes_on(context, result)
            results.append(result)
            for message in result.messages[count:]:  # why a hook ended the run
                yield AgentResponseUpdate(role="assistant", contents=message.contents)
            if not again:
                return


class _Requests(ChatMiddleware):
    """Requests to models, and their answers."""

    def __init__(self, hooks: HooklineMiddleware) -> None:
        self._hooks = hooks

    async def process(self, context: ChatContext, call_next: Any) -> None:
        run = self._hooks.run_of(context)
        if await run.request(context):
            await call_next()
            await run.answered(context)


class _Calls(FunctionMiddleware):
    """Calls of tools."""

    def __init__(self, hooks: HooklineMiddleware) -> None:
        self._hooks = hooks

    async def process(self, context: FunctionInvocationContext, call_next: Any) -> None:
        await run_function(self._hooks.run_of(context), context, call_next)
