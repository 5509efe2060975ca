"""Define what the agent needs of a language model: one request in, pieces of one response out."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from hookline.model.events import ERROR_TYPES
from hookline.model.messages import Message, ToolUse, Usage

Effort = Literal["", "low", "medium", "high", "max"]


class ToolOffer(Struct, frozen=True, kw_only=True):
    """A tool as it is described to the model."""

    name: str
    description: str
    schema: Mapping[str, Any]


class CompletionRequest(Struct, frozen=True, kw_only=True):
    """One complete request: the port keeps no state between requests."""

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...] = ()
    #: The type of the subagent; None for the main agent.
    agent_type: str | None = None
    #: How much the model thinks first; empty: as it does by itself.
    effort: Effort = ""


class CompletionResponse(Struct, frozen=True, kw_only=True):
    """A complete answer."""

    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    reasoning: str | None = None
    usage: Usage = Usage()


class TextPiece(Struct, frozen=True):
    """A piece of the answer's text, as it arrives."""

    text: str


class ThoughtPiece(Struct, frozen=True):
    """A piece of the model's thinking, as it arrives."""

    text: str


#: A piece of a stream: thoughts and text as they arrive, then the complete answer.
Piece = ThoughtPiece | TextPiece | CompletionResponse


#: What may help after an error: send the request again, or first make the conversation shorter.
Remedy = Literal["", "retry", "compact"]


class ModelError(Exception):
    """A request without an answer. `kind` is one of the error types of StopFailure."""

    def __init__(
        self, kind: str, message: str, remedy: Remedy = "", *, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind if kind in ERROR_TYPES else "unknown"
        self.remedy: Remedy = remedy
        #: Seconds that the provider asks to wait.
        self.retry_after = retry_after


class ModelPort(Protocol):
    """A way to reach models. One port may serve several model names."""

    def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        """Yield pieces, the last one a Response. Raises ModelError; cancelling it ends the request."""
        ...

    async def close(self) -> None: ...


class RequestLog:
    """A port that keeps the requests that went through it, if `keep`."""

    def __init__(self, port: ModelPort, *, keep: bool = True) -> None:
        self._port = port
        self._keep = keep
        self.requests: list[CompletionRequest] = []

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        if self._keep:
            self.requests.append(request)
        async for piece in self._port.stream(request):
            yield piece

    async def close(self) -> None:
        await self._port.close()
