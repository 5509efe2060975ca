"""Strands with its real client of a provider, against one on loopback."""

import asyncio
from typing import Any

import pytest
from strands import Agent
from strands import tool as strands_tool  # pyright: ignore[reportUnknownVariableType]
from strands.models.openai import OpenAIModel

from hookline import Engine, deny, rewrite
from hookline.adapters.strands import HooklinePlugin
from hookline.events import POST_MODEL_CALL, PRE_TOOL_USE, STOP_FAILURE, TURN_SETTLED
from tests.adapters.provider import Provider, provider

LOOK = {"name": "look", "arguments": {"place": "there"}}
RAN: list[str] = []


@strands_tool
def look(place: str) -> str:
    """Look at a place.

    Args:
        place: Which one.
    """
    RAN.append(place)
    return f"saw {place}"


def made(server: Provider, engine: Engine) -> Agent:
    args: dict[str, Any] = {"base_url": server.url, "api_key": "x", "max_retries": 0}
    plugin = HooklinePlugin(engine)
    return Agent(
        OpenAIModel(client_args=args, model_id="m"), tools=[look], plugins=[plugin], callback_handler=None
    )


def hide(answer: Any) -> Any:
    return rewrite(answer.response.replace("123", "***")) if "123" in answer.response else None


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider) -> list[str]:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not there"), quick=True)
            engine.add(POST_MODEL_CALL, hide, quick=True, rewrites=True)
            whole = str(await made(server, engine).invoke_async("go")).strip()
            shown = ""
            async for event in made(server, engine).stream_async("go"):
                shown += event.get("data", "")
            return [whole, shown]

    RAN.clear()
    with provider(LOOK, "the key is 123", LOOK, "the key is 123") as server:
        assert asyncio.run(play(server)) == ["the key is ***"] * 2
        assert "not there" in str(server.requests[1]["messages"])
    assert RAN == []


def test_the_synchronous_entry_works_again_and_again() -> None:
    RAN.clear()
    with provider(LOOK, "one", LOOK, "two") as server:
        agent = made(server, Engine())
        said = [str(agent("go")).strip() for _ in range(2)]
    assert (said, RAN) == (["one", "two"], ["there", "there"])


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    seen: list[str] = []

    async def play(server: Provider) -> None:
        async with Engine() as engine:
            engine.add(STOP_FAILURE, lambda failure: seen.append(failure.error), quick=True)
            engine.add(TURN_SETTLED, lambda turn: seen.append(turn.status), quick=True)
            with pytest.raises(Exception, match="401"):
                await made(server, engine).invoke_async("go")

    with provider(401) as server:
        asyncio.run(play(server))
    assert seen == ["auth_failed", "failed"]
