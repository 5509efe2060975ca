"""What the agent needs of a language model: one request in, pieces of one response out."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from hookline.agent.messages import Message, ToolUse
from hookline.model.events import ERROR_TYPES


class ToolOffer(Struct, frozen=True, kw_only=True):
    """A tool as the model is told about it."""

    name: str
    description: str
    schema: Mapping[str, Any]


class Request(Struct, frozen=True, kw_only=True):
    """One request, whole: nothing of it is remembered by the port."""

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...] = ()
    #: Who asks: None for the main agent.
    agent_type: str | None = None


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one response, or of many together. `cost_usd` is None where nobody knows the price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        known = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost_usd=sum(known) if known else None,
        )


class Response(Struct, frozen=True, kw_only=True):
    """A whole answer."""

    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    reasoning: str | None = None
    usage: Usage = Usage()


class TextPiece(Struct, frozen=True):
    """A stretch of the answer's text, as it arrives."""

    text: str


#: What a model streams: text as it comes, and at the end the whole answer.
Piece = TextPiece | Response


class ModelError(Exception):
    """The model gave no answer. `kind` is one of the error types of StopFailure."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind if kind in ERROR_TYPES else "unknown"


class ModelPort(Protocol):
    """A way to reach models. Built by the caller; one port may serve many names of models."""

    def stream(self, request: Request) -> AsyncIterator[Piece]:
        """Pieces, the last one a Response. Raises ModelError; cancelling it ends the request."""
        ...

    async def close(self) -> None: ...


class RequestLog:
    """A port that remembers what went through it, if somebody will ask."""

    def __init__(self, port: ModelPort, *, keep: bool = True) -> None:
        self._port = port
        self._keep = keep
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        if self._keep:
            self.requests.append(request)
        async for piece in self._port.stream(request):
            yield piece

    async def close(self) -> None:
        await self._port.close()
