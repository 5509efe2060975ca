"""The OpenAI Agents SDK with its real HTTP client, against a provider on loopback."""

import asyncio
from typing import Any

from agents import Agent, RunConfig, function_tool, set_tracing_disabled
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent

from hookline import Engine, deny, rewrite
from hookline.adapters.openai_agents import HooklineRunner
from hookline.events import PRE_MODEL_CALL, STOP
from tests.adapters.provider import Provider, provider
from tests.adapters.real_client import LOOK, RAN, check_decisions, check_failure, look

set_tracing_disabled(True)


def made(server: Provider) -> Agent[Any]:
    client = AsyncOpenAI(base_url=server.url, api_key="x", max_retries=0)
    return Agent(name="main", model=OpenAIChatCompletionsModel("m", client), tools=[function_tool(look)])


def test_run_sync_works_again_and_again_with_one_client() -> None:
    RAN.clear()
    with provider(LOOK, "one", LOOK, "two", "three", keep_alive=True) as server:
        client = AsyncOpenAI(base_url=server.url, api_key="x", max_retries=0)
        agent = Agent(name="main", model=OpenAIChatCompletionsModel("m", client), tools=[function_tool(look)])
        runner = HooklineRunner(Engine())
        said = [runner.run_sync(agent, "go").final_output for _ in range(3)]
        loop = asyncio.get_event_loop()
        loop.run_until_complete(client.close())
        loop.close()
    assert said == ["one", "two", "three"]
    assert RAN == ["there", "there"]


def test_hooks_decide_by_every_entry() -> None:
    async def play(server: Provider, engine: Engine) -> list[str]:
        runner, agent = HooklineRunner(engine), made(server)
        whole = await runner.run(agent, "go")
        streamed = runner.run_streamed(agent, "go")
        assert not streamed.is_complete
        shown = ""
        async for event in streamed.stream_events():
            data: Any = getattr(event, "data", None)
            shown += data.delta if isinstance(data, ResponseTextDeltaEvent) else ""
        assert streamed.is_complete
        assert "123" not in shown
        return [whole.final_output, str(streamed.final_output)]

    check_decisions(play)


def test_hooks_see_and_rewrite_the_system_prompt() -> None:
    seen: list[str] = []

    def redact(request: Any) -> Any:
        seen.append(request.messages[0].text)
        return rewrite(
            [{**each, "content": str(each["content"]).replace("hunter2", "***")} for each in request.messages]
        )

    async def play(server: Provider) -> None:
        engine = Engine()
        engine.add(PRE_MODEL_CALL, redact, quick=True, rewrites=True)
        agent = made(server).clone(instructions="the password is hunter2")
        await HooklineRunner(engine).run(agent, "go")

    with provider("one") as server:
        asyncio.run(play(server))
        assert seen == ["the password is hunter2"]
        assert [each["content"] for each in server.requests[0]["messages"]] == ["the password is ***", "go"]


def test_a_run_that_was_sent_back_has_the_sums() -> None:
    async def play(server: Provider) -> Any:
        engine = Engine()
        left = [deny("look again")]
        engine.add(STOP, lambda _answer: left.pop() if left else None, quick=True)
        return await HooklineRunner(engine).run(made(server), "go")

    with provider("one", LOOK, "two") as server:
        result = asyncio.run(play(server))
    usage = result.context_wrapper.usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (3, 15, 6)
    assert len(result.raw_responses) == 3
    assert [item.type for item in result.new_items] == [
        "message_output_item", "tool_call_item", "tool_call_output_item", "message_output_item",
    ]  # fmt: skip
    texts = str(result.to_input_list())
    assert [texts.count(word) for word in ("'one'", "look again", "'two'")] == [1, 1, 1]


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    check_failure(lambda server, engine: HooklineRunner(engine).run(made(server), "go"), 429, "rate_limit")


def test_a_stream_that_is_cancelled_before_it_begins_asks_nobody() -> None:
    async def play(server: Provider) -> tuple[int, bool]:
        streamed = HooklineRunner(Engine()).run_streamed(made(server), "go")
        streamed.cancel()
        events = [event async for event in streamed.stream_events()]
        return len(events), streamed.is_complete

    with provider("one") as server:
        assert asyncio.run(play(server)) == (0, True)
        assert server.requests == []


def test_an_empty_input_is_not_a_prompt() -> None:
    async def play(server: Provider) -> Any:
        return await HooklineRunner(Engine()).run(made(server), [], run_config=RunConfig())

    with provider("one") as server:
        assert asyncio.run(play(server)).final_output == "one"
