"""Plays conversations of the conformance suite with the Microsoft Agent Framework."""

from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    ResponseStream,
)

from hookline import Engine
from hookline.adapters.agent_framework import HooklineMiddleware
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    KnownLimit,
    ModelScript,
    Said,
    ScriptedResponse,
    ShownOutput,
    UnplayableError,
    each_prompt,
)

_ASYNC_ONLY = KnownLimit("none", "the framework is async only", "agent_framework/_agents.py: Agent.run")


class ScriptedClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    def __init__(self, script: ModelScript) -> None:
        super().__init__()
        self.script = script

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_options: Any
    ) -> Any:
        if stream:
            return ResponseStream(self._updates(messages, options), finalizer=ChatResponse.from_updates)
        return self._response(messages, options)

    def _answer(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ScriptedResponse:
        system = options.get("instructions")
        said = [Said("system", system)] if system else []
        said += [each for message in messages for each in _said(message)]
        return self.script.answer(
            said, [(tool.name, tool.parameters()) for tool in options.get("tools") or ()]
        )

    async def _response(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ChatResponse[Any]:
        response = self._answer(messages, options)
        text = [Content.from_text(response.text)] if response.text else []
        return ChatResponse(messages=[Message("assistant", [*text, *_calls(response)])])

    async def _updates(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncIterator[ChatResponseUpdate]:
        response = self._answer(messages, options)
        for piece in response.pieces:
            yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(piece)])
        if response.calls:
            yield ChatResponseUpdate(role="assistant", contents=_calls(response))


class AgentFrameworkHarness:
    name = "agent-framework"
    cannot: Mapping[str, KnownLimit] = MappingProxyType({"sync": _ASYNC_ONLY})

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        if conversation.entry == "sync":
            raise UnplayableError(_ASYNC_ONLY.reason)
        hooks = None
        if engine is not None:
            hooks = HooklineMiddleware(
                engine, session_id=lambda _context: conversation.id, cwd=conversation.cwd
            )
        middleware = [*hooks] if hooks is not None else []
        tools = [_tool(each) for each in conversation.tools]
        helper = conversation.helper
        if helper is not None:
            below = _agent(helper.name, helper.script, [_tool(each) for each in helper.tools], middleware)

            async def delegate(task: str) -> str:
                return (await below.run(task)).text

            tools.append(FunctionTool(name=helper.name, description=helper.description, func=delegate))
        agent = _agent("main", conversation.script, tools, middleware)
        session = agent.create_session(session_id=conversation.id)

        async def say(prompt: str) -> str:
            if conversation.entry != "stream":
                return (await agent.run(prompt, session=session)).messages[-1].text
            stream = agent.run(prompt, session=session, stream=True)
            async for update in stream:
                if update.text:
                    conversation.show(update.text)
            return (await stream.get_final_response()).messages[-1].text

        try:
            return await each_prompt(conversation, say)
        finally:
            if hooks is not None:
                await hooks.close(conversation.id)


def _agent(name: str, script: ModelScript, tools: list[Any], middleware: list[Any]) -> Any:
    return Agent(ScriptedClient(script), name=name, tools=tools, middleware=middleware)


def _tool(tool: CaseTool) -> FunctionTool:
    return FunctionTool(name=tool.name, description=tool.description, func=tool.function)


def _calls(response: ScriptedResponse) -> list[Content]:
    return [
        Content.from_function_call(call.id, call.name, arguments=dict(call.input)) for call in response.calls
    ]


def _said(message: Message) -> list[Said]:
    results = [each for each in message.contents if each.type == "function_result"]
    if results:
        return [Said("tool", str(each.result or ""), each.call_id or "") for each in results]
    role: Any = message.role
    return [Said(role, message.text)]
