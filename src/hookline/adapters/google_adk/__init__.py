"""Add hooks to runners of Google's Agent Development Kit::

    from hookline.adapters.google_adk import HooklinePlugin
    runner = InMemoryRunner(agent, plugins=[HooklinePlugin(engine)])

A session of the runner is one of Hookline, by its app, its user and its id. An agent that runs by an `AgentTool` is a
subagent.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Unpack
from weakref import finalize

from google.adk.agents import InvocationContext
from google.adk.events import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.genai import types

from hookline import Engine, Session
from hookline.adapters.failures import tell_failure
from hookline.adapters.google_adk import content as c
from hookline.adapters.sessions import AdapterSessions, keep_run_context, sub_agent
from hookline.adapters.tool_calls import translated_call
from hookline.engine.memory import host_of
from hookline.events import POST_MODEL_CALL, PRE_MODEL_CALL
from hookline.host import SessionOptions


class _Run:
    """An invocation."""

    def __init__(self, session: Session) -> None:
        self.session = session
        #: Why the prompt was blocked.
        self.blocked: str | None = None
        #: The last answer of a step of a workflow.
        self.answer: str | None = None
        #: Text of hooks that the next request takes along.
        self.waiting: list[str] = []
        #: The task that runs it, and what is called when that is done.
        self.task: asyncio.Task[Any] | None = None
        self.ended: Callable[..., None] = lambda *_given: None


class HooklinePlugin(BasePlugin):
    """Hooks for all agents of a runner.

    `session_id` chooses the session of an invocation; else it is `APP/USER/ID` of the session of ADK: its ids alone are
    not unique. Hooks see the fields of `info`: cwd ...
    """

    def __init__(
        self,
        engine: Engine,
        session_id: Callable[[InvocationContext], str] | None = None,
        **info: Unpack[SessionOptions],
    ) -> None:
        super().__init__("hookline")
        self._sessions = AdapterSessions(engine, info)
        self._session_id = session_id or _own_id
        #: By the ids of their invocations.
        self._runs: dict[str, _Run] = {}
        self._settling: set[asyncio.Future[None]] = set()
        self._tools = c.ToolCalls()
        #: Returns the session of a conversation by its id: to add hooks to it, or to read its inbox.
        self.session_of = self._sessions.of

    async def close(self) -> None:
        await self._sessions.close()

    def _run(self, context: Any) -> _Run:
        """Return the run of an invocation; one that is resumed begins here, without a message of the user."""
        run = self._runs.get(context.invocation_id)
        return run if run is not None else self._begin(getattr(context, "_invocation_context", context))

    def _begin(self, invocation: InvocationContext) -> _Run:
        agent: Any = invocation.agent
        session = sub_agent(agent.name) or self._sessions.of(self._session_id(invocation))
        keep_run_context(session, invocation.session.state)
        run = self._runs[invocation.invocation_id] = _Run(session)
        # An invocation that is cancelled or left has no end that a plugin would hear of.
        run.ended = partial(self._given_up, invocation.invocation_id, asyncio.get_running_loop())
        run.task = asyncio.current_task()
        if run.task is not None:
            run.task.add_done_callback(run.ended)
        finalize(invocation, run.ended)
        return run

    def _take(self, invocation_id: str) -> _Run | None:
        """Return the run of an invocation that is over, and forget it."""
        run = self._runs.pop(invocation_id, None)
        if run is not None and run.task is not None:
            run.task.remove_done_callback(run.ended)
        return run

    def _given_up(self, invocation_id: str, loop: asyncio.AbstractEventLoop, _task: Any = None) -> None:
        """Settle the turn of an invocation that did not come to its end. May be called by any thread."""
        run = self._take(invocation_id)
        if run is not None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._settle, run.session)

    def _settle(self, session: Session) -> None:
        work = asyncio.ensure_future(tell_failure(session, asyncio.CancelledError()))
        self._settling.add(work)
        work.add_done_callback(self._settling.discard)

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        run, said = self._begin(invocation_context), c.text_of(user_message)
        if not said:  # results of calls that took long
            return None
        prompt = await run.session.prompt(said)
        run.blocked = prompt.blocked
        if prompt.blocked is not None:
            return c.content_of("user", ["(a hook blocked this prompt)"])
        return c.content_of("user", prompt.texts, c.other_parts(user_message)) if prompt.changed else None

    async def before_run_callback(self, *, invocation_context: Any) -> types.Content | None:
        blocked = self._run(invocation_context).blocked
        return None if blocked is None else c.content_of("model", [blocked])

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> LlmResponse | None:
        run, invocation = self._run(callback_context), callback_context.get_invocation_context()
        session = run.session
        llm_request.contents = [c.as_shown(each) for each in llm_request.contents]
        shown = c.shown_request(llm_request) if session.has(PRE_MODEL_CALL) else []
        request = await session.model(shown, llm_request.model)
        if request.blocked is not None:
            return LlmResponse(content=c.content_of("model", [request.blocked]))
        if request.rewritten:
            c.use_messages(llm_request, request.messages)
        waiting, run.waiting = run.waiting, []
        for text in [*waiting, *(item.text for item in request.context)]:
            event = Event(
                author="user", invocation_id=invocation.invocation_id, content=c.content_of("user", [text])
            )
            await invocation.session_service.append_event(invocation.session, event)
            llm_request.contents += [c.content_of("user", [text])]
        llm_request.contents += [c.content_of("user", [text]) for text in request.transient]
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> LlmResponse | None:
        run, content = self._run(callback_context), llm_response.content
        session = run.session
        if llm_response.partial and session.has(POST_MODEL_CALL):  # it may still change the text
            return LlmResponse(partial=True)
        if llm_response.partial or content is None or llm_response.error_code:
            return None
        others, usage = c.other_parts(content), llm_response.usage_metadata
        calls = [part.function_call for part in others if part.function_call]
        shown = [translated_call(each.id, each.name, each.args or {}) for each in calls]
        used: dict[str, Any] = usage.model_dump(exclude_none=True) if usage else {}
        answer = await session.answer(c.text_of(content), shown, used)
        words = ""
        if answer.stop is not None:
            others = [part for part in others if part.function_call is None]
        elif not calls and not _is_of_the_user(callback_context.get_invocation_context().agent):
            run.answer = answer.text
        elif not calls:
            words = "\n\n".join((await session.end(answer.text)).texts)
        if words:
            sent_back = types.FunctionCall(name=c.SENT_BACK, args={"words": words})
            others.append(types.Part(function_call=sent_back))
        if not (words or answer.rewritten or answer.stop):
            return None
        texts = [text for text in (answer.text, answer.stop) if text]
        return llm_response.model_copy(update={"content": c.content_of("model", texts, others)})

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        if tool.name == c.SENT_BACK:
            return tool_args
        return await self._tools.before(self._run(tool_context), tool, tool_args, tool_context)

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:
        return await self._tools.after(tool_context, result)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any
    ) -> Any:
        return await self._tools.failed(tool_context, error)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        run = self._run(invocation_context)
        self._take(invocation_context.invocation_id)
        if (
            run.answer is not None or host_of(run.session).stopped is not None
        ):  # too late to send the model back
            await run.session.end(run.answer or "")

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        run = self._take(invocation_context.invocation_id)
        if run is not None:
            await tell_failure(run.session, error)


def _own_id(invocation: InvocationContext) -> str:
    return f"{invocation.app_name}/{invocation.user_id}/{invocation.session.id}"


def _is_of_the_user(agent: Any) -> bool:
    """Return True if the agent answers the user: it is not a step of a workflow, and has no task of another agent."""
    return agent.parent_agent is None or getattr(agent, "mode", None) == "chat"
