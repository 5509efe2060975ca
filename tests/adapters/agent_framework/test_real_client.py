"""The Microsoft Agent Framework with its real client of a provider, against one on loopback."""

from typing import Any

import pytest
from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

from hookline import Engine
from hookline.adapters.agent_framework import HooklineMiddleware
from tests.adapters.provider import Provider
from tests.adapters.real_client import check_decisions, check_failure, look

pytestmark = pytest.mark.filterwarnings("ignore")


def made(server: Provider, engine: Engine) -> Any:
    client = AsyncOpenAI(base_url=server.url, api_key="x", max_retries=0)
    chat: Any = OpenAIChatCompletionClient(model="m", async_client=client)
    tools = [tool(look, approval_mode="never_require")]
    return Agent(chat, tools=tools, middleware=[*HooklineMiddleware(engine)])


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider, engine: Engine) -> list[str]:
        whole = (await made(server, engine).run("go")).text
        shown = ""
        async for update in made(server, engine).run("go", stream=True):
            shown += update.text
        return [whole, shown]

    check_decisions(play)


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    check_failure(lambda server, engine: made(server, engine).run("go"))
