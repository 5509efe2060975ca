"""Strands with its real client of a provider, against one on loopback."""

from typing import Any

from strands import Agent
from strands import tool as strands_tool  # pyright: ignore[reportUnknownVariableType]
from strands.models.openai import OpenAIModel

from hookline import Engine
from hookline.adapters.strands import HooklinePlugin
from tests.adapters.provider import Provider
from tests.adapters.real_client import check_decisions, check_failure, check_repeated, look


def made(server: Provider, engine: Engine) -> Agent:
    args: dict[str, Any] = {"base_url": server.url, "api_key": "x", "max_retries": 0}
    model, plugin = OpenAIModel(client_args=args, model_id="m"), HooklinePlugin(engine)
    return Agent(model, tools=[strands_tool(look)], plugins=[plugin], callback_handler=None)


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider, engine: Engine) -> list[str]:
        whole = str(await made(server, engine).invoke_async("go")).strip()
        shown = ""
        async for event in made(server, engine).stream_async("go"):
            shown += event.get("data", "")
        return [whole, shown]

    check_decisions(play)


def test_the_synchronous_entry_works_again_and_again() -> None:
    def ask(server: Provider) -> list[str]:
        agent = made(server, Engine())
        return [str(agent("go")).strip() for _ in range(2)]

    check_repeated(ask)


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    check_failure(lambda server, engine: made(server, engine).invoke_async("go"))
