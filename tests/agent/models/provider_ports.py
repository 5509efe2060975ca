"""One question to a provider that is a server on loopback."""

import asyncio
from collections.abc import Sequence
from typing import Any

from hookline.agent.models.choose import provider_model
from hookline.agent.models.port import (
    CompletionRequest,
    CompletionResponse,
    ModelError,
    ModelPort,
    Piece,
    TextPiece,
    ToolOffer,
)
from hookline.model.messages import Message, User
from tests.agent.models.loopback_server import Asked, Loopback, Reply

KEY = "sk-0123456789-secret"
ENV = {f"{who}_API_KEY": KEY for who in ("OPENAI", "ANTHROPIC", "GOOGLE", "OLLAMA")}
BASH = ToolOffer(
    name="Bash",
    description="Runs a command.",
    schema={"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)

CHAT, RESPONSES = "openai:toy-1", "openai-responses:gpt-4o"
ANTHROPIC, GOOGLE, OLLAMA = "anthropic:claude-sonnet-4-5", "google:gemini-2.5-flash", "ollama:llama3:8b"
ALL = (CHAT, RESPONSES, ANTHROPIC, GOOGLE, OLLAMA)


def port_to(name: str, server: Loopback) -> ModelPort:
    path = "/v1" if name.startswith(("openai", "ollama")) else ""
    return provider_model(name, base_url=server.url + path, env=ENV)


def request_to(
    name: str,
    messages: Sequence[Message] = (User(text="hello"),),
    tools: Sequence[ToolOffer] = (BASH,),
    system: str = "Be kind.",
) -> CompletionRequest:
    return CompletionRequest(model=name, system=system, messages=tuple(messages), tools=tuple(tools))


async def pieces_of(port: ModelPort, request: CompletionRequest) -> list[Piece]:
    return [piece async for piece in port.stream(request)]


def ask(name: str, reply: Reply, **request: Any) -> tuple[list[Piece], Asked]:
    """Return what the port makes of the reply, and the one request that the server got."""

    async def main() -> tuple[list[Piece], Asked]:
        async with Loopback(reply) as server:
            port = port_to(name, server)
            try:
                pieces = await pieces_of(port, request_to(name, **request))
            finally:
                await port.close()
            (asked,) = server.asked
            return pieces, asked

    return asyncio.run(main())


def answer(name: str, reply: Reply, **request: Any) -> CompletionResponse:
    pieces, _ = ask(name, reply, **request)
    last = pieces[-1]
    assert isinstance(last, CompletionResponse)
    assert last.text == "".join(piece.text for piece in pieces[:-1] if isinstance(piece, TextPiece))
    return last


def refused(name: str, reply: Reply, **request: Any) -> ModelError:
    (problem,) = each_refused(name, [reply], **request)
    return problem


def each_refused(name: str, replies: Sequence[Reply], **request: Any) -> list[ModelError]:
    """Return the errors of the replies. The server gets one request each: nothing is retried silently."""

    async def main() -> list[ModelError]:
        problems: list[ModelError] = []
        async with Loopback(*replies) as server:
            port = port_to(name, server)
            for reply in replies:
                try:
                    await pieces_of(port, request_to(name, **request))
                except ModelError as problem:
                    problems.append(problem)
                assert len(problems) == len(server.asked), f"{reply} became an answer, or was asked for again"
            await port.close()
        return problems

    return asyncio.run(main())
