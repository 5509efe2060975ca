"""Pydantic AI with its real client of a provider, against one on loopback."""

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from hookline import Engine, deny, rewrite
from hookline.adapters.pydantic_ai import HooklineCapability
from hookline.events import POST_MODEL_CALL, PRE_TOOL_USE, STOP_FAILURE, TURN_SETTLED
from tests.adapters.provider import Provider, provider

LOOK = {"name": "look", "arguments": {"place": "there"}}
RAN: list[str] = []


def look(place: str) -> str:
    """Look at a place."""
    RAN.append(place)
    return f"saw {place}"


def made(server: Provider, engine: Engine) -> Agent[None, str]:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=server.url, api_key="x"))
    return Agent(model, tools=[look], capabilities=[HooklineCapability(engine)])


def hide(answer: Any) -> Any:
    return rewrite(answer.response.replace("123", "***")) if "123" in answer.response else None


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider) -> list[str]:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not there"), quick=True)
            engine.add(POST_MODEL_CALL, hide, quick=True, rewrites=True)
            agent = made(server, engine)
            whole = (await agent.run("go")).output
            async with agent.run_stream("go") as result:
                shown = "".join([text async for text in result.stream_text(delta=True)])
            return [whole, shown]

    RAN.clear()
    with provider(LOOK, "the key is 123", LOOK, "the key is 123") as server:
        assert asyncio.run(play(server)) == ["the key is ***"] * 2
        assert "not there" in str(server.requests[1]["messages"])
    assert RAN == []


def test_without_such_a_hook_text_is_streamed_as_it_comes() -> None:
    async def play(server: Provider) -> list[str]:
        async with Engine() as engine, made(server, engine).run_stream("go") as result:
            return [text async for text in result.stream_text(delta=True, debounce_by=None)]

    with provider("the key is 123") as server:
        assert asyncio.run(play(server)) == ["the key", " is 123"]


def test_the_synchronous_entry_works_again_and_again() -> None:
    RAN.clear()
    with provider(LOOK, "one", LOOK, "two") as server:
        agent = made(server, Engine())
        said = [agent.run_sync("go").output for _ in range(2)]
    asyncio.get_event_loop().close()
    assert (said, RAN) == (["one", "two"], ["there", "there"])


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    seen: list[str] = []

    async def play(server: Provider) -> None:
        async with Engine() as engine:
            engine.add(STOP_FAILURE, lambda failure: seen.append(failure.error), quick=True)
            engine.add(TURN_SETTLED, lambda turn: seen.append(turn.status), quick=True)
            with pytest.raises(Exception, match="401"):
                await made(server, engine).run("go")

    with provider(401) as server:
        asyncio.run(play(server))
    assert seen == ["auth_failed", "failed"]
