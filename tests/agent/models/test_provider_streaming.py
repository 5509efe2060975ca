"""Answers as they stream in from each provider's API."""

import asyncio
from collections.abc import AsyncGenerator
from typing import cast

import pytest

from hookline.agent.models.choose import provider_model
from hookline.agent.models.port import CompletionResponse, ModelError, Piece, TextPiece
from hookline.model.messages import ToolUse
from tests.agent.models import provider_answers
from tests.agent.models.loopback_server import Loopback, Reply
from tests.agent.models.provider_ports import (
    ALL,
    ANTHROPIC,
    CHAT,
    GOOGLE,
    OLLAMA,
    RESPONSES,
    answer,
    ask,
    pieces_of,
    port_to,
    request_to,
)
from tests.every import every

SPEAKERS = {
    CHAT: provider_answers.chat,
    RESPONSES: provider_answers.responses,
    ANTHROPIC: provider_answers.anthropic,
    GOOGLE: provider_answers.google,
    OLLAMA: provider_answers.chat,
}
TWO_CALLS = [("c1", "Bash", '{"command": "ls"}'), ("c2", "Bash", '{"command": "pwd"}')]


@pytest.mark.parametrize("name", ALL)
def test_text_comes_in_the_pieces_it_was_sent_in_and_then_whole(name: str) -> None:
    pieces, _ = ask(name, SPEAKERS[name]("Hel", "lo ", "wörld"))
    assert pieces[:-1] == [TextPiece("Hel"), TextPiece("lo "), TextPiece("wörld")]
    assert isinstance(pieces[-1], CompletionResponse)
    assert pieces[-1].text == "Hello wörld"
    assert pieces[-1].tool_calls == ()


@pytest.mark.parametrize("name", ALL)
def test_parallel_tool_calls_are_put_together_in_their_order(name: str) -> None:
    response = answer(name, SPEAKERS[name]("I look.", calls=TWO_CALLS))
    assert response.text == "I look."
    assert response.tool_calls == (
        ToolUse(id="c1", name="Bash", input={"command": "ls"}),
        ToolUse(id="c2", name="Bash", input={"command": "pwd"}),
    )


@every("name", [CHAT, RESPONSES, ANTHROPIC])
@every("given", ['{"command": ', "[1]", "ls", '"ls"', "[" * 100_000])
def test_arguments_that_are_no_object_stay_text(name: str, given: str) -> None:
    response = answer(name, SPEAKERS[name](calls=[("c1", "Bash", given)]))
    assert response.tool_calls == (ToolUse(id="c1", name="Bash", input=given),)


@pytest.mark.parametrize("name", [CHAT, ANTHROPIC])
def test_no_arguments_are_an_empty_object(name: str) -> None:
    assert answer(name, SPEAKERS[name](calls=[("c1", "Now", "")])).tool_calls[0].input == {}


def test_calls_that_share_an_id_get_ids_of_their_own() -> None:
    response = answer(CHAT, provider_answers.chat(calls=[("c", "Bash", "{}"), ("c", "Bash", "{}")]))
    one, other = (call.id for call in response.tool_calls)
    assert one != other


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        (OLLAMA, provider_answers.chat("42", reasoning="six times seven")),
        (ANTHROPIC, provider_answers.anthropic("42", thinking="six times seven")),
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(name: str, reply: Reply) -> None:
    response = answer(name, reply)
    assert (response.text, response.reasoning) == ("42", "six times seven")


def test_tokens_of_a_chat_completion_are_counted_and_its_price_is_nobodys_knowledge() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    # A server of one's own may call its model what it likes.
    used = answer(CHAT, provider_answers.chat("hi", usage=usage, model="gpt-4o")).usage
    assert (used.input_tokens, used.output_tokens) == (100, 20)
    assert (used.cache_read_tokens, used.reasoning_tokens) == (40, 8)
    assert used.cost_usd is None


def test_tokens_of_a_response_are_counted_and_priced() -> None:
    used = answer(RESPONSES, provider_answers.responses("hi")).usage
    assert (used.input_tokens, used.output_tokens) == (100, 20)
    assert (used.cache_read_tokens, used.reasoning_tokens) == (40, 8)
    assert used.cost_usd is not None
    assert 0 < used.cost_usd < 0.01


def test_tokens_of_anthropic_count_what_the_cache_took_and_gave() -> None:
    used = answer(
        ANTHROPIC,
        provider_answers.anthropic("hi", cache_read_input_tokens=700, cache_creation_input_tokens=30),
    ).usage
    # Its own input tokens leave the cache out; ours are all that the model read.
    assert (used.input_tokens, used.output_tokens) == (740, 5)
    assert (used.cache_read_tokens, used.cache_write_tokens) == (700, 30)
    assert used.cost_usd is not None
    assert 0 < used.cost_usd < 0.01


