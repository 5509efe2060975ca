"""Hooks in agents of Pydantic AI::

    from hookline.adapters.pydantic_ai import HooklineCapability
    agent = Agent(model, capabilities=[HooklineCapability(engine)])

A session is a conversation, by its `conversation_id` or the id that you choose. An agent that runs inside a tool of
another one is its sub-agent, if both have the capability.
"""

from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Unpack, cast

from pydantic_ai import DeferredToolRequests, ModelRequestNode, RunContext, UserPromptNode
from pydantic_ai import exceptions as x
from pydantic_ai import messages as m
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.output import PendingModelResponse
from pydantic_ai.result import FinalResult
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import to_json, to_jsonable_python
from pydantic_graph import End

from hookline.adapters.calls import call_tool, told_call
from hookline.adapters.failures import failure_kind
from hookline.adapters.sessions import Sessions, prompt_texts, sub_agent
from hookline.engine.engine import Engine
from hookline.engine.session import Session
from hookline.model.errors import EngineClosedError
from hookline.model.events import PRE_MODEL_CALL
from hookline.model.scene import SceneOptions


class RunStoppedError(x.AgentRunError):
    """Hooks ended the run, and its output cannot be a text that says why."""


class HooklineCapability(AbstractCapability[Any]):
    """Hooks for one agent or several. `session_id` chooses the session of a run; `scene` is told to hooks: cwd ..."""

    session: Session
    _held: m.ModelResponse | None = None

    def __init__(
        self,
        engine: Engine,
        *,
        session_id: Callable[[RunContext[Any]], str] | None = None,
        **scene: Unpack[SceneOptions],
    ) -> None:
        super().__init__()
        self._sessions = Sessions(engine, scene)
        self._session_id = session_id
        #: Ends the session of one conversation, or of all.
        self.close = self._sessions.close

    def get_ordering(self) -> CapabilityOrdering:
        """Next to the model and the tools: hooks judge what is sent and what runs."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[Any]) -> "HooklineCapability":
        run = copy(self)
        chosen = self._session_id(ctx) if self._session_id is not None else ctx.conversation_id
        name = ctx.agent.name if ctx.agent is not None else None
        run.session = sub_agent(name or "agent") or self._sessions.of(chosen or "")
        return run

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _Tools(toolset, self.session)

    async def wrap_node_run(self, ctx: RunContext[Any], *, node: Any, handler: Any) -> Any:
        result: Any = await handler(node)
        if isinstance(node, UserPromptNode) and isinstance(result, ModelRequestNode):
            return await self._prompt(ctx, cast("ModelRequestNode[Any, Any]", result))
        if self._held is not None:
            ctx.messages[:] = [each for each in ctx.messages if each is not self._held]
            await self.session.end("")
            return _ended(ctx, self._held.text)
        return (
            await self._end(ctx, cast("End[FinalResult[Any]]", result)) if isinstance(result, End) else result
        )

    async def _prompt(self, ctx: RunContext[Any], node: ModelRequestNode[Any, Any]) -> Any:
        parts = [part for part in node.request.parts if isinstance(part, m.UserPromptPart)]
        if not parts:  # the run goes on where another one paused
            return node
        content = [c for p in parts for c in ([p.content] if isinstance(p.content, str) else p.content)]
        texts = {id(c): text for c in content if isinstance(text := getattr(c, "content", c), str)}
        said = "\n".join(texts.values())
        prompt = await self.session.prompt(said)
        if prompt.blocked is not None:
            return _ended(ctx, prompt.blocked)
        if prompt_texts(prompt) != [said]:
            new = m.UserPromptPart([*prompt_texts(prompt), *(c for c in content if id(c) not in texts)])
            rest = [part for part in node.request.parts if not isinstance(part, m.UserPromptPart)]
            node.request = replace(node.request, parts=[*rest, new])
        return node

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> Any:
        read = self.session.has(PRE_MODEL_CALL)
        told = m.ModelMessagesTypeAdapter.dump_python(request_context.messages, mode="json") if read else ()
        request = await self.session.model(told, request_context.model.model_name)
        if request.blocked is not None:
            self._held = m.ModelResponse([m.TextPart(request.blocked)])
            raise x.SkipModelRequest(self._held)
        for item in request.context:
            ctx.enqueue(item.text)
        sent = _messages(request.messages) if request.rewritten else request_context.messages
        once = [m.ModelRequest([m.UserPromptPart(text)]) for text in request.transient]
        request_context.messages = [*sent, *once]
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: m.ModelResponse) -> Any:
        calls = [told_call(c.tool_call_id, c.tool_name, c.args_as_dict()) for c in response.tool_calls]
        answer = await self.session.answer(response.text or "", calls, to_jsonable_python(response.usage))
        if not answer.rewritten:
            return response
        others = [part for part in response.parts if not isinstance(part, m.TextPart)]
        return replace(response, parts=[*([m.TextPart(answer.text)] if answer.text else []), *others])

    async def _end(self, ctx: RunContext[Any], result: End[FinalResult[Any]]) -> Any:
        output = result.data.output
        if isinstance(output, DeferredToolRequests | PendingModelResponse):  # it goes on in another run
            return result
        over = await self.session.end(
            output if isinstance(output, str) else to_json(output, fallback=str).decode()
        )
        if over.send_back is not None:
            ctx.enqueue(*(item.text for item in over.context), over.send_back)
        return result if over.stop is None else _ended(ctx, over.stop)

    async def on_run_error(self, ctx: RunContext[Any], *, error: BaseException) -> Any:
        if not isinstance(error, CancelledError | RunStoppedError | EngineClosedError):
            await self.session.failed(error, failure_kind(error))
        raise error


@dataclass
class _Tools(WrapperToolset[Any]):
    session: Session

    async def call_tool(self, name: str, tool_args: Any, ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        told = _arguments(tool_args, ctx, tool)

        def checked(arguments: dict[str, Any]) -> Any:
            return tool_args if arguments == told else tool.args_validator.validate_python(arguments)

        call = await call_tool(
            self.session,
            (name, told, ctx.tool_call_id),
            lambda new: self.wrapped.call_tool(name, checked(new), ctx, tool),
            check=checked,
            told=lambda value: to_jsonable_python(getattr(value, "return_value", value), fallback=str),
            pauses=(x.CallDeferred, x.ApprovalRequired),
        )
        for item in call.done.context:
            ctx.enqueue(item.text)
        if call.error is not None:
            raise call.error
        if call.done.is_error:
            retry = isinstance(call.done.exception, x.ModelRetry)
            raise (x.ModelRetry if retry else x.ToolFailed)(call.done.text) from call.done.exception
        if call.untouched or not isinstance(call.value, m.ToolReturn):
            return call.output
        return replace(cast("Any", call).value, return_value=call.output)


def _arguments(tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> dict[str, Any]:
    """As the model gave them; as they are, where others have changed them since."""
    made = next(
        (each for each in reversed(ctx.messages) if isinstance(each, m.ModelResponse)), m.ModelResponse([])
    )
    raw = next((c.args_as_dict() for c in made.tool_calls if c.tool_call_id == ctx.tool_call_id), tool_args)
    same = raw == tool_args or tool.args_validator.validate_python(raw) == tool_args
    return raw if same else to_jsonable_python(tool_args, fallback=str)


def _ended(ctx: RunContext[Any], why: str | None) -> End[FinalResult[Any]]:
    kinds: Any = ctx.agent.output_type if ctx.agent is not None else str
    if str not in (kinds if isinstance(kinds, list | tuple) else [kinds]):
        raise RunStoppedError(why or "")
    return End(FinalResult(why))


def _messages(wanted: Iterable[Mapping[str, Any]]) -> list[m.ModelMessage]:
    """As a hook wrote them: like those it got, or with `role` and `content`."""
    return m.ModelMessagesTypeAdapter.validate_python(
        [each if "kind" in each else _plain(each) for each in wanted]
    )


def _plain(each: Mapping[str, Any]) -> m.ModelMessage:
    if each["role"] == "assistant":
        return m.ModelResponse([m.TextPart(each["content"])])
    return m.ModelRequest(
        [(m.SystemPromptPart if each["role"] == "system" else m.UserPromptPart)(each["content"])]
    )
