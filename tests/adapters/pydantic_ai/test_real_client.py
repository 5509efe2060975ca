"""Pydantic AI with its real client of a provider, against one on loopback."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from hookline import Engine
from hookline.adapters.pydantic_ai import HooklineCapability
from tests.adapters.provider import Provider, provider
from tests.adapters.real_client import check_decisions, check_failure, check_repeated, look


def made(server: Provider, engine: Engine) -> Agent[None, str]:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=server.url, api_key="x"))
    return Agent(model, tools=[look], capabilities=[HooklineCapability(engine)])


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider, engine: Engine) -> list[str]:
        agent = made(server, engine)
        whole = (await agent.run("go")).output
        async with agent.run_stream("go") as result:
            shown = "".join([text async for text in result.stream_text(delta=True)])
        return [whole, shown]

    check_decisions(play)


def test_without_such_a_hook_text_is_streamed_as_it_comes() -> None:
    async def play(server: Provider) -> list[str]:
        async with Engine() as engine, made(server, engine).run_stream("go") as result:
            return [text async for text in result.stream_text(delta=True, debounce_by=None)]

    with provider("the key is 123") as server:
        assert asyncio.run(play(server)) == ["the key", " is 123"]


def test_the_synchronous_entry_works_again_and_again() -> None:
    def ask(server: Provider) -> list[str]:
        agent = made(server, Engine())
        return [agent.run_sync("go").output for _ in range(2)]

    check_repeated(ask)
    asyncio.get_event_loop().close()


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    check_failure(lambda server, engine: made(server, engine).run("go"))
