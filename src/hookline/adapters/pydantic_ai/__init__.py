"""Add hooks to agents of Pydantic AI::

    from hookline.adapters.pydantic_ai import HooklineCapability
    agent = Agent(model, capabilities=[HooklineCapability(engine)])

A session is a conversation, by its `conversation_id` or the id that you choose. An agent that runs inside a tool of
another one is its subagent, if both have the capability.
"""

from asyncio import CancelledError
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Unpack

from pydantic_ai import DeferredToolRequests, ModelRequestNode, RunContext, UserPromptNode
from pydantic_ai import exceptions as x
from pydantic_ai import messages as m
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.output import OutputContext, PendingModelResponse
from pydantic_ai.result import FinalResult
from pydantic_ai.toolsets import AbstractToolset
from pydantic_core import to_json, to_jsonable_python
from pydantic_graph import End

from hookline import Engine, Session
from hookline.adapters.failures import tell_failure
from hookline.adapters.pydantic_ai.stream import JudgedModel
from hookline.adapters.pydantic_ai.tools import HookedTools, call_output_function
from hookline.adapters.sessions import AdapterSessions, keep_run_context, sub_agent
from hookline.adapters.tool_calls import translated_call
from hookline.events import POST_MODEL_CALL, PRE_MODEL_CALL
from hookline.host import SessionOptions

#: Messages that a hook writes without knowing those of Pydantic AI, by their role.
_PLAIN: dict[str, Callable[[str], m.ModelMessage]] = {
    "system": lambda text: m.ModelRequest([m.SystemPromptPart(text)]),
    "user": lambda text: m.ModelRequest([m.UserPromptPart(text)]),
    "assistant": lambda text: m.ModelResponse([m.TextPart(text)]),
}


class RunStoppedError(x.AgentRunError):
    """An error: hooks ended the run, and its output type has no place for the reason."""


class HooklineCapability(AbstractCapability[Any]):
    """Hooks for one agent or several.

    `session_id` chooses the session of a run; hooks see the fields of `info`: cwd ...
    """

    session: Session
    _held: m.ModelResponse | None = None
    #: The answer of a stream, as hooks left it.
    _judged: m.ModelResponse | None = None

    def __init__(
        self,
        engine: Engine,
        *,
        session_id: Callable[[RunContext[Any]], str] | None = None,
        **info: Unpack[SessionOptions],
    ) -> None:
        super().__init__()
        self._sessions = AdapterSessions(engine, info)
        self._session_id = session_id
        #: Ends the session of one conversation, or of all.
        self.close = self._sessions.close
        #: Returns the session of a conversation by its id: to add hooks to it, or to read its inbox.
        self.session_of = self._sessions.of

    def get_ordering(self) -> CapabilityOrdering:
        """Place hooks next to the model and the tools: they judge what is sent and what runs."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[Any]) -> "HooklineCapability":
        run = copy(self)
        chosen = self._session_id(ctx) if self._session_id is not None else ctx.conversation_id
        name = ctx.agent.name if ctx.agent is not None else None
        run.session = sub_agent(name or "agent") or self._sessions.of(chosen or "")
        keep_run_context(run.session, ctx.deps)
        return run

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return HookedTools(toolset, self.session)

    async def wrap_output_process(
        self, ctx: RunContext[Any], *, output_context: OutputContext, output: Any, handler: Any
    ) -> Any:
        if not output_context.has_function:
            return await handler(output)
        return await call_output_function(self.session, output_context, output, handler)

    async def wrap_node_run(self, ctx: RunContext[Any], *, node: Any, handler: Any) -> Any:
        result: Any = await handler(node)
        if isinstance(node, UserPromptNode) and isinstance(result, ModelRequestNode):
            return await self._prompt(ctx, result)
        if self._held is not None:
            ctx.messages[:] = [each for each in ctx.messages if each is not self._held]
            await self.session.end("")
            return _ended(ctx, self._held.text)
        return await self._end(ctx, result) if isinstance(result, End) else result

    async def _prompt(self, ctx: RunContext[Any], node: Any) -> Any:
        parts = [part for part in node.request.parts if isinstance(part, m.UserPromptPart)]
        if not parts:  # the run continues where another one paused
            return node
        content = [c for p in parts for c in ([p.content] if isinstance(p.content, str) else p.content)]
        texts = {id(c): text for c in content if isinstance(text := getattr(c, "content", c), str)}
        prompt = await self.session.prompt("\n".join(texts.values()))
        if prompt.blocked is not None:
            return _ended(ctx, prompt.blocked)
        if prompt.changed:
            new = m.UserPromptPart([*prompt.texts, *(c for c in content if id(c) not in texts)])
            rest = [part for part in node.request.parts if part not in parts]
            node.request = replace(node.request, parts=[*rest, new])
        return node

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        messages = request_context.messages
        read = self.session.has(PRE_MODEL_CALL)
        shown = m.ModelMessagesTypeAdapter.dump_python(messages, mode="json") if read else ()
        request = await self.session.model(shown, request_context.model.model_name)
        if request.blocked is not None:
            self._held = m.ModelResponse([m.TextPart(request.blocked)])
            raise x.SkipModelRequest(self._held)
        for item in request.context:
            ctx.enqueue(item.text)
        if request.rewritten:
            plain = [e if "kind" in e else _PLAIN[e["role"]](e["content"]) for e in request.messages]
            messages = m.ModelMessagesTypeAdapter.validate_python(plain)
        request_context.messages = [*messages, *map(_PLAIN["user"], request.transient)]
        if request_context.streaming and self.session.has(POST_MODEL_CALL):
            request_context.model = JudgedModel(request_context.model, self._judge_stream)
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: m.ModelResponse) -> Any:
        judged, self._judged = self._judged is not None, None  # a stream was judged before it was shown
        return response if judged else await self._judge(response)

    async def _judge_stream(self, response: m.ModelResponse) -> m.ModelResponse:
        self._judged = await self._judge(response)
        return self._judged

    async def _judge(self, response: m.ModelResponse) -> m.ModelResponse:
        calls = [translated_call(c.tool_call_id, c.tool_name, c.args_as_dict()) for c in response.tool_calls]
        answer = await self.session.answer(response.text or "", calls, to_jsonable_python(response.usage))
        if answer.rewritten:
            others = [part for part in response.parts if not isinstance(part, m.TextPart)]
            parts = [*([m.TextPart(answer.text)] if answer.text else []), *others]
            response = replace(response, parts=parts)
        return response

    async def _end(self, ctx: RunContext[Any], result: Any) -> Any:
        output = result.data.output
        if isinstance(output, DeferredToolRequests | PendingModelResponse):  # it continues in another run
            return result
        text = output if isinstance(output, str) else to_json(output, fallback=str).decode()
        over = await self.session.end(text)
        if over.texts:
            ctx.enqueue(*over.texts)
        return result if over.stop is None else _ended(ctx, over.stop)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> Any:
        try:
            return await handler()
        except CancelledError as cancelled:  # also if the caller left the run before its end
            await tell_failure(self.session, cancelled)
            raise

    async def on_run_error(self, ctx: RunContext[Any], *, error: BaseException) -> Any:
        if not isinstance(error, RunStoppedError):
            await tell_failure(self.session, error)
        raise error


def _ended(ctx: RunContext[Any], why: str | None) -> End[FinalResult[Any]]:
    kinds: Any = ctx.agent.output_type if ctx.agent is not None else str
    if str not in (kinds if isinstance(kinds, list | tuple) else [kinds]):
        raise RunStoppedError(why or "")
    return End(FinalResult(why))
