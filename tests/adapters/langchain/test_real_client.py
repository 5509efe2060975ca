"""LangChain with its real client of a provider, against one on loopback."""

import asyncio
from typing import Any, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain.tools import tool
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from hookline import Blocking, Engine, deny, rewrite
from hookline.adapters.langchain import HooklineMiddleware
from hookline.events import (
    POST_MODEL_CALL,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_TOOL_USE,
    STOP_FAILURE,
    TURN_SETTLED,
)
from tests.adapters.provider import Provider, provider

LOOK = {"name": "look", "arguments": {"place": "there"}}
PROMPT: Any = {"messages": [{"role": "user", "content": "go"}]}
RAN: list[str] = []


@tool
def look(place: str) -> str:
    """Look at a place."""
    RAN.append(place)
    return f"saw {place}"


def made(server: Provider, hooks: HooklineMiddleware) -> Any:
    model = ChatOpenAI(model="m", base_url=server.url, api_key=SecretStr("x"), max_retries=0)
    return cast("Any", create_agent)(model, [look], middleware=[hooks])


def hide(answer: Any) -> Any:
    return rewrite(answer.response.replace("123", "***")) if "123" in answer.response else None


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider) -> list[str]:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not there"), quick=True)
            engine.add(POST_MODEL_CALL, hide, quick=True, rewrites=True)
            agent = made(server, HooklineMiddleware(engine))
            whole = (await agent.ainvoke(PROMPT))["messages"][-1].text
            shown = ""
            async for chunk, _about in agent.astream(PROMPT, stream_mode="messages"):
                shown += chunk.text if isinstance(chunk, AIMessage) else ""
            return [whole, shown]

    RAN.clear()
    with provider(LOOK, "the key is 123", LOOK, "the key is 123") as server:
        assert asyncio.run(play(server)) == ["the key is ***"] * 2
        assert "not there" in str(server.requests[1]["messages"])
    assert RAN == []


def test_without_such_a_hook_text_is_streamed_as_it_comes() -> None:
    async def play(server: Provider) -> list[str]:
        async with Engine() as engine:
            agent = made(server, HooklineMiddleware(engine))
            pieces = agent.astream(PROMPT, stream_mode="messages")
            return [chunk.text async for chunk, _about in pieces if chunk.text]

    with provider("the key is 123") as server:
        assert asyncio.run(play(server)) == ["the key", " is 123"]


def test_the_synchronous_entry_works_again_and_again() -> None:
    RAN.clear()
    engine = Engine()
    engine.add(POST_TOOL_USE, lambda _result: rewrite("saw nothing"), quick=True, rewrites=True)
    with provider(LOOK, "one", LOOK, "two") as server, Blocking(engine) as bridge:
        agent = made(server, HooklineMiddleware(bridge))
        said = [agent.invoke(PROMPT)["messages"][-1].text for _ in range(2)]
        assert "saw nothing" in str(server.requests[1]["messages"])
    assert (said, RAN) == (["one", "two"], ["there", "there"])


def test_a_tool_whose_exception_ends_the_run_ends_the_turn_once() -> None:
    seen: list[str] = []

    @tool
    def look(place: str) -> str:
        """Look at a place."""
        raise RuntimeError(f"there is no {place}")

    async def play(server: Provider) -> None:
        async with Engine() as engine:
            engine.add(POST_TOOL_USE_FAILURE, lambda _failure: seen.append("tool"), quick=True)
            engine.add(STOP_FAILURE, lambda failure: seen.append(failure.error), quick=True)
            engine.add(TURN_SETTLED, lambda turn: seen.append(turn.status), quick=True)
            model = ChatOpenAI(model="m", base_url=server.url, api_key=SecretStr("x"), max_retries=0)
            agent = cast("Any", create_agent)(model, [look], middleware=[HooklineMiddleware(engine)])
            with pytest.raises(RuntimeError, match="there is no there"):
                await agent.ainvoke(PROMPT)

    with provider(LOOK) as server:
        asyncio.run(play(server))
    assert seen == ["tool", "unknown", "failed"]


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    seen: list[str] = []

    async def play(server: Provider) -> None:
        async with Engine() as engine:
            engine.add(STOP_FAILURE, lambda failure: seen.append(failure.error), quick=True)
            engine.add(TURN_SETTLED, lambda turn: seen.append(turn.status), quick=True)
            agent = made(server, HooklineMiddleware(engine))
            with pytest.raises(Exception, match="429"):
                await agent.ainvoke(PROMPT)

    with provider(429) as server:
        asyncio.run(play(server))
    assert seen == ["rate_limit", "failed"]
