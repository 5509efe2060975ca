"""Run models for `prompt` and `agent` hooks: one answer, or a conversation with read-only tools."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from hookline.agent.models.port import (
    CompletionRequest,
    CompletionResponse,
    ModelError,
    ModelPort,
    Piece,
    ToolOffer,
)
from hookline.handlers.agent import AgentConversation, HookAgentTool, HookToolOutput, RequestedCall, Step
from hookline.model.messages import Assistant, Message, ToolMessage, User

#: The name under which arguments that are not an object are passed: no tool has it, so the tool refuses them.
_BROKEN: Final = "arguments that are not a JSON object"
_ANYTHING: Final[Mapping[str, Any]] = {"type": "object"}


class ModelCompleter:
    """Answers to `prompt` hooks. `model` is for hooks that name none."""

    def __init__(self, port: ModelPort, model: str) -> None:
        self._port = port
        self._model = model

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        request = CompletionRequest(model=model or self._model, system=system, messages=(User(text=prompt),))
        return (await whole_answer(self._port, request)).text


class ModelAgentRunner:
    """Runner of `agent` hooks with the given tools."""

    def __init__(self, port: ModelPort, model: str, tools: Sequence[HookAgentTool] = ()) -> None:
        self._port = port
        self._model = model
        self.tools = tuple(tools)

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: Sequence[HookAgentTool]
    ) -> AgentConversation:
        offers = tuple(_offer(tool) for tool in tools)
        return _Run(self._port, model or self._model, system, task, offers)


class _Run:
    """One conversation of a hook with a model."""

    def __init__(
        self, port: ModelPort, model: str, system: str, task: str, tools: tuple[ToolOffer, ...]
    ) -> None:
        self._port = port
        self._request = CompletionRequest(model=model, system=system, messages=(), tools=tools)
        self._messages: list[Message] = [User(text=task)]
        self._names: dict[str, str] = {}

    async def step(self, outputs: Sequence[HookToolOutput]) -> Step:
        self._messages += [
            ToolMessage(
                tool_use_id=output.id,
                name=self._names.get(output.id, ""),
                text=output.text,
                is_error=output.is_error,
            )
            for output in outputs
        ]
        asked = self._request
        answer = await whole_answer(
            self._port,
            CompletionRequest(
                model=asked.model, system=asked.system, messages=tuple(self._messages), tools=asked.tools
            ),
        )
        self._messages.append(Assistant(text=answer.text, tool_calls=answer.tool_calls))
        self._names = {call.id: call.name for call in answer.tool_calls}
        uses = tuple(
            RequestedCall(
                call.name, {_BROKEN: call.input} if isinstance(call.input, str) else call.input, call.id
            )
            for call in answer.tool_calls
        )
        return Step(text=answer.text, tool_uses=uses)


class BriefPort:
    """A port that is opened for each request and closed after it, for commands that may never need one."""

    def __init__(self, make: Callable[[], ModelPort]) -> None:
        self._make = make

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        port = self._make()
        try:
            async for piece in port.stream(request):
                yield piece
        finally:
            await port.close()

    async def close(self) -> None:
        """Do nothing: no request is open."""


async def whole_answer(port: ModelPort, request: CompletionRequest) -> CompletionResponse:
    """Return the complete answer to a request. Raises ModelError."""
    answer: CompletionResponse | None = None
    async for piece in port.stream(request):
        if isinstance(piece, CompletionResponse):
            answer = piece
    if answer is None:
        raise ModelError("server", "the model ended without an answer")
    return answer


@runtime_checkable
class _Described(Protocol):
    @property
    def description(self) -> str: ...

    @property
    def schema(self) -> Mapping[str, Any]: ...


def _offer(tool: HookAgentTool) -> ToolOffer:
    if isinstance(tool, _Described):
        return ToolOffer(name=tool.name, description=tool.description, schema=tool.schema)
    return ToolOffer(name=tool.name, description="", schema=_ANYTHING)
