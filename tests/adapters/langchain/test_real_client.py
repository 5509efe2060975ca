"""LangChain with its real client of a provider, against one on loopback."""

import asyncio
from typing import Any, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain.tools import tool
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from hookline import Blocking, Engine, rewrite
from hookline.adapters.langchain import HooklineMiddleware
from hookline.events import POST_TOOL_USE, POST_TOOL_USE_FAILURE
from tests.adapters.provider import Provider, provider
from tests.adapters.real_client import LOOK, check_decisions, check_failure, check_repeated, look, report_end

PROMPT: Any = {"messages": [{"role": "user", "content": "go"}]}


def made(server: Provider, hooks: HooklineMiddleware) -> Any:
    model = ChatOpenAI(model="m", base_url=server.url, api_key=SecretStr("x"), max_retries=0)
    return cast("Any", create_agent)(model, [tool(look)], middleware=[hooks])


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider, engine: Engine) -> list[str]:
        agent = made(server, HooklineMiddleware(engine))
        whole = (await agent.ainvoke(PROMPT))["messages"][-1].text
        shown = ""
        async for chunk, _about in agent.astream(PROMPT, stream_mode="messages"):
            shown += chunk.text if isinstance(chunk, AIMessage) else ""
        return [whole, shown]

    check_decisions(play)


def test_without_such_a_hook_text_is_streamed_as_it_comes() -> None:
    async def play(server: Provider) -> list[str]:
        async with Engine() as engine:
            agent = made(server, HooklineMiddleware(engine))
            pieces = agent.astream(PROMPT, stream_mode="messages")
            return [chunk.text async for chunk, _about in pieces if chunk.text]

    with provider("the key is 123") as server:
        assert asyncio.run(play(server)) == ["the key", " is 123"]


def test_the_synchronous_entry_works_again_and_again() -> None:
    def ask(server: Provider) -> list[str]:
        engine = Engine()
        engine.add(POST_TOOL_USE, lambda _result: rewrite("saw nothing"), quick=True, rewrites=True)
        with Blocking(engine) as bridge:
            agent = made(server, HooklineMiddleware(bridge))
            said = [agent.invoke(PROMPT)["messages"][-1].text for _ in range(2)]
        assert "saw nothing" in str(server.requests[1]["messages"])
        return said

    check_repeated(ask)


def test_a_tool_whose_exception_ends_the_run_ends_the_turn_once() -> None:
    seen: list[str] = []

    @tool
    def look(place: str) -> str:
        """Look at a place."""
        raise RuntimeError(f"there is no {place}")

    async def play(server: Provider) -> None:
        async with Engine() as engine:
            engine.add(POST_TOOL_USE_FAILURE, lambda _failure: seen.append("tool"), quick=True)
            report_end(engine, seen)
            model = ChatOpenAI(model="m", base_url=server.url, api_key=SecretStr("x"), max_retries=0)
            agent = cast("Any", create_agent)(model, [look], middleware=[HooklineMiddleware(engine)])
            with pytest.raises(RuntimeError, match="there is no there"):
                await agent.ainvoke(PROMPT)

    with provider(LOOK) as server:
        asyncio.run(play(server))
    assert seen == ["tool", "unknown", "failed"]


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    check_failure(
        lambda server, engine: made(server, HooklineMiddleware(engine)).ainvoke(PROMPT), 429, "rate_limit"
    )
