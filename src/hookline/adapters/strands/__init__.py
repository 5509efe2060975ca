"""Add hooks to agents of Strands::

    from hookline.adapters.strands import HooklinePlugin
    agent = Agent(model=model, plugins=[HooklinePlugin(engine)])

An agent that runs inside a tool of another one is its subagent, if both have the plugin.
"""

import sys
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any, Unpack
from weakref import WeakKeyDictionary, WeakSet

from strands import Agent
from strands.hooks import AfterInvocationEvent, AfterToolsEvent, BeforeInvocationEvent
from strands.middleware import (
    ExecuteToolStage,
    InvokeModelStage,
    ModelStopReason,
    ToolResultEvent,
    TypedEvent,
)
from strands.plugins import Plugin

from hookline import Engine, Session
from hookline.adapters.failures import tell_failure
from hookline.adapters.sessions import AdapterSessions, keep_run_context, steps_inside, sub_agent
from hookline.adapters.strands.messages import (
    answered,
    blocks_of,
    finished,
    model_stop,
    problem,
    read_messages,
    result_event,
    system_message,
    text_of,
    with_texts,
)
from hookline.adapters.tool_calls import approval_of, question_of
from hookline.engine.memory import host_of
from hookline.events import POST_MODEL_CALL
from hookline.host import CallResult, SessionOptions

#: The name of the interrupt with which a call waits for an approval.
INTERRUPT = "hookline"
#: The run continues later.
_PAUSED = {"interrupt", "checkpoint"}
#: The user, or a limit of the program, has ended it: Stop hooks do not run.
_ENDED = {"cancelled", "limit_turns", "limit_total_tokens", "limit_output_tokens"}


class HooklinePlugin(Plugin):
    """Hooks for an agent or several.

    Each agent is a conversation, by its own `session_id` or yours: a text, or a function of the agent and
    its invocation state. `close` ends the session of one, or of all.
    """

    @property
    def name(self) -> str:
        return "hookline"

    def __init__(
        self,
        engine: Engine,
        session_id: str | Callable[[Agent, dict[str, Any]], str] = "",
        **info: Unpack[SessionOptions],
    ) -> None:
        super().__init__()
        self._session_id, self._sessions = session_id, AdapterSessions(engine, info)
        self._current: WeakKeyDictionary[Agent, Session] = WeakKeyDictionary()
        #: Agents whose next invocation is not a prompt of the user, but the text of a Stop hook.
        self._sent_back: WeakSet[Agent] = WeakSet()
        #: Text of hooks that the next request takes along.
        self._waiting: WeakKeyDictionary[Session, list[str]] = WeakKeyDictionary()
        self.close = self._sessions.close
        #: Returns the session of a conversation by its id: to add hooks to it, or to read its inbox.
        self.session_of = self._sessions.of

    def init_agent(self, agent: Agent) -> None:
        agent.add_hook(self._begin, BeforeInvocationEvent)
        agent.add_hook(self._after_tools, AfterToolsEvent)
        agent.add_hook(self._end, AfterInvocationEvent)
        agent.add_middleware(InvokeModelStage, self._model)
        agent.add_middleware(ExecuteToolStage, self._tool)

    def _session(self, at: Any, *, new: bool = False) -> Session:
        if new or at.agent not in self._current:
            named = self._session_id
            given = named(at.agent, at.invocation_state) if callable(named) else named
            found = sub_agent(at.agent.name) or self._sessions.of(given or at.agent.session_id)
            self._current[at.agent] = found
            keep_run_context(found, at.invocation_state)
        return self._current[at.agent]

    async def _begin(self, event: BeforeInvocationEvent) -> None:
        if event.agent in self._sent_back or not event.messages:  # no messages: answers to an interrupt
            self._sent_back.discard(event.agent)
            return
        *earlier, last = event.messages
        prompt = await self._session(event, new=True).prompt(text_of(last))
        if prompt.blocked is not None:
            event.cancel = prompt.blocked
        elif prompt.changed:
            event.messages = [*earlier, {**last, "content": with_texts(last, prompt.texts)}]

    async def _model(self, context: Any, next_fn: Any) -> AsyncGenerator[TypedEvent, None]:
        session, held = self._session(context), list[TypedEvent]()
        system = [system_message(context.system_prompt)] if context.system_prompt else []
        given = [*system, *context.messages]
        request = await session.model(given, context.model.get_config().get("model_id"))
        if request.blocked is not None:
            yield model_stop("end_turn", blocks_of([request.blocked]))
            return
        waiting = self._waiting.pop(session, [])
        kept = blocks_of([*waiting, *(item.text for item in request.context)])
        context.agent.messages[-1]["content"].extend(kept)
        if request.rewritten:
            system_prompt, messages = read_messages(request.messages)
            context = context.replace(system_prompt=system_prompt if system else context.system_prompt)
        else:
            messages = context.messages
        *earlier, last = messages
        last = {**last, "content": [*last["content"], *kept, *blocks_of(request.transient)]}
        async for event in next_fn(context.replace(messages=[*earlier, last])):
            if isinstance(event, ModelStopReason):
                for each in await answered(session, held, event):
                    yield each
            elif session.has(POST_MODEL_CALL):  # a hook may still change the text
                held.append(event)
            else:
                yield event

    async def _tool(self, context: Any, next_fn: Any) -> AsyncGenerator[TypedEvent, None]:
        tool, use, session = context.tool, context.tool_use, self._session(context)
        if tool is None or tool.tool_type == "structured_output" or problem(tool, use["input"]):
            async for event in next_fn(context):  # not a call of a tool: Strands has an answer to it
                yield event
            return
        name, given, call_id = use["name"], use["input"], use["toolUseId"]
        call = await session.open_tool(name, given, id=call_id, check=lambda new: problem(tool, new))
        waiting = call.refused.pending if call.refused is not None else None
        if waiting is not None:
            # Ends the run with an interrupt, or returns what it was resumed with.
            answer = context.interrupt(INTERRUPT, reason=question_of(waiting)).response
            check = partial(problem, tool)
            call = await session.reopen(waiting, approval_of(answer), check=check)
        if call.refused is not None:
            self._keep(session, call.refused)
            yield result_event(
                call.refused, ToolResultEvent({"toolUseId": call_id, "status": "error", "content": []})
            )
            return
        context = context.replace(tool_use={**use, "input": call.arguments})
        async for event in steps_inside(session, next_fn(context)):
            if isinstance(event, ToolResultEvent):  # it has none while the tool waits for an interrupt
                yield result_event(self._keep(session, await finished(call, event)), event)
            else:
                yield event

    def _keep(self, session: Session, done: CallResult) -> CallResult:
        """Let text that does not belong into a result wait for the next request."""
        self._waiting.setdefault(session, []).extend(item.text for item in done.context)
        return done

    async def _after_tools(self, event: AfterToolsEvent) -> None:
        event.end_turn = host_of(self._session(event)).stopped or event.end_turn

    async def _end(self, event: AfterInvocationEvent) -> None:
        session, result, error = self._session(event), event.result, sys.exception()
        if error is not None and result is None:
            await tell_failure(session, error)
        elif result is not None and result.stop_reason in _ENDED:
            await session.cancelled()
        elif host_of(session).stopped or (result is not None and result.stop_reason not in _PAUSED):
            end = await session.end(str(result or "").strip())
            if result is None:  # the prompt was blocked: Strands keeps the reason as an answer to nothing
                event.agent.messages.pop()
            if end.texts:
                self._sent_back.add(event.agent)
                event.resume = "\n\n".join(end.texts)