def test_an_answer_without_usage_has_none() -> None:
    used = answer(CHAT, provider_answers.chat("hi")).usage
    assert (used.input_tokens, used.output_tokens, used.cost_usd) == (None, None, None)


@pytest.mark.parametrize("name", ALL)
def test_a_slow_stream_that_is_cancelled_hangs_up(name: str) -> None:
    async def main() -> None:
        begun = SPEAKERS[name]("Hel", "lo")
        # Everything but what ends it.
        reply = Reply(chunks=begun.chunks[:-2] if name != GOOGLE else begun.chunks[:-1], then="hang")
        async with Loopback(reply) as server:
            port = port_to(name, server)
            seen = asyncio.Event()

            async def listen() -> None:
                async for _ in port.stream(request_to(name)):
                    seen.set()

            listening = asyncio.create_task(listen())
            await asyncio.wait_for(seen.wait(), 60)
            listening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await listening
            await asyncio.wait_for(server.hung_up.wait(), 60)
            await port.close()

    asyncio.run(main())


def test_a_reader_that_stops_early_hangs_up() -> None:
    async def main() -> None:
        reply = Reply(
            chunks=[
                provider_answers.chat_chunk({"content": "a"}),
                provider_answers.chat_chunk({"content": "b"}),
            ],
            then="hang",
        )
        async with Loopback(reply) as server:
            port = port_to(CHAT, server)
            stream = cast("AsyncGenerator[Piece, None]", port.stream(request_to(CHAT)))
            assert await anext(stream) == TextPiece("a")
            await stream.aclose()
            await asyncio.wait_for(server.hung_up.wait(), 60)
            await port.close()

    asyncio.run(main())


def test_a_port_serves_other_models_that_a_request_names() -> None:
    async def main() -> list[str]:
        async with Loopback(provider_answers.chat("hi")) as server:
            port = port_to(CHAT, server)
            for name in ("", "toy-1", CHAT, "toy-2", "openai:toy-3", "org/toy:free"):
                await pieces_of(port, request_to(name))
            await port.close()
            return [asked.body["model"] for asked in server.asked]

    assert asyncio.run(main()) == ["toy-1", "toy-1", "toy-1", "toy-2", "toy-3", "org/toy:free"]


def test_a_request_for_another_provider_goes_there_with_its_own_key() -> None:
    async def main() -> None:
        async with (
            Loopback(provider_answers.chat("no")) as first,
            Loopback(provider_answers.anthropic("yes")) as second,
        ):
            env = {"ANTHROPIC_API_KEY": "for-anthropic", "ANTHROPIC_BASE_URL": second.url}
            port = provider_model("toy", base_url=first.url, env={"OPENAI_API_KEY": "for-openai", **env})
            (*_, response) = await pieces_of(port, request_to("anthropic:claude-sonnet-4-5"))
            await port.close()
            assert isinstance(response, CompletionResponse)
            assert response.text == "yes"
            assert "for-anthropic" in str(second.asked[0].headers)
            assert "for-openai" not in str(second.asked[0].headers)
            assert first.asked == []

    asyncio.run(main())


def test_a_request_for_a_provider_without_a_key_says_which_variable_to_set() -> None:
    async def main() -> None:
        port = provider_model("openai:x", env={"OPENAI_API_KEY": "k"})
        with pytest.raises(ModelError, match="ANTHROPIC_API_KEY") as caught:
            await pieces_of(port, request_to("anthropic:y"))
        assert caught.value.kind == "auth_failed"
        await port.close()

    asyncio.run(main())


def test_a_port_may_be_closed_twice_and_used_again() -> None:
    async def main() -> None:
        async with Loopback(provider_answers.chat("hi")) as server:
            port = port_to(CHAT, server)
            for _ in range(2):
                await pieces_of(port, request_to(CHAT))
                await port.close()
                await port.close()

    asyncio.run(main())


def test_many_answers_at_once_do_not_mix() -> None:
    async def main() -> None:
        async with Loopback(*(provider_answers.chat(f"{n}-", f"{n}") for n in range(8))) as server:
            port = port_to(CHAT, server)
            answers = await asyncio.gather(*(pieces_of(port, request_to(CHAT)) for _ in range(8)))
            await port.close()
        texts = [pieces[-1].text for pieces in answers if isinstance(pieces[-1], CompletionResponse)]
        assert sorted(texts) == [f"{n}-{n}" for n in range(8)]

    asyncio.run(main())
